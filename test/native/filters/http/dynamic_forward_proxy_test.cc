// Hosts that requests name.
#include <future>

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

// ---- without the filter: the router looks names up ----

namespace {

plan::Update lonelyPlan(uint32_t max_names = 10, uint64_t max_pending = 10) {
  plan::Update plan = forwardPlan(max_names, max_pending);
  managerOf(plan).http_filters.clear();
  return plan;
}

// Answers a request with a body of 5 bytes with that body.
void echoOnce(Socket& socket, int) {
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos ||
         request.size() < request.find("\r\n\r\n") + 4 + 5) {
    const std::string more = socket.read();
    if (more.empty()) return;
    request += more;
  }
  socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n" + request.substr(request.size() - 5));
}

}  // namespace

TEST("Without a filter a request waits for its host too, with what comes behind its head") {
  Origin origin(echoOnce);
  const auto names = std::make_shared<Names>();
  Proxy proxy(lonelyPlan(), optionsWith(names));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhe");
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  EXPECT_EQ(names->asked()[0], "a.test:80");
  client.write("ll");
  proxy.dataPlane().apply(answerOf("a.test:80", origin.port()));
  client.write("o");
  EXPECT(has(client.readMessage(), "hello"));
  EXPECT_EQ(names->asked().size(), 1u);
}

TEST("Without a filter a name that is nowhere has no host, now and later, on the same connection") {
  const auto names = std::make_shared<Names>();
  Proxy proxy(lonelyPlan(), optionsWith(names));
  Socket client = proxy.connect();
  ask(client, "b.test");
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  proxy.dataPlane().apply(answerOf("b.test:80", 0, "why"));
  EXPECT(has(client.readMessage(), "no healthy upstream"));
  ask(client, "b.test");
  EXPECT(has(client.readMessage(), "no healthy upstream"));
  EXPECT_EQ(names->asked().size(), 1u);
}

TEST("Without a filter there are so many names, and so many may wait") {
  const auto names = std::make_shared<Names>();
  Proxy full(lonelyPlan(0), optionsWith(names));
  Socket client = full.connect();
  ask(client, "a.test");
  EXPECT(has(client.readMessage(), "no healthy upstream"));
  EXPECT_EQ(full.stat("dns_cache.c.host_overflow"), 1u);
  Proxy busy(lonelyPlan(10, 1), optionsWith(names));
  {
    Socket leaver = busy.connect();
    ask(leaver, "a.test");
    EXPECT(busy.waitUntil([&] { return !names->asked().empty(); }));
    Socket other = busy.connect();
    ask(other, "b.test");
    EXPECT(has(other.readMessage(), "no healthy upstream"));
    EXPECT_EQ(busy.stat("dns_cache.c.dns_rq_pending_overflow"), 1u);
  }
  // Who has left makes room.
  EXPECT(busy.waitFor("http.in.downstream_rq_active", 0));
  Socket next = busy.connect();
  ask(next, "b.test");
  EXPECT(busy.waitUntil([&] { return names->asked().size() == 2; }));
  busy.dataPlane().apply(answerOf("b.test:80", 0, "why"));
  EXPECT(has(next.readMessage(), "no healthy upstream"));
}

namespace {

// A cluster "shadow" beside it, which gets copies.
plan::Update lonelyMirroredPlan(uint16_t shadow) {
  plan::Update plan = lonelyPlan();
  plan::Cluster cluster = httpPlan({}).clusters[0];
  cluster.name = "shadow";
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({shadow});
  hosts.cluster_name = "shadow";
  plan.assignments = {hosts};
  plan::MirrorPolicy& policy =
      plan.route_tables[0].virtual_hosts[0].routes[0].cluster->mirrors.emplace_back();
  policy.cluster = "shadow";
  policy.share_millionths = 1'000'000;
  return plan;
}

// A request to a.test whose body, the pieces one after the other, has come so far by the time that
// its host is known; its answer.
std::string askLate(Proxy& proxy, Names& names, uint16_t origin, const std::string& head,
                    const std::string& before, const std::string& behind) {
  Socket client = proxy.connect();
  const size_t asked = names.asked().size();
  client.write("POST / HTTP/1.1\r\nhost: a.test\r\n" + head + "\r\n" + before);
  EXPECT(proxy.waitUntil([&] { return names.asked().size() > asked; }));
  // Whoever asks now is heard after the body.
  EXPECT(proxy.waitUntil([&] { return proxy.stat("http.in.downstream_cx_rx_bytes_total") > 0; }));
  proxy.dataPlane().apply(answerOf("a.test:80", origin));
  if (!behind.empty()) {
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 1));
    client.write(behind);
  }
  return client.readMessage();
}

