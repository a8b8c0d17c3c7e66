// Handshakes whose records somebody in between changes, cuts, swaps and repeats: whatever comes,
// nobody falls over, and what is given to either side is what the other one has sent.
#include <random>
#include <string>
#include <vector>

#include "test/native/test.h"
#include "test/native/tls/pair.h"

namespace fairlead::tls {

namespace {

using test::TlsEnd;
using test::TlsSide;
using Records = std::vector<std::string>;

// Whole records; what is left of the last one is one, too.
Records splitRecords(const std::string& bytes) {
  Records records;
  for (size_t at = 0; at < bytes.size();) {
    size_t size = bytes.size() - at;
    if (size > 5) {
      const size_t body = static_cast<unsigned char>(bytes[at + 3]) * 256u +
                          static_cast<unsigned char>(bytes[at + 4]);
      size = std::min(size, 5 + body);
    }
    records.push_back(bytes.substr(at, size));
    at += size;
  }
  return records;
}

class Meddler {
 public:
  explicit Meddler(uint32_t seed) : random_(seed) {}

  std::string meddle(const std::string& bytes) {
    Records records = splitRecords(bytes);
    if (below(3) != 0) change(&records);
    std::string out;
    for (const std::string& record : records) out += record;
    return out;
  }

 private:
  void change(Records* records) {
    const size_t at = below(records->size());
    std::string& record = (*records)[at];
    switch (below(6)) {
      case 0:
        record[below(record.size())] ^= static_cast<char>(1 << below(8));
        return;
      case 1:
        record.resize(below(record.size() + 1));
        return;
      case 2:
        records->insert(records->begin() + static_cast<long>(at), record);
        return;
      case 3:
        std::swap(record, (*records)[below(records->size())]);
        return;
      case 4:
        record.insert(below(record.size() + 1),
                      std::string(below(64), static_cast<char>(random_())));
        return;
      default:
        records->erase(records->begin() + static_cast<long>(at));
    }
  }
  size_t below(size_t bound) { return random_() % bound; }

  std::minstd_rand random_;
};

}  // namespace

TEST("1,000 handshakes that somebody in between meddles with end, wait, or pass what was sent") {
  const test::Authority authority;
  const TlsSide server_side(test::serverPlan({authority.sign("server", "DNS:server.test")}));
  const TlsSide client_side(test::clientPlan(authority.pem()));
  int opened = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    net::Loop loop;
    net::FileDescriptor server_fd;
    net::FileDescriptor client_fd;
    http1::Peer to_server(&server_fd);
    http1::Peer to_client(&client_fd);
    {
      TlsEnd server(loop, std::move(server_fd), server_side);
      TlsEnd client(loop, std::move(client_fd), client_side);
      Meddler meddler(seed);
      client.write("from the client");
      server.write("from the server");
      for (int turn = 0; turn < 8; ++turn) {
        loop.turn(0);
        const std::string up = to_client.read();
        if (!up.empty()) to_server.write(turn < 6 ? meddler.meddle(up) : up);
        loop.turn(0);
        const std::string down = to_server.read();
        if (!down.empty()) to_client.write(turn < 6 ? meddler.meddle(down) : down);
      }
      opened += server.readied == 0 && client.readied == 0;
      EXPECT(std::string_view("from the client").starts_with(server.got));
      EXPECT(std::string_view("from the server").starts_with(client.got));
    }
    loop.turn(0);
  }
  // Some were left alone, and not all.
  EXPECT(opened > 0);
  EXPECT(opened < 1000);
}

}  // namespace fairlead::tls
