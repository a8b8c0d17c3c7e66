// All logs for services by their numbers. The control thread makes them, and has workers give what
// they hold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "access_log/service_log.h"
#include "log_files/log_file.h"
#include "log_files/worker_post.h"

namespace fairlead::access_log {

class ServiceLogs {
 public:
  // `sink`: null: nothing is sent, as where a configuration is only tried out.
  ServiceLogs(size_t workers, log_files::WorkerPost& post, std::shared_ptr<EntrySink> sink)
      : workers_(workers), post_(post), sink_(std::move(sink)) {}

  std::shared_ptr<ServiceLog> open(const plan::LogBuffer& plan, stats::Registry& registry) {
    if (std::shared_ptr<ServiceLog> known = find(plan.id)) return known;
    const stats::Scope scope = stats::plainScope(plan.stat_prefix);
    ServiceStats stats;
    if (plan.is_http) {
      stats.http = registry.create<stats::AccessLogHttp>(scope);
    } else {
      stats.grpc = registry.create<stats::AccessLogService>(scope);
    }
    auto log = std::make_shared<ServiceLog>(plan, workers_, std::move(stats),
                                            sink_ ? sink_ : std::make_shared<Nobody>());
    logs_[plan.id] = log;
    return log;
  }
  // What is held of that service goes to the sink, soon.
  void flush(uint32_t id) {
    const std::shared_ptr<ServiceLog> log = find(id);
    if (!log) return;
    log->flush(log_files::kControlThread);
    for (size_t worker = 0; worker < workers_; ++worker) {
      post_.send(worker, [log, worker] { log->flush(worker); });
    }
  }
  void setBlocked(uint32_t id, bool is_blocked) {
    if (const std::shared_ptr<ServiceLog> log = find(id)) log->setBlocked(is_blocked);
  }

 private:
  struct Nobody final : EntrySink {
    bool onEntries(uint32_t, uint64_t, std::string) override { return true; }
  };

  // Null: no access log writes to it.
  std::shared_ptr<ServiceLog> find(uint32_t id) {
    const auto found = logs_.find(id);
    return found == logs_.end() ? nullptr : found->second.lock();
  }

  const size_t workers_;
  log_files::WorkerPost& post_;
  const std::shared_ptr<EntrySink> sink_;
  std::map<uint32_t, std::weak_ptr<ServiceLog>> logs_;
};

}  // namespace fairlead::access_log
