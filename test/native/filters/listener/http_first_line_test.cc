#include "filters/listener/http_first_line.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace

TEST("A request line tells its version by its end, whatever follows") {
  EXPECT_EQ(readFirstLine("GET / HTTP/1.1\r\nhost: a\r\n"), FirstLine::Http11);
  EXPECT_EQ(readFirstLine("GET / HTTP/1.1\n"), FirstLine::Http11);
  EXPECT_EQ(readFirstLine("get /?a#b HTTP/1.1 \r"), FirstLine::Http11);
  EXPECT_EQ(readFirstLine("GET http://a.test/b HTTP/1.1\r\n"), FirstLine::Http11);
  EXPECT_EQ(readFirstLine("OPTIONS * HTTP/1.1\r\n"), FirstLine::Http11);
  EXPECT_EQ(readFirstLine("CONNECT a.test:443 HTTP/1.1\r\n"), FirstLine::Http11);
}

TEST("All other versions count as 1.0, and so does a line without one") {
  for (const char* line : {"GET / HTTP/1.0\r\n", "GET / HTTP/0.9\r\n", "GET / HTTP/2.0\r\n",
                           "GET /\r\n", "PRI * HTTP/2.0\r\n\r\nXX"}) {
    EXPECT_EQ(readFirstLine(line), FirstLine::Http10);
  }
}

TEST("The preface of HTTP/2 is known when it is whole, and looked for until it differs") {
  for (size_t size = 0; size < kPreface.size(); ++size) {
    EXPECT_EQ(readFirstLine(kPreface.substr(0, size)), FirstLine::Unfinished);
  }
  EXPECT_EQ(readFirstLine(kPreface), FirstLine::Http2);
  EXPECT_EQ(readFirstLine(std::string(kPreface) + "more"), FirstLine::Http2);
}

TEST("A line that is not HTTP is told as soon as it ends, one that cannot be at its first byte") {
  using namespace std::string_view_literals;
  for (const std::string_view bytes :
       {"\x16\x03\x01"sv, "\0\0"sv, "\r\nGET / HTTP/1.1\r\n"sv, " GET / HTTP/1.1\r\n"sv,
        "GET\r\n"sv, "G=T / HTTP/1.1\r\n"sv, "GET a HTTP/1.1\r\n"sv, "GET ?a HTTP/1.1\r\n"sv,
        "GET / HTTP/11\r\n"sv, "GET / HTTP/1.10\r\n"sv, "GET / http/1.1\r\n"sv,
        "GET / HTTP/1.1 x\r\n"sv, "GET /\xc3\xa9 HTTP/1.1\r\n"sv, "SSH-2.0-x\r\n"sv}) {
    EXPECT_EQ(readFirstLine(bytes), FirstLine::NotHttp);
  }
}

TEST("Without an end of the line nothing is decided") {
  EXPECT_EQ(readFirstLine(""), FirstLine::Unfinished);
  EXPECT_EQ(readFirstLine("GET / HTTP/1.1"), FirstLine::Unfinished);
  EXPECT_EQ(readFirstLine("hello"), FirstLine::Unfinished);
}

}  // namespace fairlead::filters
