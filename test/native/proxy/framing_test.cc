// What tells a message's end on the wire, where both ends must agree: trailers, answers without a
// body, headers that a configuration adds.
#include <string>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

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

}  // namespace fairlead::test
