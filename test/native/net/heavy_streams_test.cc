#include "net/heavy_streams.h"

#include <memory>
#include <utility>
#include <vector>

#include "net/downstream_connection.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

class Accounts final : public ConnectionAccounts {
 public:
  void onConnectionOpened() override {}
  void onConnectionClosed(const DownstreamConnection&, uint64_t) override {}
};

// Its streams end as they are shed, but for those that have ended before.
class Client final : public DownstreamConnection {
 public:
  Client(Accounts& accounts, AcceptedSocket socket) : DownstreamConnection(accounts, socket) {}
  void abort() override {}
  bool shedStream(uint32_t stream) override {
    if (stream == gone) return false;
    shed.push_back(stream);
    return true;
  }

  uint32_t gone = 0;
  std::vector<uint32_t> shed;
};

struct Clients {
  Accounts accounts;
  Client one{accounts, AcceptedSocket{FileDescriptor(), Address(), Address(), 1}};
};

}  // namespace

TEST("Streams are shed from the largest class down, as far as an action has gone") {
  Clients clients;
  const auto shedAt = [&](uint32_t millionths) {
    // Of 512 bytes and more, twice as much each.
    HeavyStreams streams(10);
    streams.add(clients.one, 1, 511);
    for (uint32_t i = 0; i < 10; ++i) streams.add(clients.one, 3 + 2 * i, uint64_t{512} << i);
    clients.one.shed.clear();
    return streams.shed(millionths);
  };
  // The last class has all that is larger still.
  EXPECT_EQ(shedAt(0), 3u);
  EXPECT(clients.one.shed == std::vector<uint32_t>({17, 19, 21}));
  EXPECT_EQ(shedAt(124'999), 3u);
  EXPECT_EQ(shedAt(125'000), 4u);
  EXPECT_EQ(clients.one.shed.back(), 15u);
  EXPECT_EQ(shedAt(875'000), 10u);
  EXPECT_EQ(shedAt(1'000'000), 10u);
}

TEST("No more than so many are shed at once, and those that ended before do not count") {
  Clients clients;
  clients.one.gone = 3;
  HeavyStreams streams(10);
  for (uint32_t i = 0; i < 100; ++i) streams.add(clients.one, 1 + 2 * i, 1 << 20);
  EXPECT_EQ(streams.shed(1'000'000), HeavyStreams::kMostAtOnce);
  EXPECT_EQ(clients.one.shed.size(), size_t{HeavyStreams::kMostAtOnce});
  EXPECT_EQ(clients.one.shed[0], 1u);
  EXPECT_EQ(clients.one.shed[1], 5u);
}

}  // namespace fairlead::net
