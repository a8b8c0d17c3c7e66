// The thread that writes log files, one for all of them. What waits for it is bounded: when the
// disk does not keep up, lines are dropped and counted, so that traffic never waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "log_files/log_file.h"

namespace fairlead::log_files {

class Flusher {
 public:
  // `shard`: the flusher's own in `stats`.
  Flusher(std::shared_ptr<FilesystemStats> stats, size_t shard);
  ~Flusher() { stop(); }

  // errno of the thread that the system refused; 0: it runs.
  int error() const { return error_; }

  // ---- any thread; short ----
  // What is written at once, in the order of the lines' ends.
  void push(std::shared_ptr<LogFile> file, std::vector<LogLines> parts);
  // The files are opened anew; what was pushed before goes to the old.
  void reopen(std::vector<std::shared_ptr<LogFile>> files);
  // Waits, but not for long, until all that was pushed is written.
  void awaitWritten();
  // None, with room for some, if there is any.
  LogLines takeSpare();

  // Writes what was pushed and ends the thread.
  void stop();
  // After stop(): on the caller's thread.
  void writeRest(LogFile& file);

 private:
  // More than this waiting means that the disk does not keep up.
  static constexpr size_t kMaxWaitingBytes = 64 * 1024 * 1024;
  static constexpr size_t kMaxSpares = 32;
  static constexpr size_t kMaxSpareBytes = 256 * 1024;

  struct Job {
    // Null: all of `reopened` are opened anew.
    std::shared_ptr<LogFile> file;
    std::vector<LogLines> parts;
    size_t bytes = 0;
    std::vector<std::shared_ptr<LogFile>> reopened;
  };

  void run();
  void write(LogFile& file, const std::vector<LogLines>& parts);
  // With mutex_ held.
  void keepSpares(std::vector<LogLines> parts);
  void countDrops(uint64_t writes, uint64_t bytes);

  const std::shared_ptr<FilesystemStats> stats_;
  const size_t shard_;
  // The flusher's thread; at the end, whoever stops it.
  std::string merged_;
  // Set once, under mutex_; read by writes that wait.
  std::atomic<bool> is_stopping_{false};

  Mutex mutex_;
  std::condition_variable_any ready_;
  std::condition_variable_any idle_;
  // Guarded by mutex_, all of them.
  std::deque<Job> jobs_;
  bool is_writing_ = false;
  size_t waiting_bytes_ = 0;
  uint64_t dropped_writes_ = 0;
  uint64_t dropped_bytes_ = 0;
  std::vector<LogLines> spares_;

  Thread thread_;
  const int error_;
};

}  // namespace fairlead::log_files
