// A router's wait for the host that a request names: where nobody has looked it up before, as a
// filter may have, the router does.
#include "proxy/downstream.h"
#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using ClusterCounter = stats::Cluster::Counter;

bool Router::waitsForHost(const http::RequestHead& head) {
  const plan::NamedHosts& hosts = *info_.cluster->namedHosts();
  wishByName(hosts, head.authority);
  upstream::NameCache* const names = info_.cluster->cluster().names();
  // Clusters of their own are made for filters alone.
  if (!names || !hosts.cluster_prefix.empty() || !wanted_->no_host.empty()) return false;
  const unsigned worker = info_.context().upstream.worker;
  const net::Millis now = loop().now();
  const upstream::KnownName* known = names->find(worker, wanted_->name, now);
  if (known && known->failure.empty()) return false;
  // Its owner is a private base: only it may say so.
  if (!host_wait_) host_wait_.reset(new HostWait(*this));
  using State = upstream::NameCache::State;
  const State state = names->enterAndAsk(worker, wanted_->name, now, host_wait_->waiter(), &known);
  switch (state) {
    case State::Waits:
      host_wait_->begin(*names, head);
      return true;
    case State::Busy:
      wanted_->no_host = "dns_cache_pending_requests_overflow";
      break;
    case State::Full:
      wanted_->no_host = "dns_cache_overflow";
      break;
    case State::Known:
      wanted_->no_host = "dns_resolution_failure{" + known->failure + "}";
      break;
  }
  return false;
}

// What comes behind the head meanwhile.
void Router::keepForHost(std::string_view data) {
  kept_body_.append(loop().slabs(), data);
  if (kept_body_.size() > info_.bufferLimit()) pauseClient();
}

// As if the head came now.
void Router::onHostName(const std::string& failure) {
  const uint64_t id = info_.id;
  // It is another head's by now.
  info_.context().arena.reset();
  http::RequestHead& head = info_.context().released;
  const http::SavedHead& kept = host_wait_->head;
  kept.restore(&head.headers);
  head.method = kept.method();
  head.path = kept.path();
  head.authority = kept.authority();
  host_wait_->stop();
  info_.live_head = &head;
  is_late_ = true;
  if (failure.empty()) {
    const route::RequestView view = info_.viewOf(head);
    forwardTo(head, view, choosePool(view));
  } else {
    wanted_->no_host = "dns_resolution_failure{" + failure + "}";
    forwardTo(head, info_.viewOf(head), nullptr);
  }
  // It may be over, or its stream be at the next one.
  if (!info_.server || info_.id != id) return;
  is_late_ = false;
  info_.live_head = nullptr;
  stream_.keepHead(head);
  // As if it came now, too.
  if (!kept_body_.empty() && isTooEarly()) answerInPlace({400, {}, "early_connect_data"});
}

// What is too long to be sent twice is sent once.
void Router::boundKept() {
  if (!keepsRequest() || mayKeep(kept_body_.size())) return;
  clusterStats().add(ClusterCounter::RetryOrShadowAbandoned);
  endRetries();
  may_redirect_ = false;
}

// Before the request itself, which may let go of what came behind its head.
void Router::startMirrorsLate() {
  const bool has_trailers = kept_trailers_.isSet();
  for (Mirror* mirror : mirrors_) {
    mirror->start();
    if (!has_body_) continue;
    kept_body_.forEachPiece([mirror](std::string_view piece) { mirror->onData(piece, false); });
    if (has_trailers) {
      http::HeaderMap& trailers = info_.context().tried.headers;
      kept_trailers_.restore(&trailers);
      mirror->onTrailers(trailers);
    } else if (request_complete_) {
      mirror->onData({}, true);
    }
  }
  if (request_complete_) leaveMirrors();
}

}  // namespace fairlead::proxy
