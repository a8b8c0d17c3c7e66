// The protobuf form of Prometheus' page, byte by byte as the real server (release 1.40) writes it.
#include <fstream>
#include <string>

#include "base/hex.h"
#include "stats/pace.h"
#include "stats/query.h"
#include "test/native/test.h"

namespace fairlead::stats {

namespace {

std::string whole(const Registry& registry, Query query) {
  const std::unique_ptr<Page> page = openMetricFamilies(registry, std::move(query));
  std::string bytes;
  while (page->next(&bytes)) {
  }
  return bytes;
}

Query ending(std::string end) {
  Query query;
  query.filter = [end = std::move(end)](std::string_view name) { return name.ends_with(end); };
  return query;
}

// A field that holds bytes; `number` below 16.
std::string field(int number, const std::string& bytes) {
  EXPECT(bytes.size() < 128);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string label(const std::string& name, const std::string& value) {
  return field(1, field(1, name) + field(2, value));
}
// A message of one double, whose value is small and whole.
std::string number(int field_number, uint8_t value) {
  constexpr const char* kDoubles[] = {"\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\xf0\x3f",
                                      "\0\0\0\0\0\0\0\x40"};
  return field(field_number, "\x09" + std::string(kDoubles[value], 8));
}
std::string delimited(const std::string& message) {
  EXPECT(message.size() < 16384);
  if (message.size() < 128) return static_cast<char>(message.size()) + message;
  return std::string{static_cast<char>(message.size() | 128),
                     static_cast<char>(message.size() >> 7)} +
         message;
}

// How many messages there are, each of them whole; -1: the last one is not.
int countMessages(std::string_view bytes) {
  int count = 0;
  while (!bytes.empty()) {
    size_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (bytes.empty()) return -1;
      const auto byte = static_cast<uint8_t>(bytes[0]);
      bytes.remove_prefix(1);
      length |= size_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    if (length > bytes.size()) return -1;
    bytes.remove_prefix(length);
    ++count;
  }
  return count;
}

std::string expected(const std::string& name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/metric_families.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ": ")) return line.substr(name.size() + 2);
  }
  return "";
}

// The values that the real server was given for metric_families.txt.
struct Recorded {
  Registry registry{1};
  std::vector<std::shared_ptr<Block<MessageSizes>>> blocks;

  Recorded() {
    std::vector<uint64_t> uniform;
    for (uint64_t i = 1; i <= 200; ++i) uniform.push_back(i);
    std::vector<uint64_t> exponential;
    for (int i = 0; i <= 20; ++i) exponential.push_back(uint64_t{1} << i);
    add("exponential", exponential);
    add("huge", {5, 1'234'567'890});
    add("never", {});
    add("single", {777});
    add("uniform", uniform);
    add("zeros", {0, 0, 0, 0, 0, 3});
    registry.flushHistograms();
  }
  void add(const char* cluster, const std::vector<uint64_t>& values) {
    blocks.push_back(registry.create<MessageSizes>(clusterScope(cluster)));
    for (const uint64_t value : values) {
      blocks.back()->shard(1)->record(MessageSizes::Histogram::UpstreamRsBodySize, value);
    }
  }
};

}  // namespace

TEST("metric families: recorded histograms are the real server's, in each form") {
  Recorded of;
  Query query = ending("upstream_rs_body_size");
  EXPECT_EQ(hexOf(whole(of.registry, query)), expected("cumulative"));
  for (const uint32_t limit : {1, 5, 20, 160}) {
    query.native_buckets = limit;
    EXPECT_EQ(hexOf(whole(of.registry, query)), expected("native " + std::to_string(limit)));
  }
  query.native_buckets.reset();
  query.buckets = Buckets::Summary;
  EXPECT_EQ(hexOf(whole(of.registry, query)), expected("summary"));
}

TEST("metric families: a counter's and a gauge's value is written, also 0") {
  Registry registry(1);
  const auto a = registry.create<Cluster>(clusterScope("a"));
  const auto b = registry.create<Cluster>(clusterScope("b"));
  a->shard(1)->add(Cluster::Counter::UpstreamRqTotal, 2);
  EXPECT_EQ(hexOf(whole(registry, ending("upstream_rq_total"))),
            hexOf(delimited(field(1, "envoy_cluster_upstream_rq_total") + std::string("\x18\0", 2) +
                            field(4, label("envoy_cluster_name", "a") + number(3, 2)) +
                            field(4, label("envoy_cluster_name", "b") + number(3, 0)))));
  b->shard(1)->set(Cluster::Gauge::MembershipTotal, 1);
  EXPECT_EQ(hexOf(whole(registry, ending("b.membership_total"))),
            hexOf(delimited(field(1, "envoy_cluster_membership_total") + "\x18\x01" +
                            field(4, label("envoy_cluster_name", "b") + number(2, 1)))));
}

TEST("metric families: values of labels are escaped as in text, names are not left as they are") {
  Registry registry(1);
  registry.setFixedLabels({{"odd name", "a\"b\\c\nd"}});
  const auto lds = registry.create<Lds>(plainScope("listener_manager.lds."));
  registry.setText(*registry.idOf("listener_manager.lds.version_text"), "\"1\"");
  Query query = ending("version_text");
  query.text_readouts = true;
  EXPECT_EQ(whole(registry, query),
            delimited(field(1, "envoy_listener_manager_lds_version_text") + "\x18\x01" +
                      field(4, label("odd_name", "a\\\"b\\\\c\\nd") +
                                   label("text_value", "\\\"1\\\"") + number(2, 0))));
}

TEST("metric families: nothing to show is no message at all") {
  Recorded of;
  EXPECT_EQ(whole(of.registry, ending("no such name")), "");
}

TEST("metric families: labels by rules are those of the text") {
  Registry registry(1);
  const auto block = registry.create<Cluster>(clusterScope("a"));
  TagRule rule;
  rule.name = "whose";
  rule.kind = TagRule::Kind::Tokens;
  rule.tokens = {"cluster", "$", "**"};
  registry.setTagProducer(std::make_unique<TagProducer>(std::vector{rule}));
  EXPECT_EQ(whole(registry, ending("upstream_rq_total")),
            delimited(field(1, "envoy_cluster_upstream_rq_total") + std::string("\x18\0", 2) +
                      field(4, label("whose", "a") + number(3, 0))));
}

TEST("metric families: pieces stay small, and what is recorded between them breaks no message") {
  Registry registry(1);
  std::vector<std::shared_ptr<Block<Cluster>>> clusters;
  for (int i = 0; i < 300; ++i) {
    clusters.push_back(registry.create<Cluster>(clusterScope("c" + std::to_string(i))));
    clusters.back()->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 1);
  }
  registry.flushHistograms();
  for (const bool is_native : {false, true}) {
    Query query;
    if (is_native) query.native_buckets = 20;
    const std::unique_ptr<Page> page = openMetricFamilies(registry, query);
    std::string bytes;
    uint64_t value = 1;
    size_t pieces = 0;
    for (bool more = true; more; ++pieces) {
      const size_t before = bytes.size();
      more = page->next(&bytes);
      EXPECT(bytes.size() - before < Page::kPieceBytes + 4096);
      // More and longer numbers than those that were measured.
      for (const auto& cluster : clusters) {
        cluster->shard(1)->record(Cluster::Histogram::UpstreamRqTime, value);
        cluster->shard(1)->add(Cluster::Counter::UpstreamRqTotal, value);
      }
      value = value * 3 + 1;
      registry.flushHistograms();
    }
    EXPECT(pieces > 10);
    EXPECT(countMessages(bytes) > 100);
  }
}

}  // namespace fairlead::stats
