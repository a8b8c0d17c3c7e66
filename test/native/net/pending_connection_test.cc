// The accept pipeline: connections whose listener filters look at them before their chain is
// chosen.
#include "net/pending_connection.h"

#include <memory>
#include <string>
#include <vector>

#include "net/listener.h"
#include "test/native/http/http1/peer.h"
#include "test/native/support/kept_sockets.h"
#include "test/native/support/kernel.h"
#include "test/native/support/socket.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

using http1::pass;
using http1::settle;
using test::Call;
using test::callCount;
using test::Socket;

// Takes a line off; "no" is refused.
class Line final : public ListenerFilter {
 public:
  Verdict look(EarlySocket& socket) override {
    const std::string_view bytes = socket.peek();
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return Verdict::Wait;
    if (bytes.starts_with("no")) return Verdict::Refuse;
    socket.findings().application_protocols.emplace_back(bytes.substr(0, end));
    return socket.take(end + 1) ? Verdict::Continue : Verdict::Refuse;
  }
};

class LineConfig final : public ListenerFilterConfig {
 public:
  std::unique_ptr<ListenerFilter> make(unsigned) const override { return std::make_unique<Line>(); }
};

class Log final : public ConnectionLog {
 public:
  explicit Log(int& unfinished) : unfinished_(unfinished) {}
  void onEnded(const DownstreamConnection&) override {}
  void onUnmatched(const AcceptedSocket&) override {}
  void onUnfinished(const AcceptedSocket&) override { ++unfinished_; }

 private:
  int& unfinished_;
};

using Counter = stats::Listener::Counter;

// One filter that takes a line; connections with the line "b" have a chain of their own.
class PendingFixture {
 public:
  explicit PendingFixture(Millis timeout_ms = 0, bool goes_on = false,
                          uint64_t max_connections = 100) {
    plan::Listener& plan = config_->plan;
    plan.name = "in";
    plan.backlog = 128;
    plan.listener_filters_timeout_ms = timeout_ms;
    plan.continue_on_listener_filters_timeout = goes_on;
    config_->max_connections = RuntimeNumber{max_connections, 0, nullptr};
    std::vector<plan::FilterChain> chains(2);
    chains[1].match.emplace().application_protocols = {"b"};
    config_->filters = {{std::make_shared<LineConfig>(), nullptr}};
    config_->stats = std::make_shared<stats::Block<stats::Listener>>(stats::listenerScope("in"), 2);
    config_->worker_stats.push_back(std::make_shared<stats::Block<stats::ListenerWorker>>(
        stats::listenerWorkerScope("in", 0), 2));
    Address any;
    FL_CHECK(parseIp("127.0.0.1:0", &any));
    Result<FileDescriptor> opened = openListenSocket(plan, any);
    FL_CHECK(opened.ok() && listenOn(opened.value().get(), plan, any).ok());
    port_ = boundAddress(opened.value().get()).port();
    listener_ = std::make_unique<Listener>(
        loop, config_,
        std::vector<ListenSocket>{
            std::make_shared<const FileDescriptor>(std::move(opened.value()))},
        0, std::make_unique<Log>(unfinished));
    listener_->setChains(
        std::make_shared<FilterChains>(FilterChains{FilterChainMatch(chains), {0, 0}}),
        [this](size_t place) {
          return std::make_unique<Keeping>(place == 0 ? accepted : accepted_b);
        });
    listener_->start();
  }

  ListenerConfig& config() { return *config_; }
  Socket connect() const { return Socket::connect(port_); }
  Listener& listener() { return *listener_; }
  uint64_t count(Counter counter) const {
    return config_->stats->counter(static_cast<size_t>(counter)).value;
  }
  uint64_t pending() const {
    return config_->stats->gauge(static_cast<size_t>(stats::Listener::Gauge::DownstreamPreCxActive))
        .value;
  }

  Loop loop;
  std::vector<AcceptedSocket> accepted;
  std::vector<AcceptedSocket> accepted_b;
  int unfinished = 0;

 private:
  const std::shared_ptr<ListenerConfig> config_ = std::make_shared<ListenerConfig>();
  uint16_t port_ = 0;
  std::unique_ptr<Listener> listener_;
};

std::string bytesOf(const AcceptedSocket& socket) {
  char buffer[64];
  const ssize_t got = ::recv(socket.fd.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
}

}  // namespace

TEST("A client that has said enough when it is accepted is never watched while it is pending") {
  PendingFixture fixture;
  Socket client = fixture.connect();
  EXPECT(client.write("a\nrest"));
  const uint64_t watched = callCount(Call::EpollAdd);
  settle(fixture.loop);
  EXPECT_EQ(callCount(Call::EpollAdd), watched);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  EXPECT_EQ(bytesOf(fixture.accepted[0]), "rest");
  EXPECT_EQ(fixture.pending(), 0u);
}

TEST("Bytes that come one by one decide the chain, and what follows them is left for it") {
  PendingFixture fixture;
  Socket client = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.pending(), 1u);
  EXPECT(fixture.listener().hasConnections());
  EXPECT(client.write("b"));
  settle(fixture.loop);
  EXPECT_EQ(fixture.pending(), 1u);
  EXPECT(client.write("\nrest"));
  settle(fixture.loop);
  EXPECT_EQ(fixture.pending(), 0u);
  EXPECT_EQ(fixture.accepted_b.size(), 1u);
  EXPECT_EQ(bytesOf(fixture.accepted_b[0]), "rest");
  EXPECT(!fixture.listener().hasConnections());
}

