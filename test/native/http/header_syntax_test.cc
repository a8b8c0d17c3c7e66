#include "http/header_syntax.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::http {
namespace {

RequestHead headOf(std::string_view path, std::string_view authority) {
  RequestHead head;
  head.method = "GET";
  head.path = path;
  head.authority = authority;
  return head;
}

TEST("A name is a token, which may begin as one of a pseudo header does") {
  for (const std::string_view name : {"x-a", "A.b", ":path", "!#$%&'*+-.^_`|~9"}) {
    EXPECT(isHeaderName(name));
  }
  for (const std::string_view name : {"", ":", "no such", "a:b", "a(b)", "x-\xc3\xa4", "a\r\nb"}) {
    EXPECT(!isHeaderName(name));
  }
}

TEST("A value has no control characters but tabs") {
  for (const std::string_view value : {"", "a\tb c", "\xc3\xa4"}) EXPECT(isHeaderValue(value));
  using namespace std::string_view_literals;
  for (const std::string_view value : {"a\rb"sv, "a\nb"sv, "a\0b"sv, "a\x01"sv, "\x7f"sv}) {
    EXPECT(!isHeaderValue(value));
  }
}

TEST("A control character is found wherever it stands in a value of any length") {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string value(size, 'a');
      value[at] = '\t';
      EXPECT(isHeaderValue(value));
      value[at] = '\xff';
      EXPECT(isHeaderValue(value));
      value[at] = '\x7f';
      EXPECT(!isHeaderValue(value));
      value[at] = '\x1f';
      EXPECT(!isHeaderValue(value));
      value[at] = '\0';
      EXPECT(!isHeaderValue(value));
    }
  }
}

TEST("A head that a route or a filter broke is told by what is wrong with it") {
  RequestHead head = headOf("/a", "a.test");
  head.headers.add(HeaderId::Other, "x-a", "v");
  const auto brokenIn = [](const RequestHead& of) {
    return brokenHeader(of.method, of.path, of.authority, of.headers);
  };
  EXPECT(!brokenIn(head));
  head.headers.add(HeaderId::Other, "x-b",
                   "a\x01"
                   "b");
  EXPECT(brokenIn(head) == "invalid header value for: x-b");
  head.headers.clear();
  head.headers.add(HeaderId::Other, "no such", "v");
  EXPECT(brokenIn(head) == "invalid header name: no such");
  RequestHead odd = headOf("/a", "a.test");
  odd.method = "GET /b";
  EXPECT(brokenIn(odd) == "invalid header value for: :method");
  EXPECT(brokenIn(headOf("/a b", "a.test")) == "invalid header value for: :path");
  EXPECT(brokenIn(headOf("/a", "a\tb")) == "invalid header value for: :authority");
}

}  // namespace
}  // namespace fairlead::http
