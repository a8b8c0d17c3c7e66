// How many requests are let through.
#include "filters/http/local_buckets.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr uint64_t kHourUs = 3'600'000'000;

plan::LocalRatelimit limitOf(uint64_t tokens) {
  plan::LocalRatelimit limit;
  limit.stat_prefix = "rl";
  limit.status = 429;
  limit.enabled = plan::Share{1'000'000, 0};
  limit.enforced = plan::Share{1'000'000, 0};
  limit.always_asks_bucket = true;
  limit.bucket = plan::TokenBucket{tokens, 1, kHourUs};
  return limit;
}

plan::Update withLimit(uint16_t port, plan::LocalRatelimit limit) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].local_ratelimit = std::move(limit);
  return plan;
}

plan::LocalDescriptor descriptorOf(const std::string& key, const std::string& value) {
  plan::LocalDescriptor descriptor;
  descriptor.entries.push_back({key, value});
  descriptor.bucket = plan::TokenBucket{1, 1, kHourUs};
  return descriptor;
}

plan::RateLimits byHeader(const std::string& header, const std::string& key) {
  plan::RateLimitAction action;
  action.kind = plan::RateLimitAction::Kind::Header;
  action.key = key;
  action.name = header;
  plan::RateLimits limits;
  limits.limits.emplace_back();
  limits.limits[0].actions.push_back(action);
  return limits;
}

}  // namespace

TEST("Requests beyond the bucket are answered, and counted") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(1);
  limit.tells_limit = true;
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  const std::string first = get(proxy, "/");
  EXPECT(has(first, "x-ratelimit-limit: 1\r\n"));
  EXPECT(has(first, "x-ratelimit-remaining: 0\r\n"));
  const std::string second = get(proxy, "/");
  EXPECT(second.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT(has(second, "local_rate_limited"));
  EXPECT(has(second, "x-ratelimit-reset: "));
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.enabled"), 2u);
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.ok"), 1u);
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.rate_limited"), 1u);
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.enforced"), 1u);
}

TEST("A refusal with 429 says when there is a token, where that is wanted") {
  Origin origin(answering("origin"));
  for (const uint32_t status : {429u, 503u}) {
    plan::LocalRatelimit limit = limitOf(1);
    limit.tells_retry_after = true;
    limit.status = status;
    Proxy proxy(withLimit(origin.port(), std::move(limit)));
    EXPECT(!has(get(proxy, "/"), "retry-after"));
    EXPECT_EQ(has(get(proxy, "/"), "retry-after: 3600\r\n"), status == 429);
  }
}

TEST("What is not enforced goes on, and a limit that is off counts nothing") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(0);
  limit.enforced = plan::Share{0, 0};
  Proxy proxy(withLimit(origin.port(), limit));
  EXPECT(has(get(proxy, "/"), "origin"));
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.rate_limited"), 1u);
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.enforced"), 0u);
  limit.enabled = plan::Share{0, 0};
  Proxy off(withLimit(origin.port(), std::move(limit)));
  EXPECT(has(get(off, "/"), "origin"));
  EXPECT_EQ(off.stat("rl.http_local_rate_limit.enabled"), 0u);
}

TEST("A descriptor has a bucket of its own, which no other value touches") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(100);
  limit.always_asks_bucket = false;
  limit.own_limits = byHeader("x-user", "user");
  limit.descriptors.push_back(descriptorOf("user", "ann"));
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  EXPECT(has(get(proxy, "/", "x-user: ann\r\n"), "origin"));
  EXPECT(has(get(proxy, "/", "x-user: ann\r\n"), "429"));
  EXPECT(has(get(proxy, "/", "x-user: bob\r\n"), "origin"));
  EXPECT(has(get(proxy, "/"), "origin"));
}

TEST("A parameter of a query is limited by what it means, however it is written") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(100);
  limit.always_asks_bucket = false;
  limit.own_limits = byHeader("the user", "user");
  limit.own_limits->limits[0].actions[0].kind = plan::RateLimitAction::Kind::QueryParameter;
  limit.descriptors.push_back(descriptorOf("user", "ann"));
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  EXPECT(has(get(proxy, "/?the%20user=ann"), "origin"));
  EXPECT(has(get(proxy, "/?the%20user=a%6en"), "429"));
  EXPECT(has(get(proxy, "/?the%20user=a%256en"), "origin"));
}

