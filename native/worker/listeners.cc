#include "worker/listeners.h"

#include <algorithm>
#include <utility>

namespace fairlead::worker {

namespace {

// Null: filter chains are chosen by what they say.
const plan::ChainTree* treeOf(const Boxed<plan::ChainTree>& tree) {
  return tree ? &*tree : nullptr;
}

}  // namespace

using ManagerCounter = stats::ListenerManager::Counter;
using ManagerGauge = stats::ListenerManager::Gauge;

Listeners::Listeners(stats::Registry& registry, const ListenerBuilder& builder, Drain& drain,
                     Retired& retired, const Workers& workers)
    : builder_(builder),
      drain_(drain),
      retired_(retired),
      workers_(workers),
      block_(registry.create<stats::ListenerManager>(stats::plainScope("listener_manager."))),
      stats_(*block_->shard(0)),
      sockets_(static_cast<unsigned>(workers.size())) {}

Listeners::Active* Listeners::find(const std::string& name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &*found->second;
}

// ---- updates ----

Result<void> Listeners::put(const plan::Listener& plan, const net::DrainRamp& ramp, bool* dropped) {
  // As the real server: nothing is said of it.
  if (drain_.isStopped(plan.direction)) return {};
  Active* const known = find(plan.name);
  if (known && known->plan->id == 0) return Error{"a listener without an id stays as it is"};
  Result<std::shared_ptr<ListenerPlan>> built = builder_.build(plan);
  if (!built) return built.error();
  Result<SharedChains> chains =
      builder_.buildChains(plan, plan.filter_chains, treeOf(plan.chain_tree), nullptr);
  if (!chains) return chains.error();
  Result<ListenSockets::Open> opened = sockets_.open(plan);
  if (!opened) {
    stats_.add(ManagerCounter::ListenerCreateFailure);
    return opened.error();
  }
  const bool is_counted = announced_.erase(plan.name) > 0;
  if (!is_counted)
    stats_.add(known ? ManagerCounter::ListenerModified : ManagerCounter::ListenerAdded);
  if (Result<void> heard = sockets_.listen(opened.value()); !heard) {
    *dropped = true;
    stats_.add(ManagerCounter::ListenerCreateFailure);
    // As the real server: it was put in the other one's place before it was to listen.
    if (!known)
      stats_.add(ManagerCounter::ListenerRemoved);
    else
      remove(plan.name, ramp);
    return heard;
  }
  net::ListenerConfig& config = built.value()->config;
  config.address = opened.value().bound.front().address;
  for (size_t i = 1; i < opened.value().bound.size(); ++i) {
    config.more_addresses.push_back(opened.value().bound[i].address);
  }
  const bool leaves_queue = opened.value().areShared();
  Active active{std::move(built.value()), std::move(chains.value())};
  join(*active.plan, *active.chains);
  publish(active.plan, active.chains, sockets_.keep(std::move(opened.value())),
          known ? known->plan : nullptr, leaves_queue);
  if (known) {
    startDrain(std::exchange(*known, std::move(active)), ramp);
  } else {
    by_name_[plan.name] = active_.insert(active_.end(), std::move(active));
  }
  refreshGauges();
  return {};
}

void Listeners::join(const ListenerPlan& plan, const FilterChainsPlan& chains) {
  for (const auto& chain : chains.plans) drain_.join(plan.config.plan, chain->drain);
}

void Listeners::publish(const SharedPlan& plan, const SharedChains& chains,
                        ListenSockets::ByWorker sockets, const SharedPlan& before,
                        bool leaves_queue) {
  countCreated(1);
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->post([target = workers_[i].get(), plan, chains, own = std::move(sockets[i]),
                       before, leaves_queue] {
      if (before) target->drainListener(before.get(), leaves_queue);
      target->addListener(plan, chains, own);
    });
  }
}

// As the real server: before workers run, none of them has taken it.
void Listeners::countCreated(size_t listeners) {
  if (are_taken_) stats_.add(ManagerCounter::ListenerCreateSuccess, listeners * workers_.size());
}

Result<void> Listeners::putFilterChains(const plan::FilterChains& plan) {
  Active* const active = find(plan.listener);
  if (!active) return Error{"there is no listener of this name"};
  if (active->plan->id == 0) return Error{"a listener without an id stays as it is"};
  const plan::Listener& listener = active->plan->config.plan;
  if (drain_.isStopped(listener.direction)) return {};
  Result<SharedChains> built = builder_.buildChains(listener, plan.filter_chains,
                                                    treeOf(plan.chain_tree), active->chains.get());
  if (!built) return built.error();
  const SharedChains before = std::exchange(active->chains, std::move(built.value()));
  const auto& now = active->chains->plans;
  join(*active->plan, *active->chains);
  post([plan = active->plan, chains = active->chains](Worker& worker) {
    worker.setFilterChains(plan.get(), chains);
  });
  for (const auto& chain : before->plans) {
    if (std::find(now.begin(), now.end(), chain) != now.end()) continue;
    // As the real server: all at once, whatever the strategy.
    drain_.start(*chain->drain, {0, 0});
    draining_chains_[chain->id] = chain;
  }
  retired_.add(before);
  if (announced_.erase(plan.listener) == 0) {
    stats_.add(ManagerCounter::ListenerModified);
    stats_.add(ManagerCounter::ListenerInPlaceUpdated);
  }
  countCreated(1);
  // Also where none of them drains.
  stats_.set(ManagerGauge::TotalFilterChainsDraining, draining_chains_.size());
  refreshGauges();
  return {};
}

