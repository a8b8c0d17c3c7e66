// What a cluster counts of answers, whoever has asked: by status and time, by who asks, by zones.
// The worker's thread.
#pragma once

#include <cstdint>

#include "format/grpc_status.h"
#include "http/message.h"
#include "upstream/host.h"
#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

// Whose answer, to whom.
struct AnswerOf {
  WorkerCluster& cluster;
  // Null: none was chosen.
  const Host* host;
  bool is_internal;

  stats::Shard<stats::ClusterZone>* zone() const {
    stats::Block<stats::ClusterZone>* const block = host ? host->zoneStats() : nullptr;
    return block ? block->shard(cluster.context().worker + 1) : nullptr;
  }
};

// `is_plain`: under no prefix, too.
inline void countStatus(const AnswerOf& answer, uint16_t status, bool is_plain = true) {
  using stats::CodeVariant;
  stats::Shard<stats::Cluster>& stats = answer.cluster.stats();
  stats.add(stats::Cluster::Counter::UpstreamRqCompleted);
  if (is_plain) stats.countResponse(CodeVariant::All, status);
  stats.countResponse(answer.is_internal ? CodeVariant::Internal : CodeVariant::External, status);
  if (auto* const zone = answer.zone()) zone->countResponse(CodeVariant::All, status);
}

// By any thread, in its shards; `zone`: null: there is none.
inline void recordTime(stats::Shard<stats::Cluster>& stats, stats::Shard<stats::ClusterZone>* zone,
                       uint64_t ms, bool is_internal, bool is_canary) {
  using Histogram = stats::Cluster::Histogram;
  stats.record(Histogram::UpstreamRqTime, ms);
  stats.record(is_internal ? Histogram::InternalUpstreamRqTime : Histogram::ExternalUpstreamRqTime,
               ms);
  if (is_canary) stats.record(Histogram::CanaryUpstreamRqTime, ms);
  if (zone) zone->record(stats::ClusterZone::Histogram::UpstreamRqTime, ms);
}

// `is_canary`: countCanary() has said so of the answer.
inline void recordTime(const AnswerOf& answer, uint64_t ms, bool is_canary) {
  recordTime(answer.cluster.stats(), answer.zone(), ms, answer.is_internal, is_canary);
}

inline void countHost(HostCounters& host, bool is_well) {
  (is_well ? host.rq_success : host.rq_error).add();
}

// How a host did with gRPC shows in the status alone. `fields`: where it would be; null: the answer
// has ended without.
inline bool hasDoneWell(const http::HeaderMap* fields) {
  const http::HeaderEntry* const grpc = fields ? fields->find(http::HeaderId::GrpcStatus) : nullptr;
  return grpc && format::isHostWell(grpc->value());
}

// By what the host is, or is said to be in its answer. True: it was counted as such.
inline bool countCanary(const AnswerOf& answer, const http::HeaderMap& headers, uint16_t status) {
  const http::HeaderEntry* const said = headers.find(http::HeaderId::XEnvoyUpstreamCanary);
  if (!(said && said->value() == "true") && !answer.host->settings().canary) return false;
  answer.cluster.stats().countResponse(stats::CodeVariant::Canary, status);
  return true;
}

}  // namespace fairlead::upstream
