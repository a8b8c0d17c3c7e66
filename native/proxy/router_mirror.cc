// A router's copies of its request, which go to other clusters beside it.
#include <algorithm>

#include "proxy/request_rules.h"
#include "proxy/router.h"

namespace fairlead::proxy {

namespace {

// Null: there is none of that name.
upstream::WorkerCluster* clusterOf(const route::MirrorPolicy& policy, const StreamInfo& info,
                                   const http::RequestHead& head) {
  if (policy.cluster) return info.context().clusters.find(policy.cluster.id());
  const http::HeaderEntry* const name = policy.cluster_header.find(head.headers);
  if (!name || name->value_size == 0) return nullptr;
  return info.context().clusters.find(name->value());
}

}  // namespace

void Router::prepareMirrors(const http::RequestHead& head) {
  // As in the real server, what begins with a CONNECT is for one host.
  if (info_.is_connect || terminates_) return;
  const bool may_be_broken = mayBeBroken();
  for (const route::MirrorPolicy& policy : mirrorsOf(info_)) {
    if (info_.id % 1'000'000 >= policy.share.value()) continue;
    upstream::WorkerCluster* const cluster = clusterOf(policy, info_, head);
    if (!cluster) {
      log::debug(log::Component::Router, info_.tags(), "shadow cluster does not exist");
      continue;
    }
    Mirror& mirror = info_.context().mirrors.take();
    mirror.prepare(*this, info_, *cluster, policy, head, !has_body_, timeouts_.route_ms,
                   may_be_broken);
    mirrors_.push_back(&mirror);
  }
}

// After the request itself, which does not wait for its copies.
void Router::startMirrors() {
  // One connection's bytes are gathered at a time.
  if (hostStream()) hostStream()->flush();
  for (Mirror* mirror : mirrors_) mirror->start();
  if (request_complete_) leaveMirrors();
}

bool Router::isMirrorBehind() const {
  return std::any_of(mirrors_.begin(), mirrors_.end(),
                     [](const Mirror* mirror) { return mirror->isBehind(); });
}

void Router::leaveMirrors() {
  for (Mirror* mirror : mirrors_) mirror->leave();
  mirrors_.clear();
}

}  // namespace fairlead::proxy
