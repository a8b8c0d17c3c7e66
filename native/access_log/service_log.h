// Entries for a service, gathered by each worker, and by the control thread, in a buffer of its own
// without a lock; the control thread sends them. While the service does not take any more, buffers
// fill up, and what they have no room for is dropped and counted.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "access_log/entry_sink.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::access_log {

// Those of one kind are there.
struct ServiceStats {
  std::shared_ptr<stats::Block<stats::AccessLogService>> grpc;
  std::shared_ptr<stats::Block<stats::AccessLogHttp>> http;

  void countWritten(size_t shard) const {
    if (grpc) grpc->shard(shard)->add(stats::AccessLogService::Counter::LogsWritten);
    if (http) http->shard(shard)->add(stats::AccessLogHttp::Counter::LogsWritten);
  }
  void countDropped(size_t shard, uint64_t count = 1) const {
    if (grpc) grpc->shard(shard)->add(stats::AccessLogService::Counter::LogsDropped, count);
    if (http) http->shard(shard)->add(stats::AccessLogHttp::Counter::LogsDropped, count);
  }
};

class ServiceLog {
 public:
  // `workers`: lanes besides the control thread's.
  ServiceLog(const plan::LogBuffer& plan, size_t workers, ServiceStats stats,
             std::shared_ptr<EntrySink> sink)
      : id_(plan.id),
        most_bytes_(plan.bytes),
        counts_losses_alone_(plan.counts_losses_alone),
        stats_(std::move(stats)),
        sink_(std::move(sink)),
        lanes_(workers + 1) {}

  // ---- a worker's thread, or the control thread's (log_files::kControlThread) ----
  // Where the next entry goes; null: it is lost. Then entryDone().
  std::string* begin(size_t worker);
  void entryDone(size_t worker);
  // What is there goes, unless the service takes none.
  void flush(size_t worker);

  // ---- the control thread ----
  void setBlocked(bool is_blocked) { is_blocked_.store(is_blocked, std::memory_order_relaxed); }
  size_t workers() const { return lanes_.size() - 1; }

 private:
  struct alignas(64) Lane {
    std::string entries;
    uint64_t count = 0;
  };

  const uint32_t id_;
  const size_t most_bytes_;
  const bool counts_losses_alone_;
  const ServiceStats stats_;
  const std::shared_ptr<EntrySink> sink_;
  std::atomic<bool> is_blocked_{false};
  std::vector<Lane> lanes_;
};

}  // namespace fairlead::access_log
