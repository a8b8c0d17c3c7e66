// Bodies that are too large.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withLimitOf(uint16_t port, uint64_t bytes) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].body_size_limit.emplace();
  managerOf(plan).http_filters[0].body_size_limit->max_request_bytes = bytes;
  return plan;
}

std::string send(Proxy& proxy, const std::string& rest) {
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\n" + rest);
  return client.readMessage();
}

}  // namespace

TEST("A body that says or turns out to be larger than it may is refused") {
  Origin origin(answering("origin"));
  Proxy proxy(withLimitOf(origin.port(), 4));
  EXPECT(has(send(proxy, "content-length: 4\r\n\r\n1234"), "origin"));
  EXPECT(has(send(proxy, "content-length: 5\r\n\r\n"), "HTTP/1.1 413 "));
  EXPECT(has(send(proxy, "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n"), "HTTP/1.1 413 "));
}

}  // namespace fairlead::test
