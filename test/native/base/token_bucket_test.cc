#include "base/token_bucket.h"

#include <thread>
#include <vector>

#include "test/native/test.h"

namespace fairlead {

TEST("A bucket is full at first, and fills steadily") {
  constexpr uint64_t kStart = 1'000'000'000;
  TokenBucket bucket(3, 2, 1'000'000, kStart);
  for (int i = 0; i < 3; ++i) EXPECT(bucket.tryTake(kStart));
  EXPECT(!bucket.tryTake(kStart));
  EXPECT(!bucket.tryTake(kStart + 499'999));
  EXPECT(bucket.tryTake(kStart + 500'000));
  EXPECT(!bucket.tryTake(kStart + 500'000));
  EXPECT(bucket.tryTake(kStart + 1'000'000));
}

TEST("What comes while a bucket is full is lost") {
  constexpr uint64_t kStart = 5'000'000;
  TokenBucket bucket(2, 1, 100'000, kStart);
  EXPECT(bucket.tryTake(kStart + 60'000'000));
  EXPECT(bucket.tryTake(kStart + 60'000'000));
  EXPECT(!bucket.tryTake(kStart + 60'000'000));
}

TEST("A bucket without room gives nothing") {
  TokenBucket bucket(0, 1, 1000, 1'000'000);
  EXPECT(!bucket.tryTake(1'000'000));
  EXPECT(!bucket.tryTake(100'000'000));
}

TEST("Threads take no more tokens together than there are") {
  constexpr uint64_t kNow = 9'000'000;
  TokenBucket bucket(10'000, 1, 3'600'000'000, kNow);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int tries = 0; tries < 5000; ++tries) taken += bucket.tryTake(kNow);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), 10'000);
}

}  // namespace fairlead
