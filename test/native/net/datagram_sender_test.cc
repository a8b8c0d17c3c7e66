#include "net/datagram_sender.h"

#include "test/native/test.h"

namespace fairlead::net {

namespace {

// A socket that receives, and who sends to it.
struct Fixture {
  FileDescriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)};
  Address address;

  Fixture() {
    sockaddr_in any = {};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any));
    socklen_t size = sizeof(any);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&any), &size);
    address = Address::fromKernel(reinterpret_cast<const sockaddr*>(&any), size);
  }
  // "first|second|…"
  std::string received(std::string_view lines, size_t max_bytes) {
    Result<DatagramSender> sender = DatagramSender::open(address);
    EXPECT(sender.ok());
    sender.value().send(lines, max_bytes);
    std::string all;
    char buffer[2000];
    for (ssize_t size; (size = ::recv(socket.get(), buffer, sizeof(buffer), 0)) >= 0;) {
      all.append(all.empty() ? "" : "|").append(buffer, static_cast<size_t>(size));
    }
    return all;
  }
};

}  // namespace

TEST("without a size each line is a datagram, without its end") {
  EXPECT_EQ(Fixture().received("a:1\nbb:2\nc\n", 0), "a:1|bb:2|c");
}

TEST("lines share a datagram as long as it fits; a longer one is alone") {
  EXPECT_EQ(Fixture().received("a\nb\nc\n", 3), "a\nb|c");
  EXPECT_EQ(Fixture().received("a\nlonger\nc\nd\n", 3), "a|longer|c\nd");
  EXPECT_EQ(Fixture().received("abc\nd\n", 3), "abc|d");
}

TEST("more datagrams than one call takes leave all the same, and nobody there is no trouble") {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "x\n";
  EXPECT_EQ(Fixture().received(lines, 0).size(), 199u);
  Address nobody;
  {
    const Fixture gone;
    nobody = gone.address;
  }
  Result<DatagramSender> sender = DatagramSender::open(nobody);
  sender.value().send(lines, 0);
  sender.value().send(lines, 0);
}

}  // namespace fairlead::net
