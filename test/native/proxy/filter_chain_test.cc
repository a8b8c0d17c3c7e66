// Which of its filters a request passes, and how they stop it and let it go on.
#include <functional>

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using filters::FilterPlace;
using filters::FilterStatus;
using filters::LocalReply;

// What a filter of a test does with an answer; requests pass it.
struct Script {
  FilterStatus head = FilterStatus::Continue;
  FilterStatus data = FilterStatus::Continue;
  FilterStatus trailers = FilterStatus::Continue;
  // At the end of the turn in which a message was stopped; null: never.
  std::function<void(FilterPlace&)> later = nullptr;
  bool stops_request = false;
};

class Scripted final : public filters::HttpFilter, private net::Deferred {
 public:
  Scripted(const Script& script, FilterPlace& place) : script_(script), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    return script_.stops_request ? stop(FilterStatus::Pause) : FilterStatus::Continue;
  }
  FilterStatus onResponseHead(uint16_t, http::HeaderMap&, bool, Arena&) override {
    return stop(script_.head);
  }
  void onResponseHeadReleased(uint16_t&, http::HeaderMap& headers, Arena&) override {
    headers.add(http::HeaderId::Other, "x-released", "1");
  }
  FilterStatus onResponseData(std::string_view, bool) override { return stop(script_.data); }
  FilterStatus onResponseTrailers(http::HeaderMap&) override { return stop(script_.trailers); }
  LocalReply answer() const override { return {503, "no", "of_a_test"}; }

 private:
  void onDeferred() override { script_.later(place_); }
  FilterStatus stop(FilterStatus status) {
    if (status != FilterStatus::Continue && script_.later) place_.loop().defer(this);
    return status;
  }

  const Script& script_;
  FilterPlace& place_;
};

class ScriptedConfig final : public filters::HttpFilterConfig {
 public:
  explicit ScriptedConfig(Script script) : script_(std::move(script)) {}
  filters::HttpFilter* make(filters::FilterMemory& memory, const filters::FilterScope& scope,
                            FilterPlace& place) const override {
    scope.notes.sees_response_body = true;
    return memory.make<Scripted>(script_, place);
  }

 private:
  const Script script_;
};

worker::DataPlane::Options passing(Script script) {
  worker::DataPlane::Options options;
  options.last_filter = std::make_shared<ScriptedConfig>(std::move(script));
  return options;
}

void goOn(FilterPlace& place) { place.continueResponse(); }

}  // namespace

TEST("An answer that is stopped at its head goes on whole, and its head may be changed then") {
  Origin origin(answering("origin"));
  Proxy proxy(httpPlan({origin.port()}),
              passing({.head = FilterStatus::Pause, .data = FilterStatus::Pause, .later = goOn}));
  for (int i = 0; i < 3; ++i) {
    const std::string answer = get(proxy, "/");
    EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT(has(answer, "x-released: 1\r\n"));
    EXPECT(answer.ends_with("origin"));
  }
}

TEST(
    "An answer that one filter wants whole and that is too long becomes 500, without its filters") {
  Origin origin(answering(std::string(100'000, 'x')));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].per_connection_buffer_limit_bytes = 10'000;
  Proxy proxy(plan, passing({.head = FilterStatus::Pause, .data = FilterStatus::Buffer}));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 500 "));
  EXPECT(answer.ends_with("Internal Server Error"));
  EXPECT_EQ(proxy.stat("http.in.rs_too_large"), 1u);
}

TEST("An answer that is too long breaks off when its head has gone out") {
  Origin origin(answering(std::string(100'000, 'x')));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].per_connection_buffer_limit_bytes = 10'000;
  Proxy proxy(plan, passing({.data = FilterStatus::Buffer}));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const std::string answer = client.readAll();
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(!has(answer, "xxx"));
}

TEST("A filter answers in place of the host, at once or later") {
  Origin origin(answering("origin"));
  Proxy at_once(httpPlan({origin.port()}), passing({.head = FilterStatus::Answer}));
  EXPECT(get(at_once, "/").starts_with("HTTP/1.1 503 "));
  const auto later = [](FilterPlace& place) { place.answer({504, "late", "of_a_test"}); };
  Proxy of_answer(
      httpPlan({origin.port()}),
      passing({.head = FilterStatus::Pause, .data = FilterStatus::Pause, .later = later}));
  EXPECT(get(of_answer, "/").starts_with("HTTP/1.1 504 "));
  Proxy of_request(httpPlan({origin.port()}), passing({.later = later, .stops_request = true}));
  EXPECT(get(of_request, "/").ends_with("late"));
}

TEST("What a filter takes is replaced by what it injects") {
  Origin origin(answering("origin"));
  const auto inject = [](FilterPlace& place) { place.injectResponseData("filter", true); };
  Proxy proxy(httpPlan({origin.port()}), passing({.data = FilterStatus::Take, .later = inject}));
  EXPECT(get(proxy, "/").ends_with("filter"));
}

TEST("A client that leaves while a filter holds its answer leaves nothing behind") {
  Origin origin(answering("origin"));
  Proxy proxy(httpPlan({origin.port()}), passing({.head = FilterStatus::Pause}));
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_completed", 1));
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
}

TEST("Of a weighted cluster its own word about filters counts") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc"));
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.cluster->cluster.clear();
  route.cluster->weighted.emplace();
  route.cluster->weighted->clusters.emplace_back();
  plan::WeightedCluster& only = route.cluster->weighted->clusters[0];
  only.name = "origin";
  only.weight = 1;
  Proxy usual(plan);
  EXPECT(!has(get(usual, "/hc"), "origin"));
  only.filters = {{0, true, {}}};
  Proxy own(plan);
  EXPECT(has(get(own, "/hc"), "origin"));
}

TEST("A route switches filters off, and those that are off by default on") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/off"));
  managerOf(plan).http_filters.push_back(healthCheckOn("/on"));
  managerOf(plan).http_filters[1].disabled = true;
  Proxy usual(plan);
  EXPECT(!has(get(usual, "/off"), "origin"));
  EXPECT(has(get(usual, "/on"), "origin"));
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.filters = {{0, true, {}}, {1, false, {}}};
  Proxy toggled(plan);
  EXPECT(has(get(toggled, "/off"), "origin"));
  EXPECT(!has(get(toggled, "/on"), "origin"));
}

}  // namespace fairlead::test