void Listeners::announce(const std::string& name, bool is_in_place) {
  const bool is_known = !announced_.insert(name).second || find(name) != nullptr;
  stats_.add(is_known ? ManagerCounter::ListenerModified : ManagerCounter::ListenerAdded);
  if (is_in_place) stats_.add(ManagerCounter::ListenerInPlaceUpdated);
  if (!are_taken_) refreshGauges();
}

void Listeners::takeAnnouncementBack(const std::string& name, bool is_removed) {
  if (announced_.erase(name) > 0 && is_removed && !find(name)) {
    stats_.add(ManagerCounter::ListenerRemoved);
  }
  if (!are_taken_) refreshGauges();
}

Result<void> Listeners::changeFilterChain(const plan::FilterChain& plan) {
  const auto isMeant = [&plan](const auto& chain) { return chain->id == plan.id; };
  for (Active& active : active_) {
    const auto& plans = active.chains->plans;
    const auto found = std::find_if(plans.begin(), plans.end(), isMeant);
    if (found == plans.end()) continue;
    auto built = builder_.changeChain(active.plan->config.plan, plan, **found);
    if (!built) return built.error();
    auto chains = std::make_shared<FilterChainsPlan>(*active.chains);
    chains->plans[static_cast<size_t>(found - plans.begin())] = built.value();
    retired_.add(*found);
    retireSettings(**found);
    retired_.add(std::exchange(active.chains, std::move(chains)));
    post([listener = active.plan, chain = built.value()](Worker& worker) {
      worker.changeFilterChain(listener.get(), chain);
    });
    return {};
  }
  return {};
}

bool Listeners::remove(const std::string& name, const net::DrainRamp& ramp) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || found->second->plan->id == 0) return false;
  Active active = std::move(*found->second);
  active_.erase(found->second);
  by_name_.erase(found);
  sockets_.close(name);
  // A successor takes who waits.
  post([plan = active.plan, leaves_queue = active.is_handed_over](Worker& worker) {
    worker.drainListener(plan.get(), leaves_queue);
  });
  startDrain(std::move(active), ramp);
  stats_.add(ManagerCounter::ListenerRemoved);
  refreshGauges();
  return true;
}

// ---- draining ----

void Listeners::startDrain(Active active, const net::DrainRamp& ramp) {
  for (const auto& chain : active.chains->plans) drain_.start(*chain->drain, ramp);
  const uint64_t id = active.plan->id;
  draining_[id] = {std::move(active.plan), active.chains->plans};
  retired_.add(std::move(active.chains));
}

void Listeners::end(const std::vector<uint64_t>& listeners,
                    const std::vector<uint64_t>& filter_chains) {
  const auto token = std::make_shared<const char>();
  Ending ending{token, 0, 0};
  for (const uint64_t id : listeners) {
    const auto found = draining_.find(id);
    if (found == draining_.end()) continue;
    Draining& draining = found->second;
    post([plan = draining.plan, token](Worker& worker) { worker.endListener(plan.get()); });
    for (const auto& chain : draining.chains) retire(chain);
    retired_.add(std::move(draining.plan));
    draining_.erase(found);
    ++ending.listeners;
  }
  for (const uint64_t id : filter_chains) {
    const auto found = draining_chains_.find(id);
    if (found == draining_chains_.end()) continue;
    retire(found->second);
    draining_chains_.erase(found);
    ++ending.filter_chains;
  }
  if (ending.filter_chains > 0) {
    post([ids = filter_chains, token](Worker& worker) { worker.endFilterChains(ids); });
  }
  if (ending.listeners + ending.filter_chains > 0) ending_.push_back(std::move(ending));
  refreshGauges();
}

void Listeners::retire(const std::shared_ptr<const FilterChainPlan>& chain) {
  drain_.leave(*chain->drain);
  retireSettings(*chain);
  retired_.add(chain);
}

// Workers hold them apart from the chain.
void Listeners::retireSettings(const FilterChainPlan& chain) {
  const auto retire = [this](const auto& filter) {
    if constexpr (requires { filter.use_count(); }) retired_.add(filter);
  };
  std::visit(retire, chain.filter);
}

