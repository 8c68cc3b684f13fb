#include "json.hpp"

int main() {
  bool ok = json_string("plain") == "\"plain\"";
  ok = ok && json_string("a \"quote\" and \\") == "\"a \\\"quote\\\" and \\\\\"";
  ok = ok && json_string("two\nlines") == "\"two\\u000alines\"";
  return ok ? 0 : 1;
}
