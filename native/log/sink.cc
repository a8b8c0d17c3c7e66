#include "log/sink.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <utility>

#include "base/append_file.h"
#include "base/thread.h"
#include "log/log.h"

namespace fairlead::log {

namespace {

using std::chrono::milliseconds;

// How long the end of the process waits for whoever takes the lines.
constexpr milliseconds kExitLimit{1000};

// A thread's ring; the sink lets go of it once the thread has ended and its lines are written.
struct RingHandle {
  std::shared_ptr<Ring> ring;
  ~RingHandle() {
    if (ring) ring->close();
  }
};
thread_local RingHandle own;

thread_local bool is_sink_thread = false;

}  // namespace

Sink& Sink::get() {
  static Sink& sink = *new Sink;
  return sink;
}

Sink::Sink() { out_.reserve(2 * kBatchBytes); }

bool Sink::isOwnThread() const { return is_sink_thread; }

Ring& Sink::ownRing() {
  if (!own.ring) {
    own.ring = std::make_shared<Ring>(kRingBytes);
    const std::lock_guard lock(mutex_);
    rings_.push_back(own.ring);
    ++changes_;
  }
  if (!has_started_.load(std::memory_order_relaxed)) start();
  return *own.ring;
}

// Where the system has no thread for it, lines wait in their rings, and the next one tries again.
void Sink::start() {
  const std::lock_guard lock(mutex_);
  if (has_started_) return;
  is_asleep_ = false;
  Thread thread;
  if (thread.start([this] { run(); }) != 0) return;
  thread.detach();
  has_started_ = true;
  std::atexit([] { Sink::get().flush(kExitLimit); });
}

void Sink::send(const Record& record) {
  ownRing().push(record);
  if (is_asleep_.load()) wake();
}

void Sink::wake() {
  if (!is_asleep_.exchange(false)) return;
  ++wakeups_;
  wakeups_.notify_one();
}

void Sink::command(std::function<void()> run, bool is_reopen) {
  ownRing();
  {
    const std::lock_guard lock(mutex_);
    // One that still waits opens what the path names by then.
    if (is_reopen && !commands_.empty() && commands_.back().is_reopen) return;
    commands_.push_back({own.ring, own.ring->pushed(), is_reopen, std::move(run)});
    ++changes_;
  }
  wake();
}

void Sink::setPattern(std::string pattern, bool escapes) {
  command([this, pattern = std::move(pattern), escapes] { pattern_ = Pattern(pattern, escapes); });
}

std::string Sink::openFile(const std::string& path) {
  const int fd = path.empty() ? STDERR_FILENO : openForAppending(path);
  if (fd < 0) return std::strerror(errno);
  command([this, path, fd] { output_.use(path, fd); });
  return {};
}

void Sink::reopen() {
  const auto run = [this] {
    const std::string why = output_.reopen();
    if (!why.empty()) say(Level::Error, "cannot open the log file again: " + why);
  };
  command(run, true);
}

bool Sink::flush(milliseconds limit) {
  if (!has_started_ || is_sink_thread) return true;
  std::unique_lock lock(flush_mutex_);
  const uint64_t ticket = ++flushes_asked_;
  wake();
  return flushed_.wait_for(lock, limit, [&] { return flushes_done_ >= ticket; });
}

void Sink::run() {
  is_sink_thread = true;
  ::pthread_setname_np(::pthread_self(), "log");
  for (;;) {
    const uint32_t seen = wakeups_;
    const uint64_t asked = flushes_asked_;
    if (work()) continue;
    {
      const std::lock_guard lock(flush_mutex_);
      flushes_done_ = asked;
    }
    flushed_.notify_all();
    is_asleep_ = true;
    // What came before the others could see that.
    if (hasWork() || flushes_asked_ != asked) {
      is_asleep_ = false;
      continue;
    }
    wakeups_.wait(seen);
    is_asleep_ = false;
  }
}

bool Sink::hasWork() {
  if (changes_ != known_changes_) return true;
  for (const auto& ring : known_rings_) {
    if (!ring->isEmpty()) return true;
  }
  return false;
}

bool Sink::work() {
  if (changes_ != known_changes_) {
    const std::lock_guard lock(mutex_);
    known_changes_ = changes_;
    known_rings_ = rings_;
    has_commands_ = !commands_.empty();
  }
  bool has_worked = false;
  while (out_.size() < kBatchBytes) {
    if (has_commands_ && runCommand()) {
      has_worked = true;
      continue;
    }
    Ring* ring = oldest();
    if (ring == nullptr) break;
    // A command may stand before this line: whoever sent both raised changes_ in between.
    if (changes_ != known_changes_) {
      has_worked = true;
      break;
    }
    pattern_.format(*ring->front(), &out_);
    ring->pop();
    has_worked = true;
  }
  writeOut();
  tellDropped();
  if (!has_worked) forgetClosedRings();
  return has_worked;
}

// The first command, if its lines are out.
bool Sink::runCommand() {
  std::unique_lock lock(mutex_);
  if (commands_.front().ring->taken() < commands_.front().after) return false;
  const Command command = std::move(commands_.front());
  commands_.pop_front();
  has_commands_ = !commands_.empty();
  lock.unlock();
  writeOut();
  command.run();
  return true;
}

Ring* Sink::oldest() {
  Ring* oldest = nullptr;
  for (const auto& ring : known_rings_) {
    const Record* record = ring->front();
    if (record == nullptr) continue;
    if (oldest == nullptr || record->time_ns < oldest->front()->time_ns) oldest = ring.get();
  }
  return oldest;
}

void Sink::writeOut() {
  if (out_.empty()) return;
  const size_t lost = output_.write(out_);
  if (lost > 0) {
    lost_why_ = std::strerror(errno);
    const std::string_view rest = std::string_view(out_).substr(out_.size() - lost);
    for (const char c : rest) lost_lines_ += c == '\n';
    out_.clear();
    return;
  }
  out_.clear();
  if (const uint64_t lines = std::exchange(lost_lines_, 0); lines > 0) {
    say(Level::Warning, std::to_string(lines) +
                            " log line(s) could not be written: " + std::exchange(lost_why_, {}));
    writeOut();
  }
}

void Sink::tellDropped() {
  uint64_t dropped = dropped_before_;
  for (const auto& ring : known_rings_) dropped += ring->dropped();
  if (dropped == told_dropped_) return;
  const uint64_t lines = dropped - std::exchange(told_dropped_, dropped);
  say(Level::Warning, std::to_string(lines) +
                          " log line(s) were dropped: they came faster than they could be written");
  writeOut();
}

void Sink::forgetClosedRings() {
  for (const auto& ring : known_rings_) {
    if (!ring->isClosed() || !ring->isEmpty()) continue;
    dropped_before_ += ring->dropped();
    const std::lock_guard lock(mutex_);
    std::erase(rings_, ring);
    ++changes_;
  }
}

// A line of the sink's own, behind those that are formed already.
void Sink::say(Level level, std::string_view text) {
  if (!isOn(Component::Main, level)) return;
  const std::source_location here = std::source_location::current();
  Record record;
  record.time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  record.thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  record.level = level;
  record.logger = nameOf(Component::Main);
  record.file = "native/log/sink.cc";
  record.line = here.line();
  record.function = here.function_name();
  record.text = text;
  pattern_.format(record, &out_);
}

}  // namespace fairlead::log
