#include "upstream/name_cache.h"

#include <algorithm>
#include <utility>

#include "stats/scopes.h"

namespace fairlead::upstream {

using NameCounter = stats::NameCache::Counter;

bool NameCache::enter(unsigned worker) {
  if (pending_.fetch_add(1, std::memory_order_relaxed) < plan_.max_pending) return true;
  leave();
  if (stats_) stats_->shard(worker + 1)->add(NameCounter::DnsRqPendingOverflow);
  return false;
}

const KnownName* NameCache::find(unsigned worker, std::string_view name, net::Millis now) {
  View& view = views_[worker];
  const auto found = view.known.find(name);
  if (found == view.known.end()) return nullptr;
  std::atomic<uint32_t>& used = *found->second.used_at_s;
  // Seldom written: all workers read it.
  const uint32_t seconds = secondsOf(now);
  if (used.load(std::memory_order_relaxed) != seconds) {
    used.store(seconds, std::memory_order_relaxed);
  }
  return &found->second;
}

NameCache::State NameCache::enterAndAsk(unsigned worker, std::string_view name, net::Millis now,
                                        NameWaiter& waiter, const KnownName** known) {
  if (!enter(worker)) return State::Busy;
  const State state = ask(worker, name, now, waiter, known);
  if (state != State::Waits) leave();
  return state;
}

NameCache::State NameCache::ask(unsigned worker, std::string_view name, net::Millis now,
                                NameWaiter& waiter, const KnownName** known) {
  View& view = views_[worker];
  *known = find(worker, name, now);
  if (*known) return State::Known;
  const auto asked = view.waiting.find(name);
  if (asked != view.waiting.end()) {
    asked->second->pushBack(&waiter);
    return State::Waits;
  }
  if (view.known.size() + view.waiting.size() >= plan_.max_names) {
    if (stats_) stats_->shard(worker + 1)->add(NameCounter::HostOverflow);
    return State::Full;
  }
  auto list = std::make_unique<List<NameWaiter>>();
  list->pushBack(&waiter);
  std::string key(name);
  if (sink_) sink_->onName(plan_.name, key);
  view.waiting.emplace(std::move(key), std::move(list));
  return State::Waits;
}

// Who hears of it may ask for more.
void NameCache::put(unsigned worker, const std::string& name, const KnownName& known) {
  View& view = views_[worker];
  view.known.insert_or_assign(name, known);
  const auto asked = view.waiting.find(name);
  if (asked == view.waiting.end()) return;
  const std::unique_ptr<List<NameWaiter>> waiting = std::move(asked->second);
  view.waiting.erase(asked);
  while (NameWaiter* const waiter = waiting->popFront()) waiter->onName(known);
}

KnownName NameCache::note(const plan::NameAnswer& answer, net::Millis now) {
  auto& used = uses_[answer.name];
  if (!used) used = std::make_shared<std::atomic<uint32_t>>(secondsOf(now));
  return {answer.failure, used};
}

uint64_t NameCache::ageMs(const std::string& name, net::Millis now) const {
  const auto found = uses_.find(name);
  if (found == uses_.end()) return 0;
  const uint64_t used_ms = uint64_t{found->second->load(std::memory_order_relaxed)} * 1000;
  return now > used_ms ? now - used_ms : 0;
}

void NameCache::refreshGauges() {
  if (!stats_) return;
  using Gauge = stats::NameCache::Gauge;
  const uint64_t pending = pending_.load(std::memory_order_relaxed);
  const uint64_t most = plan_.max_pending;
  // As in the real server: of one that was never asked for a name it does not know, nothing says.
  if (pending > 0 || !uses_.empty()) {
    stats_->shard(0)->set(Gauge::CircuitBreakersRqPendingOpen, pending >= most && most > 0);
  }
  stats_->shard(0)->set(Gauge::CircuitBreakersRqPendingRemaining,
                        most > pending ? most - pending : 0);
}

void NameCaches::declare(const plan::NameCache& plan) {
  std::shared_ptr<NameCache>& cache = caches_[plan.name];
  if (cache) return;
  std::shared_ptr<stats::Block<stats::NameCache>> stats;
  if (!plan.holds_clusters) {
    stats = registry_.create<stats::NameCache>(stats::plainScope(plan.stat_prefix));
    resolver_stats_ = registry_.create<stats::DnsCares>(stats::plainScope("dns.cares."));
  }
  cache = std::make_shared<NameCache>(plan, std::move(stats), sink_, workers_);
  cache->refreshGauges();
}

void NameCaches::refreshGauges() {
  for (const auto& [name, cache] : caches_) cache->refreshGauges();
}

std::string nameWithPort(std::string_view host, uint32_t default_port) {
  const size_t colon = host.rfind(':');
  // "[::1]" ends with its bracket.
  const bool has_port = colon != std::string_view::npos && colon + 1 < host.size() &&
                        host.find(']', colon) == std::string_view::npos &&
                        std::all_of(host.begin() + static_cast<ptrdiff_t>(colon) + 1, host.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
  std::string name(host);
  return has_port ? name : name.append(":").append(std::to_string(default_port));
}

}  // namespace fairlead::upstream
