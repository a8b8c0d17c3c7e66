// Threads that do not come back to their loops: counted, told of, and the end of the process.
#include "worker/watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "profile/stack_of_thread.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using worker::Watchdog;
using worker::WatchedThread;

constexpr uint64_t kMs = 1000;

plan::Watchdog limits() {
  plan::Watchdog limits;
  limits.miss_ms = 200;
  limits.mega_miss_ms = 1000;
  return limits;
}

// Threads whose turns a test says, and what becomes of them.
struct Watched {
  explicit Watched(size_t workers, const plan::Watchdog& of_workers = limits()) : turns(workers) {
    plan::Watchdogs plan;
    plan.main = limits();
    plan.workers = of_workers;
    std::vector<WatchedThread> threads;
    for (size_t i = 0; i < workers; ++i) {
      threads.push_back({"wrk:worker_" + std::to_string(i), [this, i] { return turns[i]; },
                         [] { return pid_t{0}; }});
    }
    dog = std::make_unique<Watchdog>(plan, std::move(threads),
                                     [this](const std::string& why) { killed = why; });
  }

  void lookUntil(uint64_t ms) {
    for (; now_ms <= ms; now_ms += dog->intervalUs() / kMs) dog->look(now_ms * kMs, 0);
  }

  std::vector<uint64_t> turns;
  uint64_t now_ms = 1;
  std::string killed;
  std::unique_ptr<Watchdog> dog;
};

}  // namespace

TEST("A thread that stays in its turn is counted once for each limit") {
  Watched watched(2);
  watched.turns = {7, 0};
  watched.lookUntil(150);
  EXPECT_EQ(watched.dog->takeMisses(0).misses, 0u);
  watched.lookUntil(900);
  EXPECT_EQ(watched.dog->takeMisses(0).misses, 1u);
  watched.lookUntil(3000);
  const Watchdog::Misses later = watched.dog->takeMisses(0);
  EXPECT_EQ(later.misses, 0u);
  EXPECT_EQ(later.mega_misses, 1u);
  EXPECT_EQ(watched.dog->takeMisses(1).misses, 0u);
  EXPECT_EQ(watched.killed, "");
}

TEST("A thread that comes back to its loop is not counted") {
  Watched watched(1);
  for (uint64_t turn = 1; turn <= 20; ++turn) {
    watched.turns[0] = turn;
    watched.lookUntil(turn * 150);
  }
  EXPECT_EQ(watched.dog->takeMisses(0).misses, 0u);
}

TEST("A watchdog that had no processor itself blames nobody") {
  Watched watched(1);
  watched.turns[0] = 7;
  watched.dog->look(1 * kMs, 0);
  watched.dog->look(2001 * kMs, 1900 * kMs);
  EXPECT_EQ(watched.dog->takeMisses(0).misses, 0u);
}

TEST("One thread that is stuck for too long ends the process where that is wanted") {
  plan::Watchdog kill = limits();
  kill.kill_ms = 2000;
  Watched watched(2, kill);
  watched.turns = {0, 9};
  watched.lookUntil(1900);
  EXPECT_EQ(watched.killed, "");
  watched.lookUntil(2300);
  EXPECT_EQ(watched.killed, "GuardDog: wrk:worker_1 stuck for more than watchdog_kill_timeout");
}

TEST("Several threads that are stuck end the process where one does not") {
  plan::Watchdog kill = limits();
  kill.multikill_ms = 500;
  kill.multikill_millionths = 500'000;
  Watched one(3, kill);
  one.turns = {5, 0, 0};
  one.lookUntil(5000);
  EXPECT_EQ(one.killed, "");
  Watched two(3, kill);
  two.turns = {5, 6, 0};
  two.lookUntil(1000);
  EXPECT_EQ(two.killed,
            "GuardDog: multiple threads stuck for more than watchdog_multikill_timeout");
}

namespace {

plan::WatchdogAction actionAt(plan::WatchdogAction::Event event) {
  plan::WatchdogAction action;
  action.event = event;
  return action;
}

}  // namespace

