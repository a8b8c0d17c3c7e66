#include "hot_restart/shared_region.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "test/native/test.h"

namespace fairlead::hot_restart {

namespace {

using Status = SharedRegion::Status;

std::string nameOf(const char* test) {
  return "/fairlead_test_" + std::to_string(::getpid()) + "_" + test;
}

bool exists(const std::string& name) {
  const net::FileDescriptor file(::shm_open(name.c_str(), O_RDONLY, 0));
  return file.valid();
}

// Runs `work` in a process of its own that ends like a crash. Returns when it has ended.
template <typename Work>
void inKilledProcess(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT(WIFSIGNALED(status));
}

}  // namespace

TEST("the first makes the memory, the next join it, and the last one out removes it") {
  const std::string name = nameOf("join");
  SharedRegion::Opened first = SharedRegion::create(name);
  EXPECT(first.status == Status::Created);
  EXPECT(first.region->isAlone());
  first.region->layout().serving_epoch = 7;
  SharedRegion::Opened second = SharedRegion::join(name);
  EXPECT(second.status == Status::Joined);
  EXPECT(second.region->layout().serving_epoch.load() == 7u);
  EXPECT(!first.region->isAlone());
  first.region.reset();
  EXPECT(exists(name));
  second.region.reset();
  EXPECT(!exists(name));
  EXPECT(SharedRegion::join(name).status == Status::Missing);
}

TEST("memory that somebody uses is not made again") {
  const std::string name = nameOf("busy");
  const SharedRegion::Opened first = SharedRegion::create(name);
  EXPECT(SharedRegion::create(name).status == Status::InUse);
  EXPECT(exists(name));
}

TEST("what a killed process leaves behind can be joined, and is replaced by a new start") {
  const std::string name = nameOf("leftover");
  inKilledProcess([&] {
    // A crash destroys nothing.
    SharedRegion* region = SharedRegion::create(name).region.release();
    region->layout().serving_epoch = 3;
    region->beginInitializing();
  });
  SharedRegion::Opened joined = SharedRegion::join(name);
  EXPECT(joined.status == Status::Joined);
  EXPECT(joined.region->isAlone());
  EXPECT(joined.region->layout().serving_epoch.load() == 3u);
  // Its mark is gone with it.
  EXPECT(joined.region->beginInitializing());
  joined.region.reset();

  inKilledProcess([&] { static_cast<void>(SharedRegion::create(name).region.release()); });
  EXPECT(SharedRegion::create(name).status == Status::Replaced);
}

TEST("one process at a time initialises") {
  const std::string name = nameOf("initialize");
  const SharedRegion::Opened first = SharedRegion::create(name);
  const SharedRegion::Opened second = SharedRegion::join(name);
  EXPECT(first.region->beginInitializing());
  EXPECT(!second.region->beginInitializing());
  first.region->endInitializing();
  EXPECT(second.region->beginInitializing());
}

TEST("another layout is told from ours, and from nothing that anyone uses") {
  const std::string name = nameOf("layout");
  SharedRegion::Opened first = SharedRegion::create(name);
  first.region->layout().layout_version = 99;
  const SharedRegion::Opened other = SharedRegion::join(name);
  EXPECT(other.status == Status::OtherLayout);
  EXPECT(other.layout_version == 99u);
  first.region->layout().magic = 0;
  EXPECT(SharedRegion::join(name).status == Status::OtherLayout);
  first.region.reset();

  const net::FileDescriptor file(::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600));
  EXPECT(::write(file.get(), "not ours", 8) == 8);
  EXPECT(SharedRegion::join(name).status == Status::Missing);
  EXPECT(SharedRegion::create(name).status == Status::Replaced);
}

TEST("a lock whose holder died is free") {
  const std::string name = nameOf("lock");
  SharedRegion::Opened opened = SharedRegion::create(name);
  ProcessLock& lock = opened.region->layout().log_lock;
  inKilledProcess([&] { lock.tryLockFor(1000); });
  EXPECT(lock.tryLockFor(1000));
  lock.unlock();
  EXPECT(lock.tryLockFor(0));
  lock.unlock();
}

TEST("a long line is written under the lock from its first part to its last") {
  const std::string name = nameOf("lines");
  SharedRegion::Opened opened = SharedRegion::create(name);
  ProcessLock& lock = opened.region->layout().log_lock;
  SharedLines shared(lock);
  const std::atomic<LineLock*> lines{&shared};
  const auto isHeld = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(lock.tryLockFor(0) ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 1;
  };
  LineGuard guard(lines);
  guard.begin("whole\n");
  EXPECT(!isHeld());
  guard.begin("one part");
  EXPECT(isHeld());
  guard.wrote("one part");
  guard.begin("the rest\n");
  guard.wrote("the r");
  EXPECT(isHeld());
  guard.wrote("est\n");
  EXPECT(!isHeld());
}

TEST("a lock that is held is not waited for longer than asked") {
  const std::string name = nameOf("held");
  SharedRegion::Opened opened = SharedRegion::create(name);
  ProcessLock& lock = opened.region->layout().access_log_lock;
  EXPECT(lock.tryLockFor(1000));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(lock.tryLockFor(10) ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  lock.unlock();
}

TEST("whoever waits for a lock has it when its holder dies") {
  const std::string name = nameOf("dies");
  SharedRegion::Opened opened = SharedRegion::create(name);
  ProcessLock& lock = opened.region->layout().access_log_lock;
  int ready[2];
  EXPECT(::pipe(ready) == 0);
  const auto say = [&] { return ::write(ready[1], "x", 1) == 1; };
  const auto hear = [&] {
    char byte;
    return ::read(ready[0], &byte, 1) == 1;
  };
  const pid_t holder = ::fork();
  if (holder == 0) {
    if (lock.tryLockFor(1000) && say()) ::pause();
    ::_exit(1);
  }
  EXPECT(hear());
  const pid_t waiter = ::fork();
  if (waiter == 0) ::_exit(!lock.tryLockFor(0) && say() && lock.tryLockFor(60'000) ? 0 : 1);
  EXPECT(hear());
  ::kill(holder, SIGKILL);
  int status = 0;
  ::waitpid(waiter, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::waitpid(holder, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace fairlead::hot_restart
