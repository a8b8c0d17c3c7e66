#include "base/mutex.h"

#include <atomic>
#include <thread>

#include "test/native/test.h"

namespace fairlead {
namespace {

// One thread locks what the other holds. Whether it comes early enough to wait is up to the
// scheduler.
void collide(Mutex& mutex) {
  std::atomic<bool> is_coming{false};
  mutex.lock();
  std::thread other([&] {
    is_coming = true;
    const std::lock_guard lock(mutex);
  });
  while (!is_coming) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  mutex.unlock();
  other.join();
}

TEST("waits for locks are counted once they are traced, and free locks are none") {
  constexpr int kRounds = 1000;
  Mutex mutex;
  const uint64_t untraced = contention().count;
  for (int i = 0; i < 10; ++i) collide(mutex);
  EXPECT_EQ(contention().count, untraced);

  traceMutexes();
  for (int i = 0; i < 100; ++i) {
    const std::lock_guard lock(mutex);
  }
  EXPECT_EQ(contention().count, untraced);
  for (int i = 0; i < kRounds && contention().count == untraced; ++i) collide(mutex);
  const Contention once = contention();
  EXPECT_EQ(once.count, untraced + 1);
  EXPECT(once.last_wait_cycles > 0);
  EXPECT(once.total_wait_cycles >= once.last_wait_cycles);
  for (int i = 0; i < kRounds && contention().count == once.count; ++i) collide(mutex);
  const Contention twice = contention();
  EXPECT_EQ(twice.total_wait_cycles, once.total_wait_cycles + twice.last_wait_cycles);
}

TEST("a lock that is held cannot be tried") {
  Mutex mutex;
  EXPECT(mutex.try_lock());
  bool got = true;
  std::thread([&] { got = mutex.try_lock(); }).join();
  EXPECT(!got);
  mutex.unlock();
}

}  // namespace
}  // namespace fairlead