TEST("Stacks are written at an event, of each thread no more often than is wanted") {
  std::atomic<pid_t> id = 0;
  std::atomic<bool> over = false;
  std::thread busy([&] {
    profile::answerWithStack();
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    while (!over) {
    }
  });
  while (id == 0) std::this_thread::yield();
  plan::WatchdogAction action = actionAt(plan::WatchdogAction::Event::Miss);
  action.backtrace = plan::BacktraceAction{1000};
  worker::ProfileTaker profiles;
  worker::WatchdogActions actions({action}, profiles, nullptr);
  const worker::WatchedThread known{"wrk:worker_0", [] { return 1; }, [&] { return id.load(); }};
  const worker::WatchedThread unknown{"wrk:worker_1", [] { return 1; }, [] { return pid_t{0}; }};
  using Event = worker::WatchdogActions::Event;
  actions.run(Event::MegaMiss, {&known}, 1 * kMs);
  EXPECT_EQ(actions.takeCounts().backtraces_logged, 0u);
  actions.run(Event::Miss, {&known, &unknown}, 1 * kMs);
  actions.run(Event::Miss, {&known}, 900 * kMs);
  const worker::WatchdogActions::Counts counts = actions.takeCounts();
  EXPECT_EQ(counts.backtraces_logged, 1u);
  EXPECT_EQ(counts.backtraces_failed, 1u);
  actions.run(Event::Miss, {&known}, 1001 * kMs);
  EXPECT_EQ(actions.takeCounts().backtraces_logged, 1u);
  over = true;
  busy.join();
}

TEST("A profile is taken while threads are away, as often as is wanted and one at a time") {
  std::atomic<pid_t> id = 0;
  std::atomic<bool> over = false;
  std::thread busy([&] {
    profile::answerWithStack();
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    while (!over) {
    }
  });
  while (id == 0) std::this_thread::yield();
  char folder[] = "/tmp/fairlead-profiles-XXXXXX";
  EXPECT(::mkdtemp(folder) != nullptr);
  plan::WatchdogAction action = actionAt(plan::WatchdogAction::Event::Miss);
  action.profile = plan::ProfileAction{folder, 20, 1};
  plan::WatchdogAction nowhere = actionAt(plan::WatchdogAction::Event::MegaMiss);
  nowhere.profile = plan::ProfileAction{"/nowhere", 20, 1};
  worker::ProfileTaker profiles;
  worker::WatchdogActions actions({action, nowhere}, profiles, nullptr);
  const worker::WatchedThread known{"wrk:worker_0", [] { return 1; }, [&] { return id.load(); }};
  using Event = worker::WatchdogActions::Event;
  actions.run(Event::MegaMiss, {&known}, 1 * kMs);
  EXPECT(!profiles.isRunning());
  actions.run(Event::Miss, {&known}, 1 * kMs);
  EXPECT(profiles.isRunning());
  // It runs already.
  actions.run(Event::Miss, {&known}, 2 * kMs);
  profiles.sample({&known}, 11 * kMs);
  profiles.sample({&known}, 21 * kMs);
  EXPECT(!profiles.isRunning());
  const worker::WatchdogActions::Counts counts = actions.takeCounts();
  EXPECT_EQ(counts.profiles_attempted, 2u);
  EXPECT_EQ(counts.profiles_captured, 1u);
  // There are enough.
  actions.run(Event::Miss, {&known}, 100 * kMs);
  EXPECT(!profiles.isRunning());
  EXPECT_EQ(actions.takeCounts().profiles_attempted, 1u);
  over = true;
  busy.join();
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++files;
    std::ifstream file(entry.path(), std::ios::binary);
    uintptr_t head[5] = {};
    file.read(reinterpret_cast<char*>(head), sizeof(head));
    EXPECT_EQ(head[1], 3u);
    EXPECT_EQ(head[3], 10'000u);
    EXPECT(entry.path().filename().string().starts_with("ProfileAction."));
  }
  EXPECT_EQ(files, 1u);
  std::filesystem::remove_all(folder);
}

TEST("A thread that is busy tells its stack, one that is not there does not") {
  std::atomic<pid_t> id = 0;
  std::atomic<bool> over = false;
  std::thread busy([&] {
    profile::answerWithStack();
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    while (!over) {
    }
  });
  while (id == 0) std::this_thread::yield();
  EXPECT(!profile::stackOfThread(id).empty());
  EXPECT(!profile::stackOfThread(id).empty());
  over = true;
  busy.join();
  EXPECT(profile::stackOfThread(1'999'999'999).empty());
}

TEST("A watchdog ends when it is told to") {
  Watched watched(1);
  EXPECT_EQ(watched.dog->start(), 0);
  watched.dog->stop();
}

}  // namespace fairlead::test
