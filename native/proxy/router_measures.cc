// What a router records of sizes and times, where its cluster wants it.
#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

namespace {

using BudgetHistogram = stats::ClusterTimeoutBudgets::Histogram;
using SizeHistogram = stats::ClusterSizes::Histogram;

struct HeadSize {
  uint64_t count = 0;
  uint64_t bytes = 0;

  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    ++count;
    bytes += name.size() + value.size();
  }
  void add(const http::HeaderMap& headers) {
    for (const http::HeaderEntry& entry : headers) {
      // Of those that were taken out nothing is left.
      if (entry.name().empty()) continue;
      ++count;
      bytes += entry.name().size() + entry.value().size();
    }
  }
};

// Percent; 0: there is no limit.
uint64_t shareOf(uint64_t ms, uint64_t limit_ms) { return limit_ms == 0 ? 0 : ms * 100 / limit_ms; }

}  // namespace

void Router::measureRequest(const http::RequestHead& head) {
  const auto& sizes = measures()->sizes;
  if (!sizes) return;
  HeadSize size;
  size.add(":method", head.method);
  size.add(":path", head.path);
  size.add(":authority", head.authority);
  size.add(":scheme", info_.scheme);
  size.add(head.headers);
  stats::Shard<stats::ClusterSizes>& shard = *sizes->shard(info_.context().upstream.worker + 1);
  shard.record(SizeHistogram::UpstreamRqHeadersSize, size.bytes);
  shard.record(SizeHistogram::UpstreamRqHeadersCount, size.count);
}

void Router::measureAnswer(const http::ResponseHead& head) {
  const auto& sizes = measures()->sizes;
  if (!sizes) return;
  HeadSize size;
  size.add(":status", "200");
  size.add(head.headers);
  stats::Shard<stats::ClusterSizes>& shard = *sizes->shard(info_.context().upstream.worker + 1);
  shard.record(SizeHistogram::UpstreamRsHeadersSize, size.bytes);
  shard.record(SizeHistogram::UpstreamRsHeadersCount, size.count);
}

void Router::measureBodies() {
  const auto& sizes = measures()->sizes;
  if (!sizes || info_.attempts == 0 || info_.upstream_protocol.empty()) return;
  stats::Shard<stats::ClusterSizes>& shard = *sizes->shard(info_.context().upstream.worker + 1);
  shard.record(SizeHistogram::UpstreamRqBodySize, info_.bytes_received);
  shard.record(SizeHistogram::UpstreamRsBodySize, info_.bytes_sent);
}

void Router::measureTime() {
  const auto& budgets = measures()->budgets;
  if (!budgets || info_.request_forwarded_us == 0) return;
  const uint64_t ms = (loop().nowMicros() - info_.request_forwarded_us) / 1000;
  budgets->shard(info_.context().upstream.worker + 1)
      ->record(BudgetHistogram::UpstreamRqTimeoutBudgetPercentUsed,
               shareOf(ms, timeouts_.route_ms));
}

void Router::measureTry(const Attempt& attempt) {
  const auto& budgets = measures()->budgets;
  if (!budgets || timeouts_.try_ms == 0) return;
  budgets->shard(info_.context().upstream.worker + 1)
      ->record(BudgetHistogram::UpstreamRqTimeoutBudgetPerTryPercentUsed,
               shareOf(loop().now() - attempt.began_at, timeouts_.try_ms));
}

}  // namespace fairlead::proxy
