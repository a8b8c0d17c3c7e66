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

GrpcCalls::Counts* GrpcCalls::find(unsigned worker, std::string_view cluster,
                                   const GrpcMethod& method) {
  Worker& own = workers_[worker];
  own.name.assign(cluster);
  if (!method.isEmpty()) {
    own.name.append("\n").append(method.service).append("\n").append(method.method);
  }
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
  uint64_t number = 0;
  if (parseDecimal(status, &number) && number < std::size(kByStatus)) {
    counts->add(kByStatus[number]);
  } else {
    number = std::size(kByStatus);
  }
  counts->add(number == 0 ? CallCounter::Success : CallCounter::Failure);
  counts->add(CallCounter::Total);
}

void GrpcCalls::addMessages(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                            uint64_t requests, uint64_t responses) {
  Counts* const counts = find(worker, cluster, method);
  if (!counts) return;
  if (requests > 0) counts->add(CallCounter::RequestMessageCount, requests);
  if (responses > 0) counts->add(CallCounter::ResponseMessageCount, responses);
}

void GrpcCalls::publish(stats::Registry& registry) {
  for (Worker& worker : workers_) {
    const std::lock_guard lock(worker.mutex);
    for (auto& [name, counts] : worker.by_name) {
      auto& block = blocks_[name];
      if (!block) {
        const std::string_view all = name;
        const size_t first = all.find('\n');
        const std::string_view cluster = all.substr(0, first);
        std::string_view service;
        std::string_view method;
        if (first != std::string_view::npos) {
          const std::string_view call = all.substr(first + 1);
          const size_t second = call.find('\n');
          service = call.substr(0, second);
          method = call.substr(second + 1);
        }
        block = registry.create<stats::ClusterGrpc>(
            stats::grpcCallScope(cluster, protocol_, service, method));
      }
      for (size_t i = 0; i < kCounters; ++i) {
        const uint64_t now = counts.now[i].load(std::memory_order_relaxed);
        const uint64_t added = now - std::exchange(counts.published[i], now);
        if (added > 0) block->addOwn(i, added);
      }
    }
  }
}

}  // namespace fairlead::filters