// What a message carries, in however many chunks it was passed on.
std::string carriedBy(const std::string& message) {
  const size_t end = message.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  const bool is_chunked = has(message.substr(0, end), "transfer-encoding: chunked");
  return is_chunked ? bodyOf(message) : message.substr(end + 4);
}

}  // namespace

TEST("A request that waits for its host is copied whole, however much of it came meanwhile") {
  struct Case {
    std::string head, before, behind;
  };
  const std::string length = "content-length: 5\r\n";
  const std::string chunked = "transfer-encoding: chunked\r\n";
  const Case cases[] = {
      {length, "hello", ""},
      {length, "", "hello"},
      {length, "he", "llo"},
      {chunked, "5\r\nhello\r\n0\r\n\r\n", ""},
      {chunked, "2\r\nhe\r\n", "3\r\nllo\r\n0\r\n\r\n"},
      {chunked, "5\r\nhello\r\n0\r\nx-last: 1\r\n\r\n", ""},
      {chunked, "0\r\n\r\n", ""},
  };
  for (const Case& one : cases) {
    Origin origin(repeatRequests);
    std::mutex mutex;
    std::string copy;
    Origin shadow([&](Socket& socket, int) {
      const std::string message = socket.readMessage();
      {
        const std::lock_guard lock(mutex);
        copy = message;
      }
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      socket.readAll();
    });
    const auto names = std::make_shared<Names>();
    Proxy proxy(lonelyMirroredPlan(shadow.port()), optionsWith(names));
    const std::string answer =
        askLate(proxy, *names, origin.port(), one.head, one.before, one.behind);
    EXPECT(answer.starts_with("HTTP/1.1 200"));
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
    const std::lock_guard lock(mutex);
    EXPECT(has(copy, "host: a.test-shadow"));
    const std::string body = one.before.starts_with("0") ? "" : "hello";
    EXPECT_EQ(carriedBy(carriedBy(answer)), body);
    EXPECT_EQ(carriedBy(copy), body);
  }
}

