#include "net/timer_wheel.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "test/native/test.h"

namespace fairlead::net {

namespace {

class Alarm final : public Timer {
 public:
  void onTimer() override {
    ++fired;
    if (then) then();
  }
  int fired = 0;
  std::function<void()> then;
};

}  // namespace

TEST("A timer fires at its tick, once, and not before") {
  for (const Millis start : {Millis{0}, Millis{255}, Millis{65'535}, Millis{123'456'789}}) {
    for (const Millis wait : {1, 2, 255, 256, 257, 65'535, 65'536, 70'000, 20'000'000}) {
      TimerWheel wheel(start);
      Alarm alarm;
      wheel.arm(&alarm, start + wait);
      wheel.advance(start + wait - 1);
      EXPECT_EQ(alarm.fired, 0);
      EXPECT(alarm.isArmed());
      wheel.advance(start + wait);
      EXPECT_EQ(alarm.fired, 1);
      EXPECT(!alarm.isArmed());
      wheel.advance(start + wait + 1000);
      EXPECT_EQ(alarm.fired, 1);
    }
  }
}

TEST("What is due already fires at the next tick; a re-armed timer fires at its latest deadline") {
  TimerWheel wheel(1000);
  Alarm late;
  wheel.arm(&late, 10);
  wheel.advance(1000);
  EXPECT_EQ(late.fired, 0);
  wheel.advance(1001);
  EXPECT_EQ(late.fired, 1);
  Alarm moved;
  wheel.arm(&moved, 1100);
  wheel.arm(&moved, 5000);
  wheel.advance(4999);
  EXPECT_EQ(moved.fired, 0);
  wheel.advance(5000);
  EXPECT_EQ(moved.fired, 1);
}

TEST("Handlers may arm, disarm and end timers, their own among them") {
  TimerWheel wheel(0);
  Alarm again;
  Alarm victim;
  auto ended = std::make_unique<Alarm>();
  again.then = [&] {
    victim.disarm();
    ended.reset();
    if (again.fired < 3) wheel.arm(&again, 10 + static_cast<Millis>(again.fired));
  };
  wheel.arm(&again, 10);
  wheel.arm(&victim, 10);
  wheel.arm(ended.get(), 10);
  wheel.advance(400);
  EXPECT_EQ(again.fired, 3);
  EXPECT_EQ(victim.fired, 0);
}

TEST("untilNext() never sleeps past a deadline, and reaches each in a few steps") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Millis now = random() % 5'000'000;
    TimerWheel wheel(now);
    Alarm alarm;
    const Millis due = now + 1 + random() % (1u << (random() % 25));
    wheel.arm(&alarm, due);
    int steps = 0;
    while (alarm.fired == 0 && steps < 3000) {
      const Millis wait = wheel.untilNext(60'000);
      EXPECT(now + wait <= std::max(due, now + 1));
      now += wait;
      wheel.advance(now);
      ++steps;
    }
    EXPECT_EQ(now, due);
    EXPECT(steps < 1000);
  }
  TimerWheel idle(99);
  EXPECT_EQ(idle.untilNext(60'000), Millis{60'000});
}

TEST("Many timers, armed and disarmed at random, fire as a sorted list would") {
  std::mt19937 random(11);
  TimerWheel wheel(500);
  std::vector<std::unique_ptr<Alarm>> alarms(400);
  std::map<Alarm*, Millis> wanted;
  for (auto& alarm : alarms) alarm = std::make_unique<Alarm>();
  Millis now = 500;
  for (int step = 0; step < 20'000; ++step) {
    Alarm* const alarm = alarms[random() % alarms.size()].get();
    switch (random() % 4) {
      case 0:
        alarm->disarm();
        wanted.erase(alarm);
        break;
      case 1: {
        now += random() % (step % 100 == 0 ? 100'000 : 40);
        wheel.advance(now);
        for (auto entry = wanted.begin(); entry != wanted.end();) {
          const bool due = entry->second <= now;
          if (entry->first->isArmed() == due) EXPECT(!"fired too early, or not at all");
          entry = due ? wanted.erase(entry) : std::next(entry);
        }
        break;
      }
      default: {
        const Millis due = now + random() % (1u << (random() % 20));
        wheel.arm(alarm, due);
        wanted[alarm] = std::max(due, now + 1);
        break;
      }
    }
  }
}

}  // namespace fairlead::net
