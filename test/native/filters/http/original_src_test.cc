// Hosts that see the address of a request's client as that of its connection.
#include <arpa/inet.h>

#include "net/file_descriptor.h"
#include "test/native/support/http_filters.h"
#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// What the system lets only some do.
bool maySpoof() {
  const net::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  return ::setsockopt(fd.get(), IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)) == 0;
}

// Hosts say who they think asks.
void sayPeer(Socket& socket, int number) {
  sockaddr_in peer{};
  socklen_t size = sizeof(peer);
  ::getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&peer), &size);
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &peer.sin_addr, text, sizeof(text));
  test::answering(std::string(text) + " " + std::to_string(number))(socket, number);
}

plan::Update withSource(uint16_t port, uint32_t mark = 0) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back().original_src.emplace().mark = mark;
  return plan;
}

std::string as(Proxy& proxy, const std::string& client) {
  return get(proxy, "/", "x-forwarded-for: " + client + "\r\n");
}

}  // namespace

// All of 127.0.0.0/8 leads back here.
TEST("Hosts see each client's address, and clients do not share connections") {
  if (!maySpoof()) return;
  Origin origin(sayPeer);
  Proxy proxy(withSource(origin.port()));
  EXPECT(as(proxy, "127.0.0.9").ends_with("127.0.0.9 0"));
  EXPECT(as(proxy, "127.1.2.3").ends_with("127.1.2.3 1"));
  EXPECT(as(proxy, "127.0.0.9").ends_with("127.0.0.9 0"));
  EXPECT(get(proxy, "/").ends_with("127.0.0.1 2"));
  EXPECT_EQ(origin.connections(), 3);
}

TEST("A mark goes along where the system takes one") {
  if (!maySpoof()) return;
  Origin origin(sayPeer);
  Proxy proxy(withSource(origin.port(), 7));
  EXPECT(as(proxy, "127.0.0.9").ends_with("127.0.0.9 0"));
}

TEST("Where the system does not allow it the request fails, and is not sent in our own name") {
  Origin origin(sayPeer);
  Proxy proxy(withSource(origin.port()));
  const Refusing refusing(Call::Setsockopt, EPERM);
  EXPECT(as(proxy, "127.0.0.9").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(origin.connections(), 0);
}

TEST("An address of another family than the host's is none that it can be reached from") {
  Origin origin(sayPeer);
  Proxy proxy(withSource(origin.port()));
  EXPECT(as(proxy, "2001:db8::1").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(origin.connections(), 0);
}

}  // namespace fairlead::test