TEST("A copied request whose client leaves or whose time is up while it waits is not sent at all") {
  Origin origin(echoOnce);
  Origin shadow(answering("copy"));
  const auto names = std::make_shared<Names>();
  plan::Update plan = lonelyMirroredPlan(shadow.port());
  managerOf(plan).max_stream_duration_ms = 300;
  Proxy proxy(plan, optionsWith(names));
  {
    Socket leaver = proxy.connect();
    leaver.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhe");
    EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  Socket late = proxy.connect();
  late.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello");
  EXPECT(has(late.readMessage(), "504 Gateway Timeout"));
  proxy.dataPlane().apply(answerOf("a.test:80", origin.port()));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello");
  EXPECT(client.readMessage().ends_with("hello"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_total"), 1u);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_total", 1));
}

TEST("What came while a request waited is sent again, unless it is too long to be kept") {
  for (const bool is_long : {false, true}) {
    Origin origin([](Socket& socket, int number) {
      socket.readMessage();
      if (number > 0) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    const auto names = std::make_shared<Names>();
    plan::Update plan = lonelyPlan();
    plan::ClusterAction& action = *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
    plan::RetryPolicy& policy = action.retry.emplace();
    policy.retry_on = "reset";
    policy.num_retries = 1;
    if (is_long) action.body_limit_bytes = 4;
    Proxy proxy(plan, optionsWith(names));
    Socket client = proxy.connect();
    client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello");
    EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
    proxy.dataPlane().apply(answerOf("a.test:80", origin.port()));
    EXPECT(has(client.readMessage(), is_long ? "503" : "200"));
    EXPECT_EQ(proxy.stat("cluster.origin.retry_or_shadow_abandoned"), is_long ? 1u : 0u);
  }
}

TEST("A worker that stops takes requests along that wait for their hosts") {
  const auto names = std::make_shared<Names>();
  Proxy proxy(lonelyPlan(), optionsWith(names));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhe");
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  proxy.stop();
}

TEST("A host without a port has the usual one; brackets of IPv6 are no port") {
  EXPECT_EQ(upstream::nameWithPort("a", 80), "a:80");
  EXPECT_EQ(upstream::nameWithPort("a:1", 80), "a:1");
  EXPECT_EQ(upstream::nameWithPort("[::1]", 443), "[::1]:443");
  EXPECT_EQ(upstream::nameWithPort("[::1]:8", 443), "[::1]:8");
}

// ---- copies of requests, whose names are looked up for them alone ----

namespace {

// "own" has the requests; the forward proxy's cluster their copies.
plan::Update copyingPlan(uint16_t own, uint64_t max_pending = 10) {
  plan::Update plan = forwardPlan(10, max_pending);
  managerOf(plan).http_filters.clear();
  plan::Cluster cluster = httpPlan({own}).clusters[0];
  cluster.name = "own";
  plan.clusters.push_back(cluster);
  plan.assignments = {hostsOn({own})};
  plan.assignments[0].cluster_name = "own";
  plan::ClusterAction& target = *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
  plan::MirrorPolicy& policy = target.mirrors.emplace_back();
  policy.cluster = plan.clusters[0].name;
  policy.share_millionths = 1'000'000;
  policy.keeps_host = true;
  target.cluster = "own";
  return plan;
}

}  // namespace

TEST("A copy waits for the host that it names, with its body, and its request does not") {
  Origin own(answering("own"));
  std::promise<std::string> copied;
  Origin far([&copied](Socket& socket, int) { copied.set_value(socket.readMessage()); });
  const auto names = std::make_shared<Names>();
  Proxy proxy(copyingPlan(own.port()), optionsWith(names));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello");
  EXPECT(has(client.readMessage(), "own"));
  EXPECT(proxy.waitUntil([&] { return names->asked().size() == 1; }));
  EXPECT_EQ(names->asked()[0], "a.test:80");
  proxy.dataPlane().apply(answerOf("a.test:80", far.port()));
  EXPECT(copied.get_future().get().ends_with("\r\n\r\nhello"));
  client.close();
  proxy.expectQuiet();
}

TEST("A copy whose host is nowhere, or that may not wait, counts as answered so") {
  Origin own(answering("own"));
  const auto names = std::make_shared<Names>();
  Proxy proxy(copyingPlan(own.port()), optionsWith(names));
  Socket client = proxy.connect();
  ask(client, "b.test");
  EXPECT(has(client.readMessage(), "own"));
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  proxy.dataPlane().apply(answerOf("b.test:80", 0, "why"));
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_503", 1));
  ask(client, "b.test");
  EXPECT(has(client.readMessage(), "own"));
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_503", 2));
  Proxy busy(copyingPlan(own.port(), 0), optionsWith(names));
  Socket other = busy.connect();
  ask(other, "a.test");
  EXPECT(has(other.readMessage(), "own"));
  EXPECT(busy.waitFor("cluster.origin.upstream_rq_503", 1));
}

TEST("A whole copy whose host is found, and where no request may go, is over") {
  Origin own(answering("own"));
  const auto names = std::make_shared<Names>();
  plan::Update plan = copyingPlan(own.port());
  plan.clusters[0].limits.assign(2, {0, 0, 0, 0, false, {}, {}});
  Proxy proxy(plan, optionsWith(names));
  Socket client = proxy.connect();
  ask(client, "a.test");
  EXPECT(has(client.readMessage(), "own"));
  EXPECT(proxy.waitUntil([&] { return !names->asked().empty(); }));
  proxy.dataPlane().apply(answerOf("a.test:80", own.port()));
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_503", 1));
  client.close();
  proxy.expectQuiet();
}

TEST("A copy that is not whole when its client leaves waits no longer") {
  Origin own([](Socket& socket, int) { socket.readAll(); });
  const auto names = std::make_shared<Names>();
  Proxy proxy(copyingPlan(own.port(), 1), optionsWith(names));
  for (int i = 0; i < 2; ++i) {
    Socket client = proxy.connect();
    client.write("POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhel");
    EXPECT(proxy.waitFor("cluster.own.upstream_rq_active", 1));
    client.close();
    EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  }
  // Both might wait, one after the other.
  EXPECT_EQ(proxy.stat("dns_cache.c.dns_rq_pending_overflow"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_503"), 0u);
  proxy.expectQuiet();
}

}  // namespace fairlead::test
