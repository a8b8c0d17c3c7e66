// Requests that are held until they are whole.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withBuffer(uint16_t port, uint32_t max_bytes) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].buffer.emplace();
  managerOf(plan).http_filters[0].buffer->max_request_bytes = max_bytes;
  return plan;
}

std::string post(Proxy& proxy, const std::string& framing, const std::string& body) {
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\n" + framing + "\r\n" + body);
  return client.readMessage();
}

}  // namespace

TEST("A host hears of a request when all of it is here, and how long it is") {
  Origin origin(repeatRequests);
  Proxy proxy(withBuffer(origin.port(), 100));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
  EXPECT_EQ(origin.connections(), 0);
  client.write("2\r\nde\r\n0\r\n\r\n");
  const std::string answer = client.readMessage();
  EXPECT(has(answer, "\r\ncontent-length: 5\r\n"));
  EXPECT(!has(answer, "transfer-encoding"));
  EXPECT(answer.ends_with("abcde"));
}

TEST("A request of several slabs comes to the host as it was sent") {
  Origin origin(repeatRequests);
  Proxy proxy(withBuffer(origin.port(), 1'000'000));
  std::string body;
  for (int i = 0; body.size() < 600'000; ++i) body += std::to_string(i) + ",";
  const std::string framing = "content-length: " + std::to_string(body.size()) + "\r\n";
  for (int i = 0; i < 3; ++i) EXPECT(post(proxy, framing, body).ends_with("\r\n\r\n" + body));
}

TEST("What is longer than the limit is refused, by one byte") {
  Origin origin(repeatRequests);
  Proxy proxy(withBuffer(origin.port(), 10));
  EXPECT(post(proxy, "content-length: 10\r\n", "0123456789").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_too_large"), 0u);
  const std::string refused = post(proxy, "content-length: 11\r\n", "0123456789a");
  EXPECT(refused.starts_with("HTTP/1.1 413 "));
  EXPECT(refused.ends_with("Payload Too Large"));
  EXPECT(has(refused, "\r\nconnection: close\r\n"));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_response_before_rq_complete"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_too_large"), 1u);
  EXPECT_EQ(origin.connections(), 1);
}

TEST("The limit may be larger than the connection's, and routes have their own or none") {
  Origin origin(repeatRequests);
  plan::Update plan = withBuffer(origin.port(), 200'000);
  plan.listeners[0].per_connection_buffer_limit_bytes = 1000;
  const std::string body(150'000, 'x');
  const std::string framing = "content-length: 150000\r\n";
  {
    Proxy proxy(plan);
    EXPECT(post(proxy, framing, body).starts_with("HTTP/1.1 200 "));
  }
  plan::RouteTable& table = plan.route_tables[0];
  table.filter_configs.resize(1);
  table.filter_configs[0].buffer.emplace();
  table.filter_configs[0].buffer->max_request_bytes = 100;
  table.virtual_hosts[0].routes[0].filters = {{0, false, {0}}};
  {
    Proxy proxy(plan);
    EXPECT(post(proxy, framing, body).starts_with("HTTP/1.1 413 "));
  }
  plan.route_tables[0].filter_configs[0].buffer->disabled = true;
  Proxy proxy(plan);
  EXPECT(post(proxy, framing, body).starts_with("HTTP/1.1 200 "));
}

TEST("What is kept to be sent again is as long as what is held, whatever its connection may hold") {
  const std::string body(50, 'x');
  const auto answerTo = [&body](uint32_t of_connection, uint32_t of_filter,
                                bool filters_tries = false) {
    Origin origin([](Socket& socket, int number) {
      socket.readMessage();
      socket.write(number == 0 ? "HTTP/1.1 503 x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                               : kOk);
    });
    plan::Update plan = withBuffer(origin.port(), of_filter);
    plan.listeners[0].per_connection_buffer_limit_bytes = of_connection;
    if (filters_tries) {
      managerOf(plan).router->upstream_filters.push_back(managerOf(plan).http_filters[0]);
    }
    plan::RetryPolicy& policy =
        plan.route_tables[0].virtual_hosts[0].routes[0].cluster->retry.emplace();
    policy.retry_on = "5xx";
    policy.num_retries = 1;
    policy.base_interval_ms = policy.max_interval_ms = 1;
    Proxy proxy(plan);
    const std::string answer = post(proxy, "content-length: 50\r\n", body);
    EXPECT_EQ(proxy.stat("cluster.origin.retry_or_shadow_abandoned"), 0u);
    return answer.substr(0, 12);
  };
  EXPECT_EQ(answerTo(20, 100), std::string("HTTP/1.1 200"));
  EXPECT_EQ(answerTo(20, 40), std::string("HTTP/1.1 413"));
  // Filters of tries have limits of their own.
  EXPECT_EQ(answerTo(20, 100, true), std::string("HTTP/1.1 200"));
}

TEST("A client that leaves in the middle leaves nothing behind") {
  Origin origin(repeatRequests);
  Proxy proxy(withBuffer(origin.port(), 100'000));
  {
    Socket client = proxy.connect();
    client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 50000\r\n\r\n" +
                 std::string(40'000, 'x'));
    EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  EXPECT_EQ(origin.connections(), 0);
}

}  // namespace fairlead::test
