#include "worker/watchdog_actions.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/wall_clock.h"
#include "log/log.h"
#include "profile/stack_of_thread.h"

namespace fairlead::worker {

namespace {

bool isFolder(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

// ---- profiles ----

void ProfileTaker::start(std::string path, uint64_t end_us, std::function<void(bool)> on_end) {
  path_ = std::move(path);
  end_us_ = end_us;
  on_end_ = std::move(on_end);
  file_ = {};
}

void ProfileTaker::sample(const std::vector<const WatchedThread*>& threads, uint64_t now_us) {
  if (!isRunning()) return;
  for (const WatchedThread* thread : threads) {
    const pid_t id = thread->turn() == 0 ? 0 : thread->id();
    if (id != 0) file_.add(profile::addressesOfThread(id));
  }
  if (now_us < end_us_) return;
  end_us_ = 0;
  const int error = file_.write(path_, kPeriodUs);
  if (error != 0) {
    log::error(log::Component::Misc, "Profile file ", path_, " wasn't created!");
  }
  std::exchange(on_end_, nullptr)(error == 0);
}

// ---- actions ----

WatchdogActions::WatchdogActions(const std::vector<plan::WatchdogAction>& plans,
                                 ProfileTaker& profiles, Kill kill)
    : profiles_(profiles), kill_(std::move(kill)) {
  for (const plan::WatchdogAction& plan : plans) actions_.push_back({plan, 0, false, {}});
}

void WatchdogActions::run(Event event, const AwayThreads& threads, uint64_t now_us) {
  if (threads.empty()) return;
  for (Action& action : actions_) {
    if (action.plan.event != event) continue;
    if (action.plan.profile) profile(action, threads, now_us);
    if (action.plan.abort) abort(*action.plan.abort, threads);
    if (action.plan.backtrace) backtrace(action, threads, now_us);
  }
}

void WatchdogActions::profile(Action& action, const AwayThreads&, uint64_t now_us) {
  const plan::ProfileAction& plan = *action.plan.profile;
  if (action.profile_runs) return;
  profiles_attempted_.fetch_add(1, std::memory_order_relaxed);
  if (action.profiles_started >= plan.max_profiles) {
    log::warn(log::Component::Misc, "Profile Action: Unable to profile: enabled but already wrote ",
              action.profiles_started, " profiles.");
    return;
  }
  if (!isFolder(plan.folder)) {
    log::error(log::Component::Misc, "Profile Action: Directory path ", plan.folder,
               " doesn't exist.");
    return;
  }
  if (profiles_.isRunning()) {
    log::error(log::Component::Misc,
               "Profile Action unable to start the profiler as it is in use elsewhere.");
    return;
  }
  ++action.profiles_started;
  action.profile_runs = true;
  std::string path = plan.folder;
  if (!path.ends_with('/')) path.push_back('/');
  path.append("ProfileAction.").append(std::to_string(wallClockMicros() / 1'000'000));
  profiles_.start(std::move(path), now_us + plan.duration_ms * 1000,
                  [this, &action](bool is_there) {
                    action.profile_runs = false;
                    if (is_there) profiles_captured_.fetch_add(1, std::memory_order_relaxed);
                  });
}

void WatchdogActions::abort(const plan::AbortAction& plan, const AwayThreads& threads) {
  const pid_t id = threads.front()->id();
  log::error(log::Component::Misc, "Watchdog AbortAction terminating thread with tid ", id, ".");
  if (id != 0 && ::syscall(SYS_tgkill, ::getpid(), id, SIGABRT) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(plan.wait_ms));
  } else {
    log::error(log::Component::Misc, "Failed to terminate tid ", id);
  }
  kill_("Failed to terminate thread with id " + std::to_string(id) +
        ", aborting from Watchdog AbortAction instead.");
}

void WatchdogActions::backtrace(Action& action, const AwayThreads& threads, uint64_t now_us) {
  const uint64_t cooldown_us = action.plan.backtrace->cooldown_ms * 1000;
  for (const WatchedThread* thread : threads) {
    const auto told = action.told_us.find(thread);
    if (told != action.told_us.end() && now_us - told->second < cooldown_us) continue;
    action.told_us[thread] = now_us;
    const pid_t id = thread->id();
    const std::vector<std::string> frames =
        id == 0 ? std::vector<std::string>() : profile::stackOfThread(id);
    if (frames.empty()) {
      backtraces_failed_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    log::error(log::Component::Misc, "Backtrace Action: backtrace for thread ", id, " (",
               thread->name, "):");
    for (size_t i = 0; i < frames.size(); ++i) {
      log::error(log::Component::Misc, "#", i, ": ", frames[i]);
    }
    backtraces_logged_.fetch_add(1, std::memory_order_relaxed);
  }
}

WatchdogActions::Counts WatchdogActions::takeCounts() {
  const auto take = [](std::atomic<uint32_t>& of) {
    return of.exchange(0, std::memory_order_relaxed);
  };
  return {take(profiles_attempted_), take(profiles_captured_), take(backtraces_logged_),
          take(backtraces_failed_)};
}

}  // namespace fairlead::worker
