// What CDNs say of a request's way.
#include "filters/http/cdn_loop.h"

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withCdnLoop(uint16_t port, uint32_t most) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].cdn_loop.emplace();
  managerOf(plan).http_filters[0].cdn_loop->id = "us.test";
  managerOf(plan).http_filters[0].cdn_loop->most_occurrences = most;
  return plan;
}

}  // namespace

TEST("Hosts are told of this CDN behind the others; one that was here too often is refused") {
  Origin origin([](Socket& socket, int) {
    for (;;) {
      const std::string request = socket.readMessage();
      if (request.empty()) return;
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(request.size()) +
                   "\r\n\r\n" + request);
    }
  });
  Proxy proxy(withCdnLoop(origin.port(), 1));
  EXPECT(has(get(proxy, "/"), "cdn-loop: us.test\r\n"));
  EXPECT(has(get(proxy, "/", "cdn-loop: them; a=b\r\n"), "cdn-loop: them; a=b,us.test\r\n"));
  EXPECT(has(get(proxy, "/", "cdn-loop: us.test\r\n"), "cdn-loop: us.test,us.test\r\n"));
  const std::string looped = get(proxy, "/", "cdn-loop: us.test, us.test\r\n");
  EXPECT(has(looped, "HTTP/1.1 502 "));
  EXPECT(has(looped, "The server has detected a loop between CDNs."));
  EXPECT(has(get(proxy, "/", "cdn-loop: a b\r\n"), "HTTP/1.1 400 "));
}

TEST("CDNs are hosts with ports or words, with parameters behind them") {
  using filters::countCdn;
  EXPECT(countCdn("", "a") == 0u);
  EXPECT(countCdn(" , ,a,, b ,a:80", "a") == 1u);
  EXPECT(countCdn("a:80", "a:80") == 1u);
  EXPECT(countCdn("[::1]:80,[::1]", "[::1]") == 1u);
  EXPECT(countCdn("a;p=q ; r=\"s,\\\"a\" , a", "a") == 2u);
  for (const char* wrong : {"a b", "a;", "a;p", "a;p=", "a;p=\"q", "[::1", "[x]", "\"a\"", "a/b"}) {
    EXPECT(!countCdn(wrong, "a"));
  }
}

}  // namespace fairlead::test
