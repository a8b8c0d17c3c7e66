// All log files by path, and their flusher. The control thread opens; workers append (see LogFile).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "log_files/flusher.h"
#include "log_files/log_file.h"

namespace fairlead::log_files {

class LogFiles {
 public:
  static constexpr size_t kFlushBytes = 64 * 1024;

  // `stats`: its shard `workers + 1` is the flusher's. `flush_bytes`: a file is flushed as soon as
  // a worker holds as much for it; 0: each line is written at once, and nothing is put in order.
  LogFiles(size_t workers, std::shared_ptr<FilesystemStats> stats,
           size_t flush_bytes = kFlushBytes);
  ~LogFiles() { stop(); }

  // errno of what the system refused; 0: nothing.
  int error() const { return flusher_.error(); }

  // The control thread's: the file at that path, opened for appending, or why it cannot be.
  Result<std::shared_ptr<LogFile>> open(const std::string& path);
  // How workers are asked for their lines, until stop(). Without it lines are written by stop().
  void reachWorkers(WorkerPost::Send send) { post_.open(std::move(send)); }
  // For others whose workers hold something.
  WorkerPost& post() { return post_; }
  // The first worker's thread, at every flush interval.
  void flush();
  // Any thread: files are opened anew, as after a rotation; lines flushed before go to the old.
  void reopen();
  // Writes what was flushed and ends the thread, then writes what workers still held; they must
  // have ended before. Nothing is logged afterwards.
  void stop();

 private:
  std::vector<std::shared_ptr<LogFile>> files();
  void closeUnused();

  const size_t workers_;
  const size_t flush_bytes_;
  const std::shared_ptr<FilesystemStats> stats_;
  // Never held while a file is opened or written: workers take it too.
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<LogFile>> files_;  // Guarded by mutex_.
  bool has_stopped_ = false;
  WorkerPost post_;
  Flusher flusher_;
};

}  // namespace fairlead::log_files