TEST("A descriptor without a value has a bucket for each value, of which the last used are kept") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(100);
  limit.most_kept_buckets = 2;
  limit.own_limits = byHeader("x-user", "user");
  limit.descriptors.push_back(descriptorOf("user", ""));
  limit.descriptors.push_back(descriptorOf("user", "closed"));
  limit.descriptors[1].bucket = plan::TokenBucket{0, 1, kHourUs};
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  const auto passes = [&](const std::string& user) {
    return has(get(proxy, "/", "x-user: " + user + "\r\n"), "origin");
  };
  EXPECT(passes("ann"));
  EXPECT(passes("bob"));
  EXPECT(!passes("ann"));
  EXPECT(!passes("closed"));
  // It takes the place of the one that was asked least lately.
  EXPECT(passes("carl"));
  EXPECT(!passes("ann"));
  EXPECT(passes("bob"));
  EXPECT(passes(""));
}

TEST("A request may take several tokens, and say what answers tell") {
  using Tells = plan::RateLimit::XRateLimit;
  plan::LocalRatelimit limit = limitOf(100);
  limit.descriptors.push_back(descriptorOf("user", "ann"));
  limit.descriptors[0].bucket = plan::TokenBucket{5, 1, kHourUs};
  auto buckets = filters::LocalBuckets::build(limit, 0).value();
  filters::Descriptor asked;
  filters::appendEntry("user", "ann", &asked.entries);
  asked.hits = 3;
  asked.tells_limit = Tells::Off;
  const auto first = buckets->take({asked}, 0);
  EXPECT(first.passes);
  EXPECT(first.tells_limit == Tells::Off);
  EXPECT_EQ(first.by->remaining(0), 2u);
  EXPECT(!buckets->take({asked}, 0).passes);
  asked.hits = 0;
  EXPECT(!buckets->take({asked}, 0).passes);
  asked.hits = 1;
  EXPECT(!buckets->take({asked}, 0, 3).passes);
  asked.hits = 2;
  EXPECT(buckets->take({asked}, 0).passes);
}

TEST("A descriptor in shadow mode is counted alone") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(100);
  limit.own_limits = byHeader("x-user", "user");
  limit.descriptors.push_back(descriptorOf("user", "ann"));
  limit.descriptors[0].shadow_mode = true;
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  for (int i = 0; i < 3; ++i) EXPECT(has(get(proxy, "/", "x-user: ann\r\n"), "origin"));
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.shadow_mode"), 2u);
  EXPECT_EQ(proxy.stat("rl.http_local_rate_limit.enforced"), 0u);
}

TEST("Each connection may have a bucket of its own") {
  Origin origin(answering("origin"));
  plan::LocalRatelimit limit = limitOf(1);
  limit.per_connection = true;
  Proxy proxy(withLimit(origin.port(), std::move(limit)));
  Socket client = proxy.connect();
  const std::string request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
  client.write(request);
  EXPECT(has(client.readMessage(), "origin"));
  client.write(request);
  EXPECT(has(client.readMessage(), "429"));
  EXPECT(has(get(proxy, "/"), "origin"));
}

TEST("A route's limit takes the place of the filter's, with its own bucket") {
  Origin origin(answering("origin"));
  plan::Update plan = withLimit(origin.port(), limitOf(0));
  plan::RouteTable& table = plan.route_tables[0];
  plan::FilterConfig config;
  config.local_ratelimit = limitOf(1);
  table.filter_configs.push_back(std::move(config));
  plan::RouteFilter own;
  own.configs = {0};
  table.virtual_hosts[0].routes[0].filters = {own};
  Proxy proxy(std::move(plan));
  EXPECT(has(get(proxy, "/"), "origin"));
  EXPECT(has(get(proxy, "/"), "429"));
}

TEST("A bucket that is never filled is refused") {
  plan::LocalRatelimit limit = limitOf(1);
  limit.bucket = plan::TokenBucket{1, 0, kHourUs};
  EXPECT(!filters::LocalBuckets::build(limit, 0));
}

}  // namespace fairlead::test
