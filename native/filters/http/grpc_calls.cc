#include "filters/http/grpc_calls.h"

#include <mutex>
#include <utility>

#include "base/text.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

// Of one filter and worker.
constexpr size_t kMaxCallNames = 1000;

using CallCounter = stats::ClusterGrpc::Counter;

// As long as any number that a host may mean.
constexpr size_t kMaxStatusBytes = 20;

// By status: as the catalogue has them.
constexpr CallCounter kByStatus[] = {
    CallCounter::Status0,  CallCounter::Status1,  CallCounter::Status2,  CallCounter::Status3,
    CallCounter::Status4,  CallCounter::Status5,  CallCounter::Status6,  CallCounter::Status7,
    CallCounter::Status8,  CallCounter::Status9,  CallCounter::Status10, CallCounter::Status11,
    CallCounter::Status12, CallCounter::Status13, CallCounter::Status14, CallCounter::Status15,
    CallCounter::Status16};

}  // namespace

GrpcMethod GrpcMethod::of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  if (!path.starts_with('/')) return {};
  path.remove_prefix(1);
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || path.find('/', slash + 1) != std::string_view::npos) {
    return {};
  }
  if (slash == 0 || slash + 1 == path.size()) return {};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

GrpcCalls::GrpcCalls(unsigned workers, std::string_view protocol, bool records_times)
    : protocol_(protocol), workers_(workers) {
  if (!records_times) return;
  for (Worker& worker : workers_) worker.times = std::make_unique<Times>();
}

GrpcCalls::Counts* GrpcCalls::find(unsigned worker, std::string_view cluster,
                                   const GrpcMethod& method, std::string_view stem) {
  Worker& own = workers_[worker];
  own.name.assign(cluster).append("\n").append(method.service).append("\n");
  own.name.append(method.method).append("\n").append(stem);
  const auto found = own.by_name.find(own.name);
  if (found != own.by_name.end()) return &found->second;
  if (own.by_name.size() >= kMaxCallNames) return nullptr;
  const std::lock_guard lock(own.mutex);
  return &own.by_name.try_emplace(own.name).first->second;
}

void GrpcCalls::addStatus(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                          std::string_view status) {
  Counts* const counts = find(worker, cluster, method);
  if (!counts) return;
  counts->add(status == "0" ? CallCounter::Success : CallCounter::Failure);
  counts->add(CallCounter::Total);
  uint64_t number = 0;
  const bool is_number = parseDecimal(status, &number);
  if (is_number && number < std::size(kByStatus) && status.size() == (number < 10 ? 1u : 2u)) {
    counts->add(kByStatus[number]);
    return;
  }
  const bool is_negative = status.starts_with('-') && parseDecimal(status.substr(1), &number);
  if ((is_number || is_negative) && status.size() <= kMaxStatusBytes) {
    Counts* const others = find(worker, cluster, method, status.substr(0, status.size() - 1));
    if (others) others->add(kByStatus[number % 10]);
  }
}

void GrpcCalls::addMessages(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                            uint64_t requests, uint64_t responses) {
  Counts* const counts = find(worker, cluster, method);
  if (!counts) return;
  if (requests > 0) counts->add(CallCounter::RequestMessageCount, requests);
  if (responses > 0) counts->add(CallCounter::ResponseMessageCount, responses);
}

void GrpcCalls::addTime(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                        uint64_t ms) {
  if (!find(worker, cluster, method)) return;
  Worker& own = workers_[worker];
  Times& times = *own.times;
  const uint64_t put = times.put.load(std::memory_order_relaxed);
  if (put - times.taken.load(std::memory_order_acquire) == times.ring.size()) return;
  // Names stay where they are.
  times.ring[put % times.ring.size()] = {&own.by_name.find(own.name)->first, ms};
  times.put.store(put + 1, std::memory_order_release);
}

stats::Block<stats::ClusterGrpc>& GrpcCalls::blockOf(stats::Registry& registry,
                                                     const std::string& name) {
  auto& block = blocks_[name];
  if (block) return *block;
  std::string_view rest = name;
  const auto next = [&rest] {
    const size_t size = rest.find('\n');
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(size == std::string_view::npos ? rest.size() : size + 1);
    return part;
  };
  const std::string_view cluster = next();
  const std::string_view service = next();
  const std::string_view method = next();
  stats::Scope scope = stats::grpcCallScope(cluster, protocol_, service, method);
  const std::string_view stem = next();
  scope.prefix += stem;
  scope.metric_prefix += stem;
  block = registry.create<stats::ClusterGrpc>(scope);
  return *block;
}

void GrpcCalls::publish(stats::Registry& registry) {
  for (Worker& worker : workers_) {
    const std::lock_guard lock(worker.mutex);
    for (auto& [name, counts] : worker.by_name) {
      stats::Block<stats::ClusterGrpc>& block = blockOf(registry, name);
      for (size_t i = 0; i < kCounters; ++i) {
        const uint64_t now = counts.now[i].load(std::memory_order_relaxed);
        const uint64_t added = now - std::exchange(counts.published[i], now);
        if (added > 0) block.addOwn(i, added);
      }
    }
    if (!worker.times) continue;
    Times& times = *worker.times;
    const uint64_t put = times.put.load(std::memory_order_acquire);
    for (uint64_t at = times.taken.load(std::memory_order_relaxed); at < put; ++at) {
      const Times::Time& time = times.ring[at % times.ring.size()];
      blockOf(registry, *time.name)
          .shard(0)
          ->record(stats::ClusterGrpc::Histogram::UpstreamRqTime, time.ms);
    }
    times.taken.store(put, std::memory_order_release);
  }
}

}  // namespace fairlead::filters
