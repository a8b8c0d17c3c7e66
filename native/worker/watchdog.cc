#include "worker/watchdog.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <utility>

#include "log/log.h"
#include "net/loop.h"
#include "profile/stack_of_thread.h"

namespace fairlead::worker {

namespace {

constexpr uint64_t kMicrosPerMilli = 1000;

// Twice within the shortest of all times, but no more than a hundred times a second.
uint64_t intervalUs(const plan::Watchdogs& plan) {
  uint64_t smallest_ms = 10'000;
  for (const auto* one : {&plan.main, &plan.workers}) {
    const plan::Watchdog limits = one->value_or(plan::Watchdog());
    for (const uint64_t ms :
         {limits.miss_ms, limits.mega_miss_ms, limits.kill_ms, limits.multikill_ms}) {
      if (ms > 0) smallest_ms = std::min(smallest_ms, ms);
    }
  }
  return std::max<uint64_t>(smallest_ms / 2, 10) * kMicrosPerMilli;
}

// As the real server: a kill comes up to so much later, so that not all processes end at once.
uint64_t killUs(const plan::Watchdog& limits) {
  if (limits.kill_ms == 0) return 0;
  std::random_device random;
  const uint64_t later = limits.kill_jitter_ms == 0 ? 0 : random() % limits.kill_jitter_ms;
  return (limits.kill_ms + later) * kMicrosPerMilli;
}

}  // namespace

Watchdog::State::State(WatchedThread of, const plan::Watchdog& with)
    : thread(std::move(of)), limits(with), kill_us(killUs(with)) {}

Watchdog::Watchdog(const plan::Watchdogs& plan, std::vector<WatchedThread> threads, Kill kill)
    : kill_(std::move(kill)),
      main_actions_(plan.main.value_or(plan::Watchdog()).actions, profiles_,
                    [this](const std::string& why) { killFor(why); }),
      worker_actions_(plan.workers.value_or(plan::Watchdog()).actions, profiles_,
                      [this](const std::string& why) { killFor(why); }),
      interval_us_(worker::intervalUs(plan)) {
  for (WatchedThread& thread : threads) {
    const auto& limits = thread.is_main ? plan.main : plan.workers;
    states_.emplace_back(std::move(thread), limits.value_or(plan::Watchdog()));
    threads_.push_back(&states_.back().thread);
  }
}

int Watchdog::start() {
  return thread_.start([this] { run(); });
}

void Watchdog::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::run() {
  ::pthread_setname_np(::pthread_self(), "guard_dog");
  std::unique_lock lock(mutex_);
  uint64_t due_us = net::Loop::readClockMicros() + interval_us_;
  uint64_t sample_us = due_us;
  while (!is_stopping_) {
    const uint64_t now_us = net::Loop::readClockMicros();
    const uint64_t next_us = profiles_.isRunning() ? std::min(due_us, sample_us) : due_us;
    if (now_us < next_us) {
      wake_.wait_for(lock, std::chrono::microseconds(next_us - now_us));
      continue;
    }
    lock.unlock();
    if (profiles_.isRunning() && sample_us <= now_us) {
      profiles_.sample(threads_, now_us);
      sample_us = now_us + ProfileTaker::kPeriodUs;
    }
    if (due_us <= now_us) {
      look(now_us, now_us - due_us);
      due_us = net::Loop::readClockMicros() + interval_us_;
    }
    lock.lock();
  }
}

Watchdog::Misses Watchdog::takeMisses(size_t thread) {
  State& state = states_[thread];
  return {state.misses.exchange(0, std::memory_order_relaxed),
          state.mega_misses.exchange(0, std::memory_order_relaxed)};
}

void Watchdog::look(uint64_t now_us, uint64_t late_us) {
  Kind main{main_actions_};
  Kind workers{worker_actions_};
  for (State& state : states_) {
    judge(state, state.thread.is_main ? main : workers, now_us, late_us);
  }
  act(main, now_us);
  act(workers, now_us);
}

void Watchdog::judge(State& state, Kind& kind, uint64_t now_us, uint64_t late_us) {
  ++kind.watched;
  kind.limits = &state.limits;
  const uint64_t turn = state.thread.turn();
  if (turn == 0 || turn != state.turn) {
    state.turn = turn;
    state.seen_us = now_us;
    state.has_missed = state.has_mega_missed = false;
    return;
  }
  // Where this thread had no processor, the others may have had none either.
  state.seen_us += late_us;
  const uint64_t stuck_us = now_us > state.seen_us ? now_us - state.seen_us : 0;
  const auto isOver = [stuck_us](uint64_t ms) {
    return ms > 0 && stuck_us >= ms * kMicrosPerMilli;
  };
  if (isOver(state.limits.miss_ms) && !std::exchange(state.has_missed, true)) {
    state.misses.fetch_add(1, std::memory_order_relaxed);
    kind.missed.push_back(&state.thread);
  }
  if (isOver(state.limits.mega_miss_ms) && !std::exchange(state.has_mega_missed, true)) {
    state.mega_misses.fetch_add(1, std::memory_order_relaxed);
    tell(state, stuck_us);
    kind.mega_missed.push_back(&state.thread);
  }
  if (state.kill_us > 0 && stuck_us >= state.kill_us) {
    kind.actions.run(WatchdogActions::Event::Kill, {&state.thread}, now_us);
    killFor(state.thread.name + " stuck for more than watchdog_kill_timeout");
  }
  if (isOver(state.limits.multikill_ms)) kind.stuck.push_back(&state.thread);
}

void Watchdog::act(Kind& kind, uint64_t now_us) {
  using Event = WatchdogActions::Event;
  // A single one of many is never several.
  const uint64_t share = kind.limits ? kind.watched * kind.limits->multikill_millionths : 0;
  const size_t needed = std::max<size_t>(2, (share + 999'999) / 1'000'000);
  if (kind.stuck.size() >= needed) {
    kind.actions.run(Event::Multikill, kind.stuck, now_us);
    killFor("multiple threads stuck for more than watchdog_multikill_timeout");
  }
  kind.actions.run(Event::MegaMiss, kind.mega_missed, now_us);
  kind.actions.run(Event::Miss, kind.missed, now_us);
}

void Watchdog::tell(const State& state, uint64_t stuck_us) {
  const pid_t id = state.thread.id();
  const std::vector<std::string> frames =
      id == 0 ? std::vector<std::string>() : profile::stackOfThread(id);
  log::warn(log::Component::Main, "the thread ", state.thread.name,
            " has not come back to its loop for ", stuck_us / kMicrosPerMilli,
            frames.empty() ? " ms; it does not say where it is" : " ms; it is here:");
  for (size_t i = 0; i < frames.size(); ++i) {
    log::warn(log::Component::Main, "  #", i, " ", frames[i]);
  }
}

// Whoever looks for the reason finds a core where those are kept.
void Watchdog::killFor(const std::string& why) {
  const std::string text = "GuardDog: " + why;
  if (kill_) return kill_(text);
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

}  // namespace fairlead::worker
