// Log files and the one thread that writes them. A worker appends to a buffer of its own, without a
// lock; full buffers, and all of them at every flush interval, are handed to the flusher, so that a
// slow disk never slows traffic.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/file_descriptor.h"
#include "stats/registry.h"

namespace fairlead::access_log {

class LogFiles;

// One file, shared by all that log to its path.
class LogFile {
 public:
  LogFile(LogFiles& files, std::string path, net::FileDescriptor fd, size_t workers)
      : files_(files), path_(std::move(path)), fd_(std::move(fd)), lanes_(workers) {}

  const std::string& path() const { return path_; }
  // The worker's thread: where its next line goes; call lineDone() after appending to it.
  std::string* lane(size_t worker) { return &lanes_[worker].text; }
  void lineDone(size_t worker);
  // The worker's thread: hands over what it holds.
  void handOver(size_t worker, bool by_timer);

 private:
  friend class LogFiles;
  struct alignas(64) Lane {
    std::string text;
    // How much of it was counted as buffered.
    size_t counted = 0;
  };

  LogFiles& files_;
  const std::string path_;
  net::FileDescriptor fd_;  // The flusher's, once it runs.
  std::vector<Lane> lanes_;
};

class LogFiles {
 public:
  // `stats`: its shard `workers + 1` is the flusher's.
  LogFiles(size_t workers, std::shared_ptr<stats::Block<stats::Filesystem>> stats);
  ~LogFiles();

  // The file at that path, opened for appending, or why it cannot be. The control thread's.
  Result<std::shared_ptr<LogFile>> open(const std::string& path);
  // A worker's thread: hands over all that the worker holds.
  void flushWorker(size_t worker);
  // Any thread: files are opened anew, as after a rotation; lines handed over before go to the old.
  void reopen();
  // Writes what was handed over and ends the thread. Workers must have ended before.
  void stop();

 private:
  friend class LogFile;
  // More than this waiting means that the disk does not keep up: lines are dropped, and counted.
  static constexpr size_t kMaxWaitingBytes = 64 * 1024 * 1024;
  struct Job {
    // Null: open all files anew.
    LogFile* file;
    std::string text;
    // Of the text as it was handed over; the text is gone when it had to be dropped.
    size_t size;
  };

  void push(LogFile* file, std::string text);
  void run();
  void write(LogFile& file, std::string_view text, size_t size);
  void reopenAll();

  const size_t workers_;
  const std::shared_ptr<stats::Block<stats::Filesystem>> stats_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;         // Guarded by mutex_, as the next two.
  size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  std::mutex files_mutex_;
  std::map<std::string, std::shared_ptr<LogFile>> files_;  // Guarded by files_mutex_.
  std::thread thread_;
};

}  // namespace fairlead::access_log
