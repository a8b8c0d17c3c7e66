#include <algorithm>
#include <string>

#include "worker/data_plane.h"

namespace fairlead::worker {

namespace {
using stats::plainScope;
}

// ---- statistics that the control plane counts by itself ----

void DataPlane::addHttp2Stats(upstream::Cluster& cluster) {
  cluster.keepStats(
      registry_.create<stats::Http2Codec>(innerScope(cluster.stats().scope(), "http2.")));
}

const std::string& DataPlane::addGoogleGrpcStats(std::string_view stat_prefix,
                                                 const std::string& owner) {
  const stats::Scope scope = stats::googleGrpcScope(stat_prefix);
  other_stats_.push_back(registry_.create<stats::GoogleGrpc>(
      owner.empty() ? scope : innerScope(scopeOf(owner), scope.prefix)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addTracerStats(std::string_view kind) {
  const auto scope = [kind] { return plainScope("tracing." + std::string(kind) + "."); };
  if (kind == "zipkin") {
    other_stats_.push_back(registry_.create<stats::ZipkinTracer>(scope()));
  } else if (kind == "opentelemetry") {
    other_stats_.push_back(registry_.create<stats::OpenTelemetryTracer>(scope()));
  } else if (kind == "datadog") {
    other_stats_.push_back(registry_.create<stats::DatadogTracer>(scope()));
  } else {
    other_stats_.push_back(registry_.create<stats::SkyWalkingTracer>(scope()));
  }
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addLdsStats() {
  other_stats_.push_back(registry_.create<stats::Lds>(plainScope("listener_manager.lds.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addCdsStats() {
  other_stats_.push_back(registry_.create<stats::Cds>(plainScope("cluster_manager.cds.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addRdsStats(std::string_view http_prefix, std::string_view name) {
  other_stats_.push_back(registry_.create<stats::Rds>(stats::rdsScope(http_prefix, name)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addVhdsStats(std::string_view http_prefix, std::string_view name) {
  other_stats_.push_back(registry_.create<stats::Vhds>(stats::vhdsScope(http_prefix, name)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addScopedRdsStats(std::string_view http_prefix,
                                                std::string_view name) {
  other_stats_.push_back(
      registry_.create<stats::ScopedRds>(stats::scopedRdsScope(http_prefix, name)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addExtensionStats(std::string_view kind, std::string_view name) {
  other_stats_.push_back(
      registry_.create<stats::ExtensionDiscovery>(stats::extensionDiscoveryScope(kind, name)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addLedsStats(std::string_view cluster) {
  other_stats_.push_back(registry_.create<stats::Leds>(stats::ledsScope(cluster)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addOdcdsStats() {
  other_stats_.push_back(registry_.create<stats::Odcds>(plainScope("cluster_manager.odcds.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addControlPlaneStats(const std::string& prefix) {
  other_stats_.push_back(registry_.create<stats::ControlPlane>(controlPlaneScope(scopeOf(prefix))));
  return other_stats_.back()->scope().prefix;
}

// With the labels of the owner, which is known by how its names begin.
stats::Scope DataPlane::scopeOf(const std::string& owner) const {
  const auto found =
      std::find_if(other_stats_.begin(), other_stats_.end(),
                   [&owner](const auto& block) { return block->scope().prefix == owner; });
  if (found != other_stats_.end()) return (*found)->scope();
  constexpr std::string_view kCluster = "cluster.";
  if (!owner.starts_with(kCluster)) return plainScope(owner);
  return stats::clusterScope(std::string_view(owner).substr(kCluster.size()));
}

const std::string& DataPlane::addLoadReporterStats() {
  other_stats_.push_back(registry_.create<stats::LoadReporter>(plainScope("load_reporter.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addHdsStats() {
  other_stats_.push_back(registry_.create<stats::HdsDelegate>(plainScope("hds_delegate.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addRtdsStats() {
  other_stats_.push_back(registry_.create<stats::Rtds>(plainScope("runtime.")));
  return other_stats_.back()->scope().prefix;
}

void DataPlane::removeStats(std::string_view prefix) {
  const auto found =
      std::find_if(other_stats_.begin(), other_stats_.end(),
                   [prefix](const auto& block) { return block->scope().prefix == prefix; });
  if (found != other_stats_.end()) other_stats_.erase(found);
}

const std::string& DataPlane::addSdsStats(std::string_view secret) {
  other_stats_.push_back(registry_.create<stats::Sds>(stats::sdsScope(secret)));
  return other_stats_.back()->scope().prefix;
}

void DataPlane::refreshStats(const stats::NameTest& may_begin) {
  countMisses();
  countWatchdogActions();
  names_.refreshGauges();
  faults_.publish(registry_);
  late_counts_.publish(registry_);
  publishers_.publish();
  if (!may_begin || may_begin("cluster.")) clusters_.refreshGauges();
  listeners_.refreshGauges();
  sweep();
}

}  // namespace fairlead::worker
