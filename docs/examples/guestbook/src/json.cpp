#include "json.hpp"

#include <cstdio>

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (unsigned char each : text) {
    if (each == '"' || each == '\\') {
      out += '\\';
      out += each;
    } else if (each < 0x20) {
      char escape[7];
      std::snprintf(escape, sizeof escape, "\\u%04x", each);
      out += escape;
    } else {
      out += each;
    }
  }
  return out + "\"";
}
