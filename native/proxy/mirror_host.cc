// A copy's wait for the host that it names, of a forward proxy's cluster: nobody has looked it up
// for the copy, as a filter may have for its request.
#include "proxy/downstream.h"
#include "proxy/mirror.h"

namespace fairlead::proxy {

// True: it waits, or there is no such host, which is charged.
bool Mirror::waitsForHost() {
  const plan::NamedHosts* const hosts = cluster_->namedHosts();
  upstream::NameCache* const names = hosts ? cluster_->cluster().names() : nullptr;
  // Clusters of their own are made for filters alone.
  if (!names || !hosts->cluster_prefix.empty()) return false;
  const unsigned worker = context_->upstream.worker;
  const net::Millis now = loop().now();
  const upstream::KnownName* known = names->find(worker, wanted_->name, now);
  if (known && known->failure.empty()) return false;
  using State = upstream::NameCache::State;
  if (names->enterAndAsk(worker, wanted_->name, now, *this, &known) == State::Waits) {
    names_ = names;
  } else {
    // What is known of it by now is that there is none.
    charge(503);
  }
  return true;
}

void Mirror::stopWaiting() {
  if (!names_) return;
  NameWaiter::unlink();
  std::exchange(names_, nullptr)->leave();
}

void Mirror::onName(const upstream::KnownName& name) {
  const bool is_there = name.failure.empty();
  stopWaiting();
  if (is_there) {
    startAttempt();
  } else {
    charge(503);
  }
  // A copy that failed at once, of which all was here, is at rest by now.
  if (!context_) return;
  if (attempt_.isActive()) {
    // What filters have taken of what was kept waits no more.
    if (!isBehind()) holdUpNoLonger();
    return;
  }
  dropBody();
  holdUpNoLonger();
  restIfOver();
}

}  // namespace fairlead::proxy