TEST("Several filters look one after another, each at what the one before it left") {
  PendingFixture fixture;
  fixture.config().filters.push_back(fixture.config().filters[0]);
  Socket client = fixture.connect();
  EXPECT(client.write("a\n"));
  settle(fixture.loop);
  EXPECT_EQ(fixture.pending(), 1u);
  EXPECT(client.write("c\nrest"));
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  EXPECT_EQ(fixture.accepted[0].findings->application_protocols[1], "c");
}

TEST("A filter leaves those connections alone that its predicate names") {
  PendingFixture fixture;
  plan::ListenerPredicate rule;
  rule.kind = plan::ListenerPredicate::Kind::Any;
  fixture.config().filters[0].disabled = std::make_shared<ListenerPredicate>(rule);
  const Socket client = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
}

TEST("A connection that a filter refuses, or its client ends, is closed, logged and counted") {
  PendingFixture fixture;
  Socket refused = fixture.connect();
  EXPECT(refused.write("no\n"));
  Socket gone = fixture.connect();
  settle(fixture.loop);
  gone.endWriting();
  settle(fixture.loop);
  EXPECT_EQ(gone.readAll(), "");
  Socket reset = fixture.connect();
  settle(fixture.loop);
  reset.reset();
  settle(fixture.loop);
  EXPECT_EQ(refused.readAll(), "");
  EXPECT_EQ(fixture.count(Counter::DownstreamListenerFilterRemoteClose), 1u);
  EXPECT_EQ(fixture.count(Counter::DownstreamListenerFilterError), 1u);
  EXPECT_EQ(fixture.count(Counter::DownstreamCxTotal), 0u);
  EXPECT_EQ(fixture.unfinished, 3);
  EXPECT_EQ(fixture.pending(), 0u);
}

TEST("What came before a client's end still counts") {
  PendingFixture fixture;
  Socket client = fixture.connect();
  settle(fixture.loop);
  EXPECT(client.write("a\nrest"));
  client.endWriting();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  EXPECT_EQ(bytesOf(fixture.accepted[0]), "rest");
}

TEST("A client that says too little for too long is closed, or goes on as it is") {
  PendingFixture strict(20);
  Socket closed = strict.connect();
  EXPECT(closed.write("a"));
  settle(strict.loop);
  EXPECT_EQ(strict.pending(), 1u);
  pass(strict.loop, 25);
  EXPECT_EQ(closed.readAll(), "");
  EXPECT_EQ(strict.count(Counter::DownstreamPreCxTimeout), 1u);
  EXPECT_EQ(strict.unfinished, 1);
  PendingFixture lenient(20, true);
  Socket passed = lenient.connect();
  EXPECT(passed.write("a"));
  settle(lenient.loop);
  pass(lenient.loop, 25);
  EXPECT_EQ(lenient.count(Counter::DownstreamPreCxTimeout), 1u);
  EXPECT_EQ(lenient.accepted.size(), 1u);
  EXPECT_EQ(bytesOf(lenient.accepted[0]), "a");
}

TEST("Pending connections count against the limits, and no longer when they are gone") {
  PendingFixture fixture(0, false, 2);
  Socket first = fixture.connect();
  const Socket second = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.config().connections->load(), 2u);
  Socket third = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(third.readAll(), "");
  EXPECT_EQ(fixture.count(Counter::DownstreamCxOverflow), 1u);
  first.close();
  settle(fixture.loop);
  EXPECT_EQ(fixture.config().connections->load(), 1u);
  Socket fourth = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.pending(), 2u);
}

TEST("A listener that ends closes pending connections, those that may still speak the last") {
  PendingFixture fixture;
  Socket silent = fixture.connect();
  Socket speaking = fixture.connect();
  EXPECT(speaking.write("a"));
  settle(fixture.loop);
  fixture.listener().stop();
  fixture.listener().abortQuietConnections();
  EXPECT_EQ(fixture.pending(), 2u);
  pass(fixture.loop, 110);
  fixture.listener().abortQuietConnections();
  EXPECT_EQ(fixture.pending(), 1u);
  EXPECT(speaking.write("\nrest"));
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  EXPECT_EQ(silent.readAll(), "");
  EXPECT(!fixture.listener().hasConnections());
}

TEST("Ports tell which connections a predicate names; not, and, or combine predicates") {
  using Kind = plan::ListenerPredicate::Kind;
  const auto ports = [](uint32_t begin, uint32_t end) {
    plan::ListenerPredicate rule;
    rule.kind = Kind::DestinationPort;
    rule.port_begin = begin;
    rule.port_end = end;
    return rule;
  };
  const auto combine = [](Kind kind, std::vector<plan::ListenerPredicate> rules) {
    plan::ListenerPredicate rule;
    rule.kind = kind;
    rule.rules = std::move(rules);
    return rule;
  };
  AcceptedSocket socket{FileDescriptor(), Address(), Address(), 0};
  FL_CHECK(parseIp("127.0.0.1:80", &socket.local));
  const auto matches = [&](const plan::ListenerPredicate& rule) {
    return ListenerPredicate(rule).matches(socket);
  };
  EXPECT(matches(ports(80, 81)));
  EXPECT(!matches(ports(79, 80)));
  EXPECT(!matches(combine(Kind::Not, {ports(80, 81)})));
  EXPECT(matches(combine(Kind::Or, {ports(1, 2), ports(80, 90)})));
  EXPECT(!matches(combine(Kind::And, {ports(1, 2), ports(80, 90)})));
  EXPECT(matches(combine(Kind::And, {ports(0, 100), combine(Kind::Not, {ports(1, 2)})})));
}

}  // namespace fairlead::net
