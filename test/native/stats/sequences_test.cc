// Recorded sequences against the real server's pages (release 1.40): it got answers of these sizes,
// and histogram_sequences.txt is what it said of them, as summaries, then after another flush as
// buckets and bins, and for Prometheus.
#include <fstream>
#include <sstream>
#include <string>

#include "stats/query.h"
#include "test/native/test.h"

namespace fairlead::stats {

namespace {

std::string expected() {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/histogram_sequences.txt");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Sequence {
  const char* name;
  std::vector<uint64_t> values;
};

std::vector<Sequence> sequences() {
  std::vector<uint64_t> uniform;
  for (uint64_t i = 1; i <= 200; ++i) uniform.push_back(i);
  std::vector<uint64_t> exponential;
  for (int i = 0; i <= 20; ++i) exponential.push_back(uint64_t{1} << i);
  return {{"exponential", exponential},
          {"huge", {5, 1'234'567'890}},
          {"single", {777}},
          {"uniform", uniform},
          {"zeros", {0, 0, 0, 0, 0, 3}}};
}

void append(std::unique_ptr<Page> page, std::string* text) {
  while (page->next(text)) {
  }
}

}  // namespace

TEST("uniform, exponential, single, zero and huge values print as the real server prints them") {
  Registry registry(1);
  std::vector<std::shared_ptr<Block<MessageSizes>>> blocks;
  for (const Sequence& sequence : sequences()) {
    blocks.push_back(registry.create<MessageSizes>(clusterScope(sequence.name)));
    for (const uint64_t value : sequence.values) {
      blocks.back()->shard(1)->record(MessageSizes::Histogram::UpstreamRsBodySize, value);
    }
  }
  const auto query = [](std::optional<Buckets> buckets) {
    Query query;
    query.buckets = buckets;
    query.filter = [](std::string_view name) { return name.ends_with("upstream_rs_body_size"); };
    return query;
  };
  std::string text;
  registry.flushHistograms();
  append(openText(registry, query(Buckets::Summary)), &text);
  registry.flushHistograms();
  append(openText(registry, query(Buckets::Cumulative)), &text);
  append(openText(registry, query(Buckets::Detailed)), &text);
  append(openPrometheus(registry, query(std::nullopt)), &text);
  EXPECT_EQ(text, expected());
}

}  // namespace fairlead::stats
