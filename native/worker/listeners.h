// The listeners of the data plane: put in place, given other filter chains, removed, drained; and
// left to a successor. What is refused is refused before any worker hears of it, and what was there
// before goes on. The control thread's.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "worker/drain.h"
#include "worker/listen_sockets.h"
#include "worker/listener_builder.h"
#include "worker/retired.h"
#include "worker/worker.h"

namespace fairlead::worker {

struct BoundListener {
  std::string name;
  // What its statistics call it.
  std::string stat_name;
  net::Address address;
  // Where it is bound besides.
  std::vector<net::Address> more_addresses;
};

class Listeners {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;
  // All of it outlives this.
  Listeners(stats::Registry& registry, const ListenerBuilder& builder, Drain& drain,
            Retired& retired, const Workers& workers);

  ListenSockets& sockets() { return sockets_; }

  // In the place of the listener of that name, if there is one, which drains by `ramp`. Those
  // without an id stay for ever. With an error nothing has changed, but where `dropped` is set: it
  // was taken, could not listen, and has gone with what it replaced.
  Result<void> put(const plan::Listener& plan, const net::DrainRamp& ramp, bool* dropped);
  // Chains that are no longer there ask their clients to leave at once.
  Result<void> putFilterChains(const plan::FilterChains& plan);
  // Nothing, where there is no chain of its number.
  Result<void> changeFilterChain(const plan::FilterChain& plan);
  // False: there is none of that name.
  bool remove(const std::string& name, const net::DrainRamp& ramp);
  // It waits for what it needs: it is counted now, and not when it is put in place.
  void announce(const std::string& name, bool is_in_place);
  // Nothing comes of that; `is_removed`: nor is there to be any of its name.
  void takeAnnouncementBack(const std::string& name, bool is_removed);
  // They have drained long enough.
  void end(const std::vector<uint64_t>& listeners, const std::vector<uint64_t>& filter_chains);

  // Errors by listener, which has gone.
  std::map<std::string, Error> startListening();
  // Listen sockets close, once; connections go on, and the listeners stay known.
  void stop(DrainScope scope);
  // In the order in which their names came.
  std::vector<BoundListener> bound() const;
  uint64_t openConnections() const;
  // Each worker stays on a processor of its own.
  void notePinned() { stats_.set(stats::ListenerManager::Gauge::WorkersPinned, workers_.size()); }
  // How many drain: workers that have ended one say so by themselves.
  void refreshGauges();

  // ---- hot restart: see worker/data_plane.h ----
  std::future<void> handOver(const std::set<std::string>& taken_addresses);
  std::map<std::string, Error> takeBack();

 private:
  using SharedPlan = std::shared_ptr<const ListenerPlan>;
  using SharedChains = std::shared_ptr<const FilterChainsPlan>;
  struct Active {
    SharedPlan plan;
    SharedChains chains;
    bool is_stopped = false;
    // Left to a successor, or closed for it.
    bool is_handed_over = false;
  };
  struct Draining {
    SharedPlan plan;
    // Those that it had at the end, and those that drain apart until they have their end.
    std::vector<std::shared_ptr<const FilterChainPlan>> chains;
  };
  // Gone once every worker has ended what it is of.
  struct Ending {
    std::weak_ptr<const void> token;
    size_t listeners;
    size_t filter_chains;
  };

  Active* find(const std::string& name);
  void publish(const SharedPlan& plan, const SharedChains& chains, ListenSockets::ByWorker sockets,
               const SharedPlan& before, bool leaves_queue);
  void countCreated(size_t listeners);
  // Without anybody to drain.
  void drop(const std::string& name);
  void startDrain(Active active, const net::DrainRamp& ramp);
  void join(const ListenerPlan& plan, const FilterChainsPlan& chains);
  void retire(const std::shared_ptr<const FilterChainPlan>& chain);
  void retireSettings(const FilterChainPlan& chain);
  // `task` runs on each worker.
  template <typename Task>
  void post(const Task& task) const {
    for (const auto& worker : workers_) {
      worker->post([target = worker.get(), task] { task(*target); });
    }
  }

  const ListenerBuilder& builder_;
  Drain& drain_;
  Retired& retired_;
  const Workers& workers_;
  const std::shared_ptr<stats::Block<stats::ListenerManager>> block_;
  stats::Shard<stats::ListenerManager>& stats_;
  ListenSockets sockets_;
  // Workers run.
  bool are_taken_ = false;
  std::list<Active> active_;
  std::unordered_map<std::string, std::list<Active>::iterator> by_name_;
  // By id.
  std::unordered_map<uint64_t, Draining> draining_;
  std::set<std::string> announced_;
  std::unordered_map<uint64_t, std::shared_ptr<const FilterChainPlan>> draining_chains_;
  std::vector<Ending> ending_;
};

}  // namespace fairlead::worker
