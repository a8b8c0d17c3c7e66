// Threads, and a system that has no more of them.
#include "base/thread.h"

#include <signal.h>

#include <cerrno>
#include <memory>

#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead {

TEST("A thread runs what it is given, without signals, and lets go of it at its end") {
  const auto held = std::make_shared<int>(0);
  sigset_t blocked;
  Thread thread;
  EXPECT_EQ(thread.start([held, &blocked] { ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked); }), 0);
  thread.join();
  EXPECT(!thread.isJoinable());
  EXPECT_EQ(held.use_count(), 1);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) EXPECT(sigismember(&blocked, signal));
  sigset_t own;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT(!sigismember(&own, SIGTERM));
}

TEST("A thread that the system refuses is an error, and nothing runs") {
  const test::Refusing refusing(test::Call::PthreadCreate, EAGAIN);
  const auto held = std::make_shared<int>(0);
  Thread thread;
  EXPECT_EQ(thread.start([held] { ++*held; }), EAGAIN);
  EXPECT(!thread.isJoinable());
  thread.join();
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace fairlead
