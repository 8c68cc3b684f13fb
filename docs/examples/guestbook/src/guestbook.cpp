// A guest book: entries in PostgreSQL, and a page that shows them.
#include <libpq-fe.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "json.hpp"

static const char* page =
    "<!doctype html><title>Guest book</title><h1>Guest book</h1><ul></ul><script>"
    "fetch('/entries').then(answer => answer.json()).then(entries => {"
    "for (const text of entries) {"
    "const item = document.createElement('li'); item.textContent = text;"
    "document.querySelector('ul').append(item); } })</script>";

static void must(PGconn* db, PGresult* result, ExecStatusType wanted) {
  if (PQresultStatus(result) == wanted) return;
  std::fprintf(stderr, "the database failed: %s", PQerrorMessage(db));
  std::exit(1);
}

static std::string decoded(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] == '%' && at + 2 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

static void add(PGconn* db, const std::string& text) {
  const char* values[] = {text.c_str()};
  PGresult* result = PQexecParams(db, "insert into entry (text) values ($1)", 1, nullptr, values,
                                  nullptr, nullptr, 0);
  must(db, result, PGRES_COMMAND_OK);
  PQclear(result);
}

static std::string entries(PGconn* db) {
  PGresult* result = PQexec(db, "select text from entry order by id");
  must(db, result, PGRES_TUPLES_OK);
  std::string out = "[";
  for (int row = 0; row < PQntuples(result); row++) {
    if (row > 0) out += ",";
    out += json_string(PQgetvalue(result, row, 0));
  }
  PQclear(result);
  return out + "]";
}

static std::string answer(const char* type, const std::string& body) {
  return std::string("HTTP/1.0 200 OK\r\ncontent-type: ") + type + "\r\ncontent-length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

static std::string handle(PGconn* db, const std::string& path) {
  if (path.rfind("/add?", 0) == 0) add(db, decoded(path.substr(5)));
  if (path == "/entries") return answer("application/json", entries(db));
  return answer("text/html; charset=utf-8", page);
}

int main(int argc, char** argv) {
  PGconn* db = PQconnectdb(std::getenv("DATABASE_URL"));
  if (PQstatus(db) != CONNECTION_OK) {
    std::fprintf(stderr, "%s", PQerrorMessage(db));
    return 1;
  }
  must(db, PQexec(db, "create table entry (id serial primary key, text text not null)"),
       PGRES_COMMAND_OK);

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(argc > 1 ? std::atoi(argv[1]) : 8080);
  if (bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || listen(listener, 16) != 0) {
    std::perror("no port");
    return 1;
  }
  std::printf("listening\n");
  std::fflush(stdout);
  for (;;) {
    int client = accept(listener, nullptr, nullptr);
    // Browsers open connections that they may not use.
    timeval limit{0, 200000};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char request[8192];
    ssize_t size = read(client, request, sizeof request);
    std::string text(request, size > 0 ? size : 0);
    size_t from = text.find(' ');
    size_t to = text.find(' ', from + 1);
    if (from != std::string::npos && to != std::string::npos) {
      std::string out = handle(db, text.substr(from + 1, to - from - 1));
      if (write(client, out.data(), out.size()) < 0) std::perror("no answer");
    }
    close(client);
  }
}
