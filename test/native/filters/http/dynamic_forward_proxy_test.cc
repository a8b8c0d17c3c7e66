// Hosts that requests name.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"
#include "upstream/name_cache.h"

namespace fairlead::test {

namespace {

// Knows which names were asked for.
class Names final : public upstream::NameSink {
 public:
  void onName(const std::string&, const std::string& name) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(name);
  }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> asked_;
};

plan::Update forwardPlan(uint32_t max_names = 10, uint64_t max_pending = 10) {
  plan::Update plan = httpPlan({});
  plan.assignments.clear();
  plan.clusters[0].named_hosts.emplace();
  plan.clusters[0].named_hosts->cache = "c";
  plan.clusters[0].named_hosts->default_port = 80;
  plan::NameCache cache;
  cache.name = "c";
  cache.stat_prefix = "dns_cache.c.";
  cache.max_names = max_names;
  cache.max_pending = max_pending;
  plan.name_caches = {cache};
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].dynamic_forward_proxy.emplace().cache = "c";
  return plan;
}

worker::DataPlane::Options optionsWith(std::shared_ptr<Names> names) {
  worker::DataPlane::Options options;
  options.name_sink = std::move(names);
  return options;
}

// What the control plane says of a name: where it is, or why it is nowhere.
plan::Update answerOf(const std::string& name, uint16_t port, const std::string& failure = {}) {
  plan::Update update;
  if (failure.empty()) {
    plan::Assignment hosts = hostsOn({port});
    hosts.hosts[0].hostname = name;
    hosts.hosts[0].is_named = true;
    update.assignments = {std::move(hosts)};
  }
  plan::NameAnswer answer;
  answer.cache = "c";
  answer.name = name;
  answer.failure = failure;
  update.name_answers = {std::move(answer)};
  return update;
}

void ask(Socket& client, const std::string& host) {
  client.write("GET / HTTP/1.1\r\nhost: " + host + "\r\n\r\n");
}

}  // namespace

TEST("A request waits for the host that it names, and all that name it wait for one answer") {
  Origin origin(answering("origin"));
  const auto names = std::make_shared<Names>();
  Proxy proxy(forwardPlan(), optionsWith(names));
  Socket one = proxy.connect();
  Socket other = proxy.connect();
  ask(one, "a.test");
  ask(other, "a.test");
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 2));
  EXPECT(proxy.waitUntil([&] { return names->asked().size() == 1; }));
  EXPECT_EQ(names->asked()[0], "a.test:80");
  proxy.dataPlane().apply(answerOf("a.test:80", origin.port()));
  EXPECT(has(one.readMessage(), "origin"));
  EXPECT(has(other.readMessage(), "origin"));
  ask(one, "a.test:80");
  EXPECT(has(one.readMessage(), "origin"));
  EXPECT_EQ(names->asked().size(), 1u);
}

TEST("A name that is nowhere is answered so, also to those that ask later") {
  const auto names = std::make_shared<Names>();
  Proxy proxy(forwardPlan(), optionsWith(names));
  Socket client = proxy.connect();
  ask(client, "b.test");
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  proxy.dataPlane().apply(answerOf("b.test:80", 0, "why"));
  EXPECT(has(client.readMessage(), "DNS resolution failure"));
  ask(client, "b.test");
  EXPECT(has(client.readMessage(), "DNS resolution failure"));
  EXPECT_EQ(names->asked().size(), 1u);
}

TEST("There are so many names, and so many may wait") {
  const auto names = std::make_shared<Names>();
  Proxy full(forwardPlan(0), optionsWith(names));
  Socket client = full.connect();
  ask(client, "a.test");
  EXPECT(has(client.readMessage(), "DNS cache overflow"));
  EXPECT_EQ(full.stat("dns_cache.c.host_overflow"), 1u);
  Proxy busy(forwardPlan(10, 0), optionsWith(names));
  Socket other = busy.connect();
  ask(other, "a.test");
  EXPECT(has(other.readMessage(), "Dynamic forward proxy pending request overflow"));
  EXPECT_EQ(busy.stat("dns_cache.c.dns_rq_pending_overflow"), 1u);
}

TEST("A client that leaves while it waits is forgotten") {
  Origin origin(answering("origin"));
  const auto names = std::make_shared<Names>();
  Proxy proxy(forwardPlan(), optionsWith(names));
  {
    Socket client = proxy.connect();
    ask(client, "a.test");
    EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  proxy.dataPlane().apply(answerOf("a.test:80", origin.port()));
  Socket client = proxy.connect();
  ask(client, "a.test");
  EXPECT(has(client.readMessage(), "origin"));
}

TEST("A host without a port has the usual one; brackets of IPv6 are no port") {
  EXPECT_EQ(upstream::nameWithPort("a", 80), "a:80");
  EXPECT_EQ(upstream::nameWithPort("a:1", 80), "a:1");
  EXPECT_EQ(upstream::nameWithPort("[::1]", 443), "[::1]:443");
  EXPECT_EQ(upstream::nameWithPort("[::1]:8", 443), "[::1]:8");
}

}  // namespace fairlead::test
