#include "filters/http/grpc_calls.h"

#include <mutex>

#include "base/text.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

// Of one filter and worker; with stems, beside them.
constexpr size_t kMaxCallNames = 1000;
constexpr size_t kMaxStrangeNames = 100;

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
  GrpcMethod found;
  // However many slashes are between the two, and around them.
  size_t parts = 0;
  while (true) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos) break;
    path.remove_prefix(begin);
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (++parts > 2) return {};
    (parts == 1 ? found.service : found.method) = part;
  }
  return parts == 2 ? found : GrpcMethod();
}

GrpcCalls::GrpcCalls(unsigned workers, std::string_view protocol)
    : protocol_(protocol), workers_(workers) {}

GrpcCalls::Counts* GrpcCalls::find(unsigned worker, std::string_view cluster,
                                   const GrpcMethod& method, std::string_view stem) {
  Worker& own = workers_[worker];
  own.name.assign(cluster).append("\n").append(method.service).append("\n");
  own.name.append(method.method).append("\n").append(stem);
  const auto found = own.by_name.find(own.name);
  if (found != own.by_name.end()) return &found->second;
  const bool is_strange = !stem.empty();
  const size_t usual_names = own.by_name.size() - own.strange_names;
  if (is_strange ? own.strange_names >= kMaxStrangeNames : usual_names >= kMaxCallNames) {
    return nullptr;
  }
  own.strange_names += is_strange;
  const std::lock_guard lock(own.mutex);
  return &own.by_name.try_emplace(own.name).first->second;
}

void GrpcCalls::addStatus(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                          std::string_view status) {
  Counts* const counts = find(worker, cluster, method);
  if (!counts) return;
  stats::Shard<stats::ClusterGrpc>& shard = counts->of(worker);
  addOutcome(shard, status == "0");
  uint64_t number = 0;
  const bool is_number = parseDecimal(status, &number);
  if (is_number && number < std::size(kByStatus) && status.size() == (number < 10 ? 1u : 2u)) {
    shard.add(kByStatus[number]);
    return;
  }
  const bool is_negative = status.starts_with('-') && parseDecimal(status.substr(1), &number);
  if ((is_number || is_negative) && status.size() <= kMaxStatusBytes) {
    Counts* const others = find(worker, cluster, method, status.substr(0, status.size() - 1));
    if (others) others->of(worker).add(kByStatus[number % 10]);
  }
}

void GrpcCalls::addOutcome(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                           bool succeeded) {
  Counts* const counts = find(worker, cluster, method);
  if (counts) addOutcome(counts->of(worker), succeeded);
}

void GrpcCalls::addOutcome(stats::Shard<stats::ClusterGrpc>& shard, bool succeeded) {
  shard.add(succeeded ? CallCounter::Success : CallCounter::Failure);
  shard.add(CallCounter::Total);
}

void GrpcCalls::addMessages(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                            uint64_t requests, uint64_t responses) {
  Counts* const counts = find(worker, cluster, method);
  if (!counts) return;
  stats::Shard<stats::ClusterGrpc>& shard = counts->of(worker);
  if (requests > 0) shard.add(CallCounter::RequestMessageCount, requests);
  if (responses > 0) shard.add(CallCounter::ResponseMessageCount, responses);
}

void GrpcCalls::addTime(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                        uint64_t ms) {
  Counts* const counts = find(worker, cluster, method);
  if (counts) counts->of(worker).record(stats::ClusterGrpc::Histogram::UpstreamRqTime, ms);
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
    for (auto& [name, counts] : worker.by_name) counts.publish(blockOf(registry, name));
  }
}

}  // namespace fairlead::filters
