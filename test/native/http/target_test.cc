#include "http/target.h"

#include <memory>
#include <string>

#include "test/native/test.h"

namespace fairlead::http {

namespace {

// "authority path" of a target that is taken, its details otherwise.
std::string read(std::string_view method, std::string_view target) {
  Target out;
  const std::string_view details = parseTarget(method, target, &out);
  if (!details.empty()) return std::string(details);
  return std::string(out.authority) + " " + std::string(out.path);
}

// "authority path" that a head has for its target and hosts, or the details of what is wrong.
std::string authority(std::string_view target, std::initializer_list<std::string_view> hosts,
                      std::string_view method = "GET") {
  const auto head = std::make_unique<RequestHead>();
  head->headers.add(HeaderId::Other, "x", "y");
  for (const std::string_view host : hosts) head->headers.add(HeaderId::Host, "host", host);
  Target read;
  EXPECT_EQ(parseTarget(method, target, &read), "");
  const std::string_view details = takeAuthority(read, *head);
  if (!details.empty()) return std::string(details);
  EXPECT(!head->headers.find(HeaderId::Host));
  if (!head->authority.data()) return "none " + std::string(head->path);
  return std::string(head->authority) + " " + std::string(head->path);
}

}  // namespace

TEST("the host header names the authority where the target does not") {
  EXPECT_EQ(authority("/x", {"a.test:80"}), "a.test:80 /x");
  EXPECT_EQ(authority("/x", {""}), " /x");
  EXPECT_EQ(authority("/x", {}), "none /x");
  EXPECT_EQ(authority("*", {"a"}, "OPTIONS"), "a *");
  EXPECT_EQ(authority("http://b/x", {"a"}), "b /x");
  EXPECT_EQ(authority("http://u@b/x", {}), "b /x");
  EXPECT_EQ(authority("b:80", {"a"}, "CONNECT"), "b:80 ");
}

TEST(
    "where absolute targets are not taken, they are paths, and the host header names the "
    "authority") {
  const auto path = [](std::string_view method, std::string_view target) {
    Target out;
    const std::string_view details = parseTarget(method, target, &out, false);
    return std::string(details.empty() ? out.authority : details) + " " + std::string(out.path);
  };
  EXPECT_EQ(path("GET", "http://b/x?y"), " http://b/x?y");
  EXPECT_EQ(path("GET", "ftp://b"), " ftp://b");
  EXPECT_EQ(path("GET", "/x"), " /x");
  EXPECT_EQ(path("GET", "*"), " *");
  EXPECT_EQ(path("GET", "x"), "http1.codec_error ");
  EXPECT_EQ(path("CONNECT", "b:80"), "b:80 ");
}

TEST("two host headers are refused, be they the same, but beside an absolute-form target") {
  constexpr const char* kTwo = "http1.multiple_host_headers";
  EXPECT_EQ(authority("/", {"a", "b"}), kTwo);
  EXPECT_EQ(authority("/", {"a", "a"}), kTwo);
  EXPECT_EQ(authority("/", {"", ""}), kTwo);
  EXPECT_EQ(authority("http://a/", {"a", "b"}), "a /");
  EXPECT_EQ(authority("a:80", {"a", "b"}, "CONNECT"), kTwo);
}

TEST("a host header that is none, or has user information, is refused, but beside such a target") {
  for (const char* host : {"a b", "user@a", "user:secret@a", "@", "a/b"}) {
    EXPECT_EQ(authority("/", {host}), "http.invalid_authority");
    EXPECT_EQ(authority("http://a/", {host}), "a /");
  }
}

TEST("an origin-form target is the path, whatever its bytes") {
  EXPECT_EQ(read("GET", "/"), " /");
  EXPECT_EQ(read("GET", "/a?b=c?d"), " /a?b=c?d");
  EXPECT_EQ(read("GET", "//a/b"), " //a/b");
  EXPECT_EQ(read("GET", "/a://b"), " /a://b");
}

TEST("an absolute-form target gives the authority without its user, and the path") {
  EXPECT_EQ(read("GET", "http://x.test/a?q"), "x.test /a?q");
  EXPECT_EQ(read("GET", "HTTP://x.test"), "x.test /");
  EXPECT_EQ(read("GET", "https://x.test:8443/x"), "x.test:8443 /x");
  EXPECT_EQ(read("GET", "http://u:p@x.test:80/a"), "x.test:80 /a");
  EXPECT_EQ(read("GET", "http://[::1]:80/a"), "[::1]:80 /a");
  EXPECT_EQ(read("GET", "http://x.test?q"), "x.test ?q");
  EXPECT_EQ(read("OPTIONS", "http://x.test"), "x.test /");
}

TEST("an absolute-form target with a host or port that cannot be is an invalid URL") {
  for (const char* target :
       {"http:///a", "http://", "http://x.test:99999/a", "http://x.test:/a", "http://x.test:ab/a",
        "http://[::1/a", "http://[]/a", "http://x_y.test/a", "http://x%41/a", "http://x,test/a",
        "http://u@/a", "file:///a"}) {
    EXPECT_EQ(read("GET", target), "http1.invalid_url");
  }
}

TEST("a scheme other than http and https is an invalid scheme") {
  EXPECT_EQ(read("GET", "ws://a/b"), "http1.invalid_scheme");
  EXPECT_EQ(read("GET", "ftp://abs.test/x"), "http1.invalid_scheme");
}

TEST("what is no form of a target at all is a codec error") {
  for (const char* target : {"a/b", "?q", ".", "http:a", "http:/a", "1http://a", "://a", "a",
                             "http://x.test#b", "http://x.test\\a", "http://a@b@c/", "HTTP/1.1"}) {
    EXPECT_EQ(read("GET", target), "http1.codec_error");
  }
}

TEST("an asterisk is OPTIONS' alone") {
  EXPECT_EQ(read("OPTIONS", "*"), " *");
  EXPECT_EQ(read("OPTIONS", "**"), " **");
  EXPECT_EQ(read("GET", "*"), "http1.invalid_url");
}

TEST("CONNECT takes a host and its port, and nothing else") {
  EXPECT_EQ(read("CONNECT", "a:80"), "a:80 ");
  EXPECT_EQ(read("CONNECT", "a:0"), "a:0 ");
  EXPECT_EQ(read("CONNECT", "[::1]:80"), "[::1]:80 ");
  for (const char* target : {"a", "a:", "a:99999", ":80", "[::1]", "::1:80", "http://a:80/", "*",
                             "a:80/x", "a_b:80", "u@a:80", "a:8o", "/x"}) {
    EXPECT_EQ(read("CONNECT", target), "http1.invalid_url");
  }
}

TEST("an authority has the bytes of RFC 3986 and no others") {
  EXPECT(isValidAuthority("a.test:99999"));
  EXPECT(isValidAuthority(""));
  EXPECT(isValidAuthority("a_b"));
  EXPECT(isValidAuthority("!$&'()*+,;=:[]-._~%"));
  for (const char* authority : {"a b", "user@a", "@a", "a/b", "a?b", "a#b", "a\"b", "a\\b", "a<b",
                                "a|b", "a^b", "a`b", "a{b", "a\xe9"}) {
    EXPECT(!isValidAuthority(authority));
  }
}

}  // namespace fairlead::http
