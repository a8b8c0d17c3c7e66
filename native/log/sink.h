// The thread that writes the log, one per process. Each thread that logs has a ring; the sink takes
// the oldest line of them, forms it and writes it. Nobody else ever waits for a disk or a pipe:
// when the sink cannot keep up, lines are dropped, counted, and the log says how many once it can
// be written again. It lives as long as the process, and is never destroyed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "log/output.h"
#include "log/pattern.h"
#include "log/record.h"
#include "log/ring.h"

namespace fairlead::log {

class Sink {
 public:
  static Sink& get();

  // ---- any thread; never waits ----
  void send(const Record& record);
  // These take effect between the caller's lines: after those it has sent, before those to come.
  void setPattern(std::string pattern, bool escapes);
  // Why the file cannot be opened, or nothing. An empty path: standard error.
  std::string openFile(const std::string& path);
  void reopen();
  // Whether all is written; safe in a signal's handler.
  bool isIdle() const { return is_asleep_.load(); }
  bool isOwnThread() const;

  // Waits until all that was sent is written, but no longer than this. False: it is not.
  bool flush(std::chrono::milliseconds limit);

 private:
  static constexpr size_t kRingBytes = 1024 * 1024;
  // Of one write.
  static constexpr size_t kBatchBytes = 64 * 1024;

  // Runs once all that the ring held then has been taken.
  struct Command {
    std::shared_ptr<Ring> ring;
    uint64_t after;
    bool is_reopen;
    std::function<void()> run;
  };

  Sink();
  Ring& ownRing();
  void start();
  void command(std::function<void()> run, bool is_reopen = false);
  void wake();

  // ---- the sink's thread ----
  void run();
  bool hasWork();
  // False: there was nothing to do.
  bool work();
  bool runCommand();
  Ring* oldest();
  void forgetClosedRings();
  void writeOut();
  void tellDropped();
  void say(Level level, std::string_view text);

  // Rings and commands; never held while anything is written.
  std::mutex mutex_;
  std::vector<std::shared_ptr<Ring>> rings_;
  std::deque<Command> commands_;
  std::atomic<bool> has_started_{false};
  // Raised with mutex_ held, read without.
  std::atomic<uint64_t> changes_{0};

  // Nothing was there to do, and the thread waits for wakeups_ to change.
  std::atomic<bool> is_asleep_{true};
  std::atomic<uint32_t> wakeups_{0};

  std::mutex flush_mutex_;
  std::condition_variable flushed_;
  std::atomic<uint64_t> flushes_asked_{0};
  uint64_t flushes_done_ = 0;  // Guarded by flush_mutex_.

  // The sink's thread's.
  std::vector<std::shared_ptr<Ring>> known_rings_;
  uint64_t known_changes_ = 0;
  bool has_commands_ = false;
  Pattern pattern_{"[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v"};
  Output output_;
  std::string out_;
  uint64_t told_dropped_ = 0;
  // Dropped in rings that are gone.
  uint64_t dropped_before_ = 0;
  uint64_t lost_lines_ = 0;
  std::string lost_why_;
};

}  // namespace fairlead::log