void Listeners::refreshGauges() {
  std::erase_if(ending_, [](const Ending& ending) { return ending.token.expired(); });
  size_t listeners = draining_.size();
  size_t chains = draining_chains_.size();
  for (const Ending& ending : ending_) {
    listeners += ending.listeners;
    chains += ending.filter_chains;
  }
  size_t active = active_.size();
  // As the real server: until workers run, those that wait for what they need are there, too.
  if (!are_taken_) {
    for (const std::string& name : announced_) active += find(name) ? 0 : 1;
    if (active > 0) stats_.set(ManagerGauge::TotalListenersWarming, 0);
  }
  // A gauge that has never been anything but 0 is not shown.
  if (active > 0 || stats_.isSet(ManagerGauge::TotalListenersActive)) {
    stats_.set(ManagerGauge::TotalListenersActive, active);
  }
  if (listeners > 0 || stats_.isSet(ManagerGauge::TotalListenersDraining)) {
    stats_.set(ManagerGauge::TotalListenersDraining, listeners);
  }
  if (chains > 0 || stats_.isSet(ManagerGauge::TotalFilterChainsDraining)) {
    stats_.set(ManagerGauge::TotalFilterChainsDraining, chains);
  }
}

// ---- all of them ----

std::map<std::string, Error> Listeners::startListening() {
  stats_.set(ManagerGauge::WorkersStarted, 1);
  are_taken_ = true;
  std::map<std::string, Error> errors = sockets_.startListening();
  for (const auto& [listener, _] : errors) drop(listener);
  refreshGauges();
  countCreated(active_.size());
  return errors;
}

void Listeners::drop(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  Active active = std::move(*found->second);
  active_.erase(found->second);
  by_name_.erase(found);
  sockets_.close(name);
  stats_.add(ManagerCounter::ListenerCreateFailure);
  stats_.add(ManagerCounter::ListenerRemoved);
  post([plan = active.plan](Worker& worker) { worker.drainListener(plan.get(), true); });
  const uint64_t id = active.plan->id;
  startDrain(std::move(active), {0, 0});
  end({id}, {});
}

void Listeners::stop(DrainScope scope) {
  drain_.stop(scope);
  for (Active& active : active_) {
    const plan::Listener& plan = active.plan->config.plan;
    if (!drain_.isStopped(plan.direction) || std::exchange(active.is_stopped, true)) continue;
    stats_.add(ManagerCounter::ListenerStopped);
    sockets_.close(plan.name);
    post([shared = active.plan](Worker& worker) { worker.stopListener(shared.get()); });
  }
}

std::vector<BoundListener> Listeners::bound() const {
  std::vector<BoundListener> bound;
  for (const Active& active : active_) {
    const net::ListenerConfig& config = active.plan->config;
    bound.push_back(
        {config.plan.name, config.plan.stat_name, config.address, config.more_addresses});
  }
  return bound;
}

uint64_t Listeners::openConnections() const {
  uint64_t sum = 0;
  const auto count = [&sum](const SharedPlan& plan) {
    sum += plan->config.connections->load(std::memory_order_relaxed);
  };
  for (const Active& active : active_) count(active.plan);
  for (const auto& [_, draining] : draining_) count(draining.plan);
  return sum;
}

// ---- hot restart ----

std::future<void> Listeners::handOver(const std::set<std::string>& taken_addresses) {
  for (Active& active : active_) {
    const std::string& name = active.plan->config.plan.name;
    if (active.is_stopped || std::exchange(active.is_handed_over, true)) continue;
    stats_.add(ManagerCounter::ListenerStopped);
    const bool is_taken = sockets_.closeOthers(name, taken_addresses) == ListenSockets::Left::All;
    post([shared = active.plan, is_taken](Worker& worker) {
      is_taken ? worker.pauseListener(shared.get()) : worker.stopListener(shared.get());
    });
  }
  // Goes with the last task that knows of it, be it run or dropped by a worker that ends.
  struct Pending {
    std::promise<void> done;
    ~Pending() { done.set_value(); }
  };
  const auto pending = std::make_shared<Pending>();
  post([pending](Worker&) {});
  return pending->done.get_future();
}

std::map<std::string, Error> Listeners::takeBack() {
  std::map<std::string, Error> errors;
  for (Active& active : active_) {
    const net::ListenerConfig& config = active.plan->config;
    const std::string& name = config.plan.name;
    if (!std::exchange(active.is_handed_over, false)) continue;
    // Where it was, whatever the plan leaves open.
    std::vector<net::Address> before = config.more_addresses;
    before.insert(before.begin(), config.address);
    Result<ListenSockets::Open> again = sockets_.open(config.plan, before);
    if (!again) {
      errors.emplace(name, again.error());
      continue;
    }
    if (const auto heard = sockets_.listen(again.value()); !heard) {
      errors.emplace(name, heard.error());
      continue;
    }
    if (!again.value().areShared()) sockets_.keep(std::move(again.value()));
    ListenSockets::ByWorker sockets = sockets_.distribute(name);
    for (size_t i = 0; i < workers_.size(); ++i) {
      workers_[i]->post(
          [target = workers_[i].get(), shared = active.plan, own = std::move(sockets[i])] {
            target->resumeListener(shared.get(), own);
          });
    }
  }
  return errors;
}

}  // namespace fairlead::worker
