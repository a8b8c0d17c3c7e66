// What tells a message's end on the wire, where both ends must agree: trailers, answers without a
// body, headers that a configuration adds.
#include <string>

#include "test/native/route/fixtures.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update directResponsePlan(plan::DirectResponse response) {
  plan::Update plan = httpPlan({});
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.cluster.reset();
  route.direct_response = std::move(response);
  return plan;
}

plan::HeaderAddition overwriting(std::string name, std::string value) {
  plan::HeaderAddition addition;
  addition.name = std::move(name);
  addition.action = plan::HeaderAddition::Action::OverwriteOrAdd;
  addition.value = literalFormat(std::move(value));
  return addition;
}

plan::HeaderMutations& mutationsOf(plan::Update& plan) {
  return plan.route_tables[0].virtual_hosts[0].routes[0].mutations.emplace();
}

// Of an answer, without the date.
std::string headOf(const std::string& message) {
  std::string head = message.substr(0, message.find("\r\n\r\n") + 4);
  const size_t date = head.find("date: ");
  if (date != std::string::npos) head.erase(date, head.find("\r\n", date) + 2 - date);
  return head;
}

}  // namespace

TEST("Trailers of a request that waits for its connection arrive behind its body") {
  const std::string head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const std::string body : {"5\r\nhello\r\n", ""}) {
    Origin origin([](Socket& socket, int) {
      const std::string request = socket.readUntil("x-end: 1\r\n\r\n");
      const std::string body = request.substr(request.find("\r\n\r\n") + 4);
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body);
    });
    plan::Update plan = httpPlan({origin.port()});
    plan.listeners[0].filter_chains[0].http->enable_trailers = true;
    plan.clusters[0].enable_trailers = true;
    Proxy proxy(plan);
    Socket client = proxy.connect();
    // All of it is here before the connection to the host, the first one, can be.
    client.write(head + body + "0\r\nX-Begin: 0\r\nX-End: 1\r\n\r\n");
    EXPECT(
        client.readMessage().ends_with("\r\n\r\n" + body + "0\r\nx-begin: 0\r\nx-end: 1\r\n\r\n"));
  }
}

TEST("A direct response that may have no body has none, and no length that it would be read by") {
  for (const uint32_t status : {204u, 304u}) {
    Proxy proxy(directResponsePlan({status, "hello"}));
    Socket client = proxy.connect();
    for (const char* method : {"GET", "HEAD", "GET"}) {
      client.write(std::string(method) + " / HTTP/1.1\r\nhost: a\r\n\r\n");
      const std::string answer = client.readUntil("\r\n\r\n");
      EXPECT(answer.starts_with("HTTP/1.1 " + std::to_string(status) + " "));
      EXPECT(answer.find("content-length") == std::string::npos);
    }
    client.endWriting();
    EXPECT_EQ(client.readAll(), "");
  }
}

TEST("A length or coding that a route adds does not frame what the proxy answers") {
  plan::Update plan = directResponsePlan({200, "hello"});
  plan::HeaderMutations& mutations = mutationsOf(plan);
  mutations.response_add.push_back(overwriting("content-length", "3"));
  mutations.response_add.push_back(overwriting("transfer-encoding", "chunked"));
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT_EQ(headOf(answer),
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: text/plain\r\nserver: "
            "fairlead\r\n\r\n");
  EXPECT(answer.ends_with("\r\n\r\nhello"));
}

TEST("A coding that a route adds goes neither to the host nor to the client") {
  Origin origin([](Socket& socket, int) {
    const std::string head = socket.readUntil("\r\n\r\n");
    const bool coded = head.find("transfer-encoding") != std::string::npos;
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n" +
                 std::string(coded ? "coded" : "plain"));
  });
  plan::Update plan = httpPlan({origin.port()});
  plan::HeaderMutations& mutations = mutationsOf(plan);
  mutations.request_add.push_back(overwriting("transfer-encoding", "chunked"));
  mutations.response_add.push_back(overwriting("transfer-encoding", "chunked"));
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT(answer.find("transfer-encoding") == std::string::npos);
  EXPECT(answer.ends_with("\r\n\r\nplain"));
}

TEST("A 204 says nothing of a length, whatever a route adds") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n");
  });
  plan::Update plan = httpPlan({origin.port()});
  mutationsOf(plan).response_add.push_back(overwriting("content-length", "5"));
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readUntil("\r\n\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 204 No Content\r\n"));
  EXPECT(answer.find("content-length") == std::string::npos);
}

}  // namespace fairlead::test
