// One log file, shared by all that log to its path. Each worker, and the control thread, appends to
// a lane of its own, without a lock; the flusher owns the descriptor.
//
// A flush gathers from all lanes what ended until the moment when it began, so that the file's
// lines are in the order of their ends. Each thread gives what its lane holds when it is asked to;
// what ends meanwhile waits for the next flush. One is under way at a time.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "log_files/log_lines.h"
#include "log_files/worker_post.h"
#include "net/file_descriptor.h"
#include "stats/registry.h"

namespace fairlead::log_files {

using FilesystemStats = stats::Block<stats::Filesystem>;

// Stands for a worker's number. What comes after it is the first lane, and the first shard.
constexpr size_t kControlThread = SIZE_MAX;

class Flusher;

class LogFile : public std::enable_shared_from_this<LogFile> {
 public:
  struct Context {
    size_t workers;
    // A lane that holds as much is flushed.
    size_t flush_bytes;
    Flusher& flusher;
    WorkerPost& post;
    std::shared_ptr<FilesystemStats> stats;
  };
  // Opens it for appending.
  static Result<std::shared_ptr<LogFile>> open(std::string path, const Context& context);

  const std::string& path() const { return path_; }

  // ---- a worker's thread, or the control thread ----
  // Where its next line goes; call lineDone() after appending to it.
  std::string* lane(size_t worker) { return laneOf(worker).lines.text(); }
  void lineDone(size_t worker);

  // ---- the control thread ----
  // Writes what its lane holds, in its place among the workers' lines. Where there are none of
  // those, a file on a disk has it on return, if the disk is well.
  void flushControlThread();

  // ---- any thread ----
  void flush();

  // ---- the flusher's thread ----
  // Whether all was written. A pipe or a terminal that takes nothing is waited for, but after
  // `is_stopping` not for long.
  bool write(std::string_view text, const std::atomic<bool>& is_stopping);
  // Opens the path anew, as after a rotation. False: it cannot be, and the old file stays.
  bool reopen();

  // ---- after the workers ended ----
  // What was not flushed any more.
  std::vector<LogLines> takeRest();
  // Nothing waits for a flush.
  bool isEmpty();

 private:
  struct alignas(64) Lane {
    LogLines lines;
  };
  // What a flush has gathered.
  struct Gathered {
    uint64_t number = 0;
    uint64_t until_ns = 0;
    // Workers that have not given yet; 0: no flush is under way.
    size_t missing = 0;
    std::vector<LogLines> parts;
  };

  LogFile(std::string path, const Context& context)
      : path_(std::move(path)), context_(context), lanes_(context.workers + 1) {}

  Lane& laneOf(size_t worker) { return lanes_[worker + 1]; }
  // A worker's thread.
  void onFull(size_t worker);
  void give(size_t worker, uint64_t flush_number);
  // With mutex_ held. Returns the number of the flush.
  uint64_t beginFlush();
  void endFlush();
  // Without it.
  void askWorkers(uint64_t flush_number);

  bool adopt(net::FileDescriptor fd);
  bool waitUntilWritable(const std::atomic<bool>& is_stopping);

  const std::string path_;
  const Context context_;
  std::vector<Lane> lanes_;
  // Whether there is anyone to ask; for good, once there is.
  std::atomic<bool> has_workers_lines_{false};
  // Whether `gathered_` misses any: a lane that is full looks here for each line.
  std::atomic<bool> is_flushing_{false};

  Mutex mutex_;
  // Guarded by mutex_, both.
  Gathered gathered_;
  // The control thread's, for the next flush.
  LogLines control_lines_;

  net::FileDescriptor fd_;
  // A write may block: it is no file on a disk. The flusher sets it.
  std::atomic<bool> may_block_{false};
  // How often it was waited for in vain while the process ended.
  int last_polls_ = 0;
};

}  // namespace fairlead::log_files
