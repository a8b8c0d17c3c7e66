#include "hot_restart/shared_region.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

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
  first.region->serve(7, 1);
  SharedRegion::Opened second = SharedRegion::join(name);
  EXPECT(second.status == Status::Joined);
  EXPECT(second.region->layout().last_epoch.load() == 7u);
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
    region->serve(3, 1);
    region->beginInitializing();
  });
  SharedRegion::Opened joined = SharedRegion::join(name);
  EXPECT(joined.status == Status::Joined);
  EXPECT(joined.region->otherEpochs().empty());
  EXPECT(joined.region->layout().last_epoch.load() == 3u);
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
  EXPECT(!second.region->isAnyoneInitializing());
  EXPECT(first.region->beginInitializing());
  EXPECT(!second.region->beginInitializing());
  EXPECT(second.region->isAnyoneInitializing());
  first.region->endInitializing();
  EXPECT(second.region->beginInitializing());
  EXPECT(!second.region->isAnyoneInitializing());
}

TEST("each process sees which others serve, and no longer those that were killed") {
  const std::string name = nameOf("epochs");
  const SharedRegion::Opened oldest = SharedRegion::create(name);
  SharedRegion::Opened middle = SharedRegion::join(name);
  SharedRegion::Opened newest = SharedRegion::join(name);
  EXPECT(oldest.region->otherEpochs().empty());
  oldest.region->serve(0, 1);
  newest.region->serve(UINT32_MAX, 3);
  middle.region->serve(20, 2);
  EXPECT((oldest.region->otherEpochs() == std::vector<uint32_t>{20, UINT32_MAX}));
  EXPECT((middle.region->otherEpochs() == std::vector<uint32_t>{0, UINT32_MAX}));
  middle.region.reset();
  EXPECT((newest.region->otherEpochs() == std::vector<uint32_t>{0}));
  inKilledProcess([&] { SharedRegion::join(name).region.release()->serve(21, 4); });
  EXPECT((newest.region->otherEpochs() == std::vector<uint32_t>{0}));
  EXPECT(newest.region->layout().last_epoch.load() == UINT32_MAX);
}

TEST("of those that end at once one removes the memory, and never another's") {
  const std::string name = nameOf("together");
  constexpr int kProcesses = 4;
  for (int round = 0; round < 100; ++round) {
    SharedRegion::Opened first = SharedRegion::create(name);
    EXPECT(first.status == Status::Created);
    int go[2];
    EXPECT(::pipe(go) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(::fork());
      if (children.back() != 0) continue;
      ::close(go[1]);
      SharedRegion::Opened joined = SharedRegion::join(name);
      char byte;
      // Ends for all of them when the test closes it.
      while (::read(go[0], &byte, 1) > 0) {
      }
      joined.region.reset();
      ::_exit(0);
    }
    ::close(go[0]);
    ::close(go[1]);
    first.region.reset();
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
    EXPECT(!exists(name));
  }
}

TEST("where shared memory is full none is made, and nothing is left behind") {
  const std::string name = nameOf("full");
  constexpr int kMayNotMount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    // A /dev/shm of this process alone, of a page that a file fills.
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(kMayNotMount);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(2);
    if (::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=4096") != 0) ::_exit(2);
    net::FileDescriptor file(::shm_open("/full", O_RDWR | O_CREAT, 0600));
    if (::write(file.get(), "x", 1) != 1) ::_exit(3);
    if (SharedRegion::create(name).status != Status::NoRoom) ::_exit(4);
    if (exists(name)) ::_exit(5);
    ::shm_unlink("/full");
    file.close();
    ::_exit(SharedRegion::create(name).status == Status::Created ? 0 : 6);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status));
  if (WEXITSTATUS(status) == kMayNotMount) {
    std::fputs("not run: it needs to mount (CAP_SYS_ADMIN)\n", stderr);
    return;
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
