// Keys of clients: where they are looked for, and what hosts see of them.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withKeys(uint16_t port, bool hides_key = false) {
  plan::Update plan = httpPlan({port});
  plan::HttpFilter filter;
  plan::ApiKeyAuth& auth = filter.api_key_auth.emplace();
  auth.keys.push_back({"k-1", "ann"});
  auth.keys.push_back({"k-2", "bob"});
  auth.sources.push_back({"x-key", {}, {}});
  auth.sources.push_back({{}, "key", {}});
  auth.sources.push_back({{}, {}, "key"});
  plan::ApiKeyForwarding& forwarding = auth.forwarding.emplace();
  forwarding.header = "x-client";
  forwarding.hides_key = hides_key;
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

Origin::Script showing() {
  return [](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(request.size()) +
                   "\r\n\r\n" + request);
    }
  };
}

}  // namespace

TEST("A key is found in a header, a query or a cookie, and hosts hear whose it is") {
  Origin origin(showing());
  Proxy proxy(withKeys(origin.port()));
  EXPECT(has(get(proxy, "/", "x-key: k-1\r\n"), "x-client: ann"));
  EXPECT(has(get(proxy, "/?key=k-2"), "x-client: bob"));
  EXPECT(has(get(proxy, "/", "cookie: a=b; key=k-1\r\n"), "x-client: ann"));
  EXPECT_EQ(proxy.stat("http.in.api_key_auth.allowed"), 3u);
}

TEST("Without a key, or with one that nobody has, there is no way in") {
  Origin origin(showing());
  Proxy proxy(withKeys(origin.port()));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 401 "));
  EXPECT(get(proxy, "/", "x-key: k-3\r\nx-client: ann\r\n").starts_with("HTTP/1.1 401 "));
  EXPECT_EQ(proxy.stat("http.in.api_key_auth.unauthorized"), 2u);
}

TEST("What a client says of itself is replaced; a key that is to be hidden stays here") {
  Origin origin(showing());
  Proxy proxy(withKeys(origin.port(), true));
  const std::string seen = get(proxy, "/?key=k-2&a=b", "x-client: ann\r\n");
  EXPECT(has(seen, "x-client: bob"));
  EXPECT(!has(seen, "x-client: ann"));
  EXPECT(!has(seen, "k-2"));
}

}  // namespace fairlead::test
