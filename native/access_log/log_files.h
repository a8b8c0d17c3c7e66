// All log files by path, and their flusher. The control thread opens; workers append (see LogFile)
// and hand over what they hold at every flush interval.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "access_log/flusher.h"
#include "access_log/log_file.h"
#include "base/mutex.h"
#include "base/result.h"

namespace fairlead::access_log {

class LogFiles {
 public:
  static constexpr size_t kHandOverBytes = 64 * 1024;

  // `stats`: its shard `workers + 1` is the flusher's. `hand_over_bytes`: a worker hands over what
  // it holds for a file as soon as it is as much.
  LogFiles(size_t workers, std::shared_ptr<FilesystemStats> stats,
           size_t hand_over_bytes = kHandOverBytes);
  ~LogFiles() { stop(); }

  // The control thread's: the file at that path, opened for appending, or why it cannot be.
  Result<std::shared_ptr<LogFile>> open(const std::string& path);
  // A worker's thread: hands over all that the worker holds.
  void flushWorker(size_t worker);
  // Any thread: files are opened anew, as after a rotation; lines handed over before go to the old.
  void reopen();
  // Writes what was handed over and ends the thread, then writes what workers still held; they must
  // have ended before. Nothing is logged afterwards.
  void stop();

 private:
  std::vector<std::shared_ptr<LogFile>> files();
  void closeUnused();

  const size_t workers_;
  const size_t hand_over_bytes_;
  const std::shared_ptr<FilesystemStats> stats_;
  // Never held while a file is opened or written: workers take it too.
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<LogFile>> files_;  // Guarded by mutex_.
  bool has_stopped_ = false;
  Flusher flusher_;
};

}  // namespace fairlead::access_log
