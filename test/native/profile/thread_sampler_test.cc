#include "profile/thread_sampler.h"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "test/native/test.h"

namespace fairlead::profile {

namespace {

// Burns CPU time of this thread; its address is what the samples must name.
__attribute__((noinline)) uint64_t burn(std::chrono::milliseconds time) {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const auto millis = [](const timespec& at) { return at.tv_sec * 1000 + at.tv_nsec / 1'000'000; };
  const auto end = millis(now) + time.count();
  volatile uint64_t sum = 0;
  while (millis(now) < end) {
    for (int i = 0; i < 100'000; ++i) sum = sum + static_cast<uint64_t>(i);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  }
  return sum;
}

size_t samplesIn(ThreadSampler& sampler, uintptr_t from, uintptr_t to, size_t* total) {
  size_t inside = 0;
  *total = 0;
  sampler.drain([&](std::span<const uintptr_t> addresses) {
    ++*total;
    for (const uintptr_t address : addresses) {
      if (address >= from && address < to) {
        ++inside;
        break;
      }
    }
  });
  return inside;
}

}  // namespace

TEST("a busy thread is sampled every 10 ms of its CPU time, with the function that runs") {
  ThreadSampler sampler;
  std::thread thread([&] {
    EXPECT(sampler.start());
    burn(std::chrono::milliseconds(300));
    sampler.stop();
  });
  thread.join();
  size_t total = 0;
  const auto from = reinterpret_cast<uintptr_t>(&burn);
  const size_t inside = samplesIn(sampler, from, from + 512, &total);
  // The kernel's clock ticks, at worst, every 10 ms.
  EXPECT(total >= 10 && total <= 31);
  EXPECT(inside * 10 >= total * 8);
}

TEST("what is sampled stops with stop(), and a second start() goes on") {
  ThreadSampler sampler;
  std::thread thread([&] {
    EXPECT(sampler.start());
    sampler.stop();
    size_t total = 0;
    samplesIn(sampler, 0, 0, &total);
    burn(std::chrono::milliseconds(50));
    samplesIn(sampler, 0, 0, &total);
    EXPECT_EQ(total, 0u);
    EXPECT(sampler.start());
    burn(std::chrono::milliseconds(100));
    sampler.stop();
    samplesIn(sampler, 0, 0, &total);
    EXPECT(total > 0);
  });
  thread.join();
}

TEST("a signal that is not of its timer is left alone") {
  ThreadSampler sampler;
  std::thread thread([&] {
    EXPECT(sampler.start());
    for (int i = 0; i < 100; ++i) {
      ::sigqueue(::getpid(), SIGRTMAX - 2, sigval{.sival_ptr = &sampler});
    }
    sampler.stop();
  });
  thread.join();
  size_t total = 0;
  samplesIn(sampler, 0, 0, &total);
  EXPECT(total < 50);
}

}  // namespace fairlead::profile
