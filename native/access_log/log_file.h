// One log file, shared by all that log to its path. Each worker, and the control thread, appends to
// a lane of its own, without a lock; the flusher owns the descriptor.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/file_descriptor.h"
#include "stats/registry.h"

namespace fairlead::access_log {

using FilesystemStats = stats::Block<stats::Filesystem>;

// Stands for a worker's number. What comes after it is the first lane, and the first shard.
constexpr size_t kControlThread = SIZE_MAX;

class Flusher;

class LogFile : public std::enable_shared_from_this<LogFile> {
 public:
  // Opens it for appending. `hand_over_bytes`: a lane that holds as much is handed to the flusher.
  static Result<std::shared_ptr<LogFile>> open(std::string path, size_t workers,
                                               size_t hand_over_bytes, Flusher& flusher,
                                               std::shared_ptr<FilesystemStats> stats);

  const std::string& path() const { return path_; }

  // ---- a worker's thread, or the control thread ----
  // Where its next line goes; call lineDone() after appending to it.
  std::string* lane(size_t worker) { return &laneOf(worker).text; }
  void lineDone(size_t worker);
  // Hands over what the worker holds.
  void handOver(size_t worker);

  // ---- the flusher's thread ----
  // Whether all was written. A pipe or a terminal that takes nothing is waited for, but after
  // `is_stopping` not for long.
  bool write(std::string_view text, const std::atomic<bool>& is_stopping);
  // Opens the path anew, as after a rotation. False: it cannot be, and the old file stays.
  bool reopen();

  // ---- after the workers ended ----
  // What no worker handed over any more.
  std::string takeRest();
  // No lane holds anything.
  bool isEmpty() const;

 private:
  struct alignas(64) Lane {
    std::string text;
    // How much of it was counted as buffered.
    size_t counted = 0;
  };

  LogFile(std::string path, size_t workers, size_t hand_over_bytes, Flusher& flusher,
          std::shared_ptr<FilesystemStats> stats)
      : path_(std::move(path)),
        hand_over_bytes_(hand_over_bytes),
        flusher_(flusher),
        stats_(std::move(stats)),
        lanes_(workers + 1) {}

  Lane& laneOf(size_t worker) { return lanes_[worker + 1]; }
  bool adopt(net::FileDescriptor fd);
  bool waitUntilWritable(const std::atomic<bool>& is_stopping);

  const std::string path_;
  const size_t hand_over_bytes_;
  Flusher& flusher_;
  const std::shared_ptr<FilesystemStats> stats_;
  std::vector<Lane> lanes_;

  net::FileDescriptor fd_;
  // A write may block: it is no file on a disk.
  bool may_block_ = false;
  // How often it was waited for in vain while the process ended.
  int last_polls_ = 0;
};

}  // namespace fairlead::access_log
