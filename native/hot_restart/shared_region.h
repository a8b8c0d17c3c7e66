// The memory that all processes of one base id share, and who of them is alive. One per process
// that takes part in hot restarts; the control thread's, but for the locks.
//
// Membership is a lock on the memory's file, which the kernel gives up for whoever dies: so a
// leftover of crashed processes is told from memory in use, whatever it holds, and the last one out
// knows that it is the last. The marks of a process that initialises, and of an epoch that serves
// or drains, are such locks too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hot_restart/process_lock.h"
#include "net/file_descriptor.h"

namespace fairlead::hot_restart {

// What lies in the memory. Whoever changes it raises kLayoutVersion: processes with different
// layouts do not take over from each other.
struct RegionLayout {
  static constexpr uint64_t kMagic = 0x6661'6972'6c65'6164;  // "fairlead"
  static constexpr uint32_t kLayoutVersion = 2;

  // Written last, when all else is there.
  std::atomic<uint64_t> magic;
  uint32_t layout_version;
  uint32_t size_bytes;
  // The highest epoch that ever accepted connections.
  std::atomic<uint32_t> last_epoch;
  // How many processes served so far, when that one began.
  std::atomic<uint32_t> generation;
  // When epoch 0 started, by the wall clock.
  std::atomic<uint64_t> original_start_ms;
  // For lines that the kernel does not write in one piece (more than PIPE_BUF, to a pipe).
  ProcessLock log_lock;
  ProcessLock access_log_lock;
};
static_assert(offsetof(RegionLayout, magic) == 0 && offsetof(RegionLayout, layout_version) == 8 &&
                  offsetof(RegionLayout, size_bytes) == 12,
              "every layout starts alike, so that others are told apart");

class SharedRegion {
 public:
  enum class Status : uint8_t {
    // It was made.
    Created,
    // It was made anew: what crashed processes had left behind is gone.
    Replaced,
    // Joined: other processes made it.
    Joined,
    // create(): a process that is alive uses it.
    InUse,
    // join(): there is none.
    Missing,
    // join(): a process that is alive made it, with another layout.
    OtherLayout,
    // create(): the file system of shared memory is full.
    NoRoom,
    // The system refuses (`error`).
    Failed,
  };
  struct Opened {
    Status status;
    // errno, for Failed.
    int error = 0;
    // Its version, for OtherLayout; 0 when it is not even ours.
    uint32_t layout_version = 0;
    // Null unless it was made or joined.
    std::unique_ptr<SharedRegion> region;
  };

  // `name`: "/fairlead_shared_memory_0".
  static Opened create(const std::string& name);
  static Opened join(const std::string& name);
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  // The last one out removes the name.
  ~SharedRegion();

  // Whether this process may initialise: one at a time does. Ends with endInitializing(), or with
  // the process.
  bool beginInitializing();
  void endInitializing();
  // Whether another process does.
  bool isAnyoneInitializing() const;
  // This process accepts connections from here on; it counts as this epoch until it ends.
  void serve(uint32_t epoch, uint32_t generation);
  // Of the other processes that are alive, and accept connections or did: in ascending order.
  std::vector<uint32_t> otherEpochs() const;

  RegionLayout& layout() { return *layout_; }
  // Long lines of this process's logs keep apart from those of the others, to its very end: so the
  // memory stays mapped.
  void shareLines();

 private:
  SharedRegion(std::string name, net::FileDescriptor file, RegionLayout* layout)
      : name_(std::move(name)), file_(std::move(file)), layout_(layout) {}

  const std::string name_;
  const net::FileDescriptor file_;
  RegionLayout* const layout_;
  bool shares_lines_ = false;
};

}  // namespace fairlead::hot_restart
