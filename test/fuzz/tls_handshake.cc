// Handshakes with whoever wants to harm: bytes of any kind for a server or a client, in pieces, and
// two ends that mean well with somebody in between who changes, cuts, swaps and repeats what they
// say. Nobody falls over, and what either is given is what the other one has sent.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "test/native/tls/pair.h"

using namespace fairlead;

namespace {

using test::TlsEnd;
using test::TlsSide;

// What openssl s_client begins with, of either version.
constexpr std::string_view kHello13 =
    "16030100e1010000dd0303170d3dea44f6c91dd0dfe3bd0ffd9a210a5f5230484c05d6566a4470e15acf"
    "a420fd8e5c6b8db13cf1e4559a449d5b74f486bef58aee4b11fbc5f4534d7b63165d00121301c02ccca9"
    "c02bc024c023c00ac00900ff010000820000000b0009000006612e74657374000b000403000102000a00"
    "040002001d002300000010000e000c02683208687474702f312e310016000000170000000d0004000204"
    "03002b0009080304030303020301002d00020101003300260024001d00205665407975db7b79fafd9183"
    "2b2f080bef1183bea63e8b8cc1e84a20f8220204";
constexpr std::string_view kHello12 =
    "1603010075010000710303be0bbe91233401261b92d04d34a2a2edfb4eb4cdbc928ea6a0820f4211a495"
    "1a000004c02b00ff010000440000000b0009000006612e74657374000b000403000102000a000c000a00"
    "1d0017001e00190018002300000005000501000000000016000000170000000d000400020403";

constexpr std::string_view kFromClient = "from the client";
constexpr std::string_view kFromServer = "from the server";

std::string unhexed(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

// Certificates are made once: a server that asks for one, too, and a client that has one.
struct Sides {
  Sides() {
    const test::Authority authority;
    plan::TlsContext plan = test::serverPlan({authority.sign("server", "DNS:a.test")});
    plan.alpn = {"h2", "http/1.1"};
    plan.validation.emplace().trusted_ca = authority.pem();
    server = std::make_unique<TlsSide>(plan);
    for (const uint32_t version : {test::kTls12, test::kTls13}) {
      plan::TlsContext of_client = test::clientPlan(authority.pem());
      of_client.max_version = version;
      of_client.sni = "a.test";
      test::addIdentity(&of_client, authority.sign("client"));
      clients.push_back(std::make_unique<TlsSide>(of_client));
    }
  }
  std::unique_ptr<TlsSide> server;
  std::vector<std::unique_ptr<TlsSide>> clients;
};

const Sides& sides() {
  static const Sides& made = *new Sides();
  return made;
}

// The input, byte by byte; zeros when it is over.
class Input {
 public:
  explicit Input(std::string_view bytes) : left_(bytes) {}
  uint8_t byte() {
    if (left_.empty()) return 0;
    const auto first = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return first;
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : (byte() << 8 | byte()) % bound; }
  std::string_view take(size_t size) {
    const std::string_view part = left_.substr(0, size);
    left_.remove_prefix(part.size());
    return part;
  }
  bool isOver() const { return left_.empty(); }

 private:
  std::string_view left_;
};

// One end alone, which is told the input piece by piece.
void tellOne(const TlsSide& side, Input& input) {
  net::Loop loop;
  net::FileDescriptor fd;
  http1::Peer peer(&fd);
  {
    TlsEnd end(loop, std::move(fd), side);
    end.write("never seen in the clear");
    for (int i = 0; i < 64 && !input.isOver() && end.readied <= 0; ++i) {
      const size_t size = i == 0 && input.byte() % 2 == 0 ? SIZE_MAX : 1 + input.byte();
      peer.write(input.take(size));
      loop.turn(0);
      FL_CHECK(peer.read().find("never seen") == std::string::npos);
    }
    // Nobody can end a handshake without knowing a key.
    FL_CHECK(end.readied != 0 && end.got.empty());
  }
  loop.turn(0);
}

// What is said next comes as the input wants it.
std::string meddle(std::string bytes, Input& input) {
  if (bytes.empty()) return bytes;
  const size_t at = input.below(bytes.size());
  switch (input.byte() % 8) {
    case 0:
      bytes[at] = static_cast<char>(input.byte());
      return bytes;
    case 1:
      return bytes.substr(0, at);
    case 2:
      return bytes.substr(0, at) + bytes;
    case 3:
      return bytes.substr(at) + bytes.substr(0, at);
    case 4:
      return bytes.insert(at, input.take(input.byte()));
    case 5:
      return bytes.erase(at, 1 + input.byte() % 64);
    default:
      return bytes;
  }
}

void standBetween(const TlsSide& client_side, Input& input) {
  net::Loop loop;
  net::FileDescriptor server_fd;
  net::FileDescriptor client_fd;
  http1::Peer to_server(&server_fd);
  http1::Peer to_client(&client_fd);
  {
    TlsEnd server(loop, std::move(server_fd), *sides().server);
    TlsEnd client(loop, std::move(client_fd), client_side);
    client.write(kFromClient);
    server.write(kFromServer);
    for (int turn = 0; turn < 10; ++turn) {
      loop.turn(0);
      to_server.write(meddle(to_client.read(), input));
      loop.turn(0);
      to_client.write(meddle(to_server.read(), input));
    }
    loop.turn(0);
    FL_CHECK(kFromClient.starts_with(server.got) && kFromServer.starts_with(client.got));
  }
  loop.turn(0);
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (const std::string_view hello : {kHello12, kHello13}) {
    seeds.push_back(std::string(1, '\0') + std::string(1, '\0') + unhexed(hello));
  }
  for (const char mode : {'\2', '\3'})
    seeds.push_back(std::string(1, mode) + std::string(60, '\7'));
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(std::string_view(reinterpret_cast<const char*>(data), size));
  switch (input.byte() % 4) {
    case 0:
      tellOne(*sides().server, input);
      break;
    case 1:
      tellOne(*sides().clients[input.byte() % 2], input);
      break;
    default:
      standBetween(*sides().clients[input.byte() % 2], input);
  }
  return 0;
}
