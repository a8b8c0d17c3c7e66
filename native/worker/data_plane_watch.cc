#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profile/stack_of_thread.h"
#include "worker/data_plane.h"

namespace fairlead::worker {

void DataPlane::watch(const plan::Watchdogs& plan) {
  std::vector<WatchedThread> threads;
  for (const auto& worker : workers_) {
    threads.push_back({"wrk:worker_" + std::to_string(worker->index()),
                       [of = worker.get()] { return of->busySince(); },
                       [of = worker.get()] { return of->threadId(); }});
  }
  if (options_.control_turn) {
    profile::answerWithStack();
    const auto id = static_cast<pid_t>(::syscall(SYS_gettid));
    threads.push_back({"main", options_.control_turn, [id] { return id; }, true});
  }
  const auto declare = [this](const auto& of, auto& profiles, const char* scope) {
    if (!of) return;
    for (const plan::WatchdogAction& action : of->actions) {
      if (action.profile) {
        profiles = registry_.create<stats::ProfileAction>(stats::plainScope(scope));
      }
      if (!action.backtrace) continue;
      watchdog_stats_.backtraces =
          registry_.create<stats::BacktraceAction>(stats::plainScope("watchdog.backtrace_action."));
    }
  };
  declare(plan.main, watchdog_stats_.main_profiles, "main_thread.profile_action.");
  declare(plan.workers, watchdog_stats_.worker_profiles, "workers.profile_action.");
  watchdog_ = std::make_unique<Watchdog>(plan, std::move(threads));
}

void DataPlane::timeTurns() {
  const auto scopeIn = [](stats::Scope owner) {
    return stats::innerScope(std::move(owner), "dispatcher.");
  };
  for (const auto& worker : workers_) {
    auto block = registry_.create<stats::Dispatcher>(
        scopeIn(stats::workerScope("listener_manager.", worker->index())));
    worker->timeTurnsIn(block->shard(worker->index() + 1));
    other_stats_.push_back(std::move(block));
  }
  if (!options_.time_control_turns) return;
  options_.time_control_turns(
      registry_.create<stats::Dispatcher>(scopeIn(stats::plainScope("server."))));
}

// The control thread writes them, as it does all else that no worker counts.
void DataPlane::countMisses() {
  const auto add = [](auto& block, auto miss, auto mega_miss, const Watchdog::Misses& misses) {
    block->shard(0)->add(miss, misses.misses);
    block->shard(0)->add(mega_miss, misses.mega_misses);
  };
  using All = stats::Watchdog::Counter;
  for (size_t i = 0; watchdog_ && i < watchdog_->threads(); ++i) {
    const Watchdog::Misses misses = watchdog_->takeMisses(i);
    if (misses.misses + misses.mega_misses == 0) continue;
    const bool is_main = i == watchdog_stats_.worker.size();
    add(is_main ? watchdog_stats_.main : watchdog_stats_.workers, All::WatchdogMiss,
        All::WatchdogMegaMiss, misses);
    if (is_main) {
      using One = stats::Server::Counter;
      add(watchdog_stats_.server, One::MainThreadWatchdogMiss, One::MainThreadWatchdogMegaMiss,
          misses);
    } else {
      using One = stats::ServerWorker::Counter;
      add(watchdog_stats_.worker[i], One::WatchdogMiss, One::WatchdogMegaMiss, misses);
    }
  }
}

void DataPlane::countWatchdogActions() {
  if (!watchdog_) return;
  using Profile = stats::ProfileAction::Counter;
  using Backtrace = stats::BacktraceAction::Counter;
  for (const bool is_main : {true, false}) {
    const WatchdogActions::Counts counts = watchdog_->takeActions(is_main);
    const auto& profiles =
        is_main ? watchdog_stats_.main_profiles : watchdog_stats_.worker_profiles;
    if (profiles) {
      profiles->shard(0)->add(Profile::Attempted, counts.profiles_attempted);
      profiles->shard(0)->add(Profile::SuccessfullyCaptured, counts.profiles_captured);
    }
    if (watchdog_stats_.backtraces) {
      watchdog_stats_.backtraces->shard(0)->add(Backtrace::BacktracesLogged,
                                                counts.backtraces_logged);
      watchdog_stats_.backtraces->shard(0)->add(Backtrace::BacktracesFailed,
                                                counts.backtraces_failed);
    }
  }
}

}  // namespace fairlead::worker
