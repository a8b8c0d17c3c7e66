#include "hot_restart/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace fairlead::hot_restart {

namespace {

using Status = SharedRegion::Status;

constexpr mode_t kMode = 0600;
// Bytes of the file that are locked; nothing is stored there.
constexpr off_t kMemberByte = 1 << 20;
constexpr off_t kInitializingByte = kMemberByte + 1;
// Of epoch 0; those of others follow.
constexpr off_t kEpochBytes = 2 << 20;
// How long a process may take to make the memory.
constexpr int kTries = 200;
constexpr long kTryNanos = 5'000'000;

bool setLock(int fd, off_t byte, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// Where another process has a lock among these bytes, or -1: the system names any one of them.
off_t findLock(int fd, off_t first, off_t count) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return -1;
  return lock.l_start;
}

// Appends where others have locks of one byte.
void findLocks(int fd, off_t first, off_t count, std::vector<off_t>* found) {
  if (count <= 0) return;
  const off_t at = findLock(fd, first, count);
  if (at < first) return;
  found->push_back(at);
  findLocks(fd, first, at - first, found);
  findLocks(fd, at + 1, first + count - at - 1, found);
}

// All of the memory is there: a file system that is full would else end whoever writes to it.
int reserve(int fd, off_t bytes) {
  for (;;) {
    const int error = ::posix_fallocate(fd, 0, bytes);
    if (error != EINTR) return error;
  }
}

// Its name may have been taken away before it was locked.
bool hasName(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

off_t sizeOf(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 ? status.st_size : 0;
}

RegionLayout* map(int fd) {
  void* memory = ::mmap(nullptr, sizeof(RegionLayout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<RegionLayout*>(memory);
}

uint64_t wallClockMs() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// Returns errno; 0: it may be used.
int initialize(RegionLayout* memory) {
  auto* layout = new (memory) RegionLayout;
  layout->layout_version = RegionLayout::kLayoutVersion;
  layout->size_bytes = sizeof(RegionLayout);
  layout->last_epoch = 0;
  layout->generation = 0;
  layout->original_start_ms = wallClockMs();
  if (const int error = layout->log_lock.init()) return error;
  if (const int error = layout->access_log_lock.init()) return error;
  layout->magic.store(RegionLayout::kMagic, std::memory_order_release);
  return 0;
}

SharedRegion::Opened failed(int error) { return {Status::Failed, error, 0, nullptr}; }

// Sets what makes this memory another's: its version, or that it is not ours at all.
bool isOurLayout(int fd, uint32_t* version) {
  struct {
    uint64_t magic;
    uint32_t layout_version;
    uint32_t size_bytes;
  } head = {};
  *version = 0;
  if (::pread(fd, &head, sizeof(head), 0) != sizeof(head)) return false;
  if (head.magic != RegionLayout::kMagic) return false;
  *version = head.layout_version;
  return head.layout_version == RegionLayout::kLayoutVersion &&
         head.size_bytes == sizeof(RegionLayout) &&
         sizeOf(fd) == static_cast<off_t>(sizeof(RegionLayout));
}

}  // namespace

SharedRegion::Opened SharedRegion::create(const std::string& name) {
  for (int i = 0; i < kTries; ++i) {
    net::FileDescriptor file(::shm_open(name.c_str(), O_RDWR | O_CREAT, kMode));
    if (!file.valid()) return failed(errno);
    if (!setLock(file.get(), kMemberByte, F_WRLCK)) return {Status::InUse, 0, 0, nullptr};
    if (!hasName(file.get())) continue;
    const bool leftover = sizeOf(file.get()) > 0;
    // Nobody maps it: emptying it harms nobody.
    if (::ftruncate(file.get(), 0) != 0) return failed(errno);
    if (const int error = reserve(file.get(), sizeof(RegionLayout))) {
      ::shm_unlink(name.c_str());
      return error == ENOSPC ? Opened{Status::NoRoom, 0, 0, nullptr} : failed(error);
    }
    RegionLayout* layout = map(file.get());
    if (!layout) return failed(errno);
    const int error = initialize(layout);
    std::unique_ptr<SharedRegion> region(new SharedRegion(name, std::move(file), layout));
    if (error != 0) return failed(error);
    if (!setLock(region->file_.get(), kMemberByte, F_RDLCK)) return failed(errno);
    return {leftover ? Status::Replaced : Status::Created, 0, 0, std::move(region)};
  }
  return failed(EAGAIN);
}

SharedRegion::Opened SharedRegion::join(const std::string& name) {
  for (int i = 0; i < kTries; ++i) {
    net::FileDescriptor file(::shm_open(name.c_str(), O_RDWR, kMode));
    if (!file.valid() && errno == ENOENT) return {Status::Missing, 0, 0, nullptr};
    if (!file.valid()) return failed(errno);
    if (!setLock(file.get(), kMemberByte, F_RDLCK)) {
      // It is being made.
      const timespec pause = {0, kTryNanos};
      ::nanosleep(&pause, nullptr);
      continue;
    }
    if (!hasName(file.get())) continue;
    uint32_t version = 0;
    if (!isOurLayout(file.get(), &version)) {
      const bool leftover = setLock(file.get(), kMemberByte, F_WRLCK);
      return {leftover ? Status::Missing : Status::OtherLayout, 0, version, nullptr};
    }
    RegionLayout* layout = map(file.get());
    if (!layout) return failed(errno);
    std::unique_ptr<SharedRegion> region(new SharedRegion(name, std::move(file), layout));
    return {Status::Joined, 0, 0, std::move(region)};
  }
  return failed(EAGAIN);
}

SharedRegion::~SharedRegion() {
  // Given up first: of two that end at once neither would else see that it is the last. Both may;
  // the name may be another memory's by then.
  setLock(file_.get(), kMemberByte, F_UNLCK);
  if (setLock(file_.get(), kMemberByte, F_WRLCK) && hasName(file_.get())) {
    ::shm_unlink(name_.c_str());
  }
  if (!shares_lines_) ::munmap(layout_, sizeof(RegionLayout));
}

void SharedRegion::shareLines() {
  shares_lines_ = true;
  // As long as the process: other threads write with them.
  log_lines.store(new SharedLines(layout_->log_lock), std::memory_order_release);
  access_log_lines.store(new SharedLines(layout_->access_log_lock), std::memory_order_release);
}

bool SharedRegion::beginInitializing() { return setLock(file_.get(), kInitializingByte, F_WRLCK); }

void SharedRegion::endInitializing() { setLock(file_.get(), kInitializingByte, F_UNLCK); }

bool SharedRegion::isAnyoneInitializing() const {
  return findLock(file_.get(), kInitializingByte, 1) >= 0;
}

void SharedRegion::serve(uint32_t epoch, uint32_t generation) {
  setLock(file_.get(), kEpochBytes + epoch, F_WRLCK);
  // One process at a time gets here: see beginInitializing().
  layout_->last_epoch = std::max(layout_->last_epoch.load(), epoch);
  layout_->generation = generation;
}

std::vector<uint32_t> SharedRegion::otherEpochs() const {
  std::vector<off_t> found;
  findLocks(file_.get(), kEpochBytes, off_t{UINT32_MAX} + 1, &found);
  std::sort(found.begin(), found.end());
  std::vector<uint32_t> epochs;
  for (const off_t at : found) epochs.push_back(static_cast<uint32_t>(at - kEpochBytes));
  return epochs;
}

}  // namespace fairlead::hot_restart
