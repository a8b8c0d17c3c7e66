#include "log_files/log_file.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/append_file.h"
#include "base/line_lock.h"
#include "log_files/flusher.h"

namespace fairlead::log_files {

namespace {

// How often a blocked write looks whether the process ends, and how long a file is waited for then.
constexpr int kPollMs = 100;
constexpr int kLastPolls = 20;
// How far a full lane may grow while others have not given theirs.
constexpr size_t kMaxLateBytes = 1024 * 1024;

// Of a clock that all threads share.
uint64_t nowNanos() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::open(std::string path, const Context& context) {
  net::FileDescriptor fd(openForAppending(path));
  if (!fd.valid()) {
    return Error{"access log: unable to open file '" + path + "': " + std::strerror(errno)};
  }
  std::shared_ptr<LogFile> file(new LogFile(std::move(path), context));
  file->adopt(std::move(fd));
  return file;
}

bool LogFile::adopt(net::FileDescriptor fd) {
  if (!fd.valid()) return false;
  may_block_ = mayBlock(fd.get());
  fd_ = std::move(fd);
  return true;
}

bool LogFile::reopen() { return adopt(net::FileDescriptor(openForAppending(path_))); }

void LogFile::lineDone(size_t worker) {
  LogLines& lines = laneOf(worker).lines;
  const size_t length = lines.lineDone(nowNanos());
  stats::Shard<stats::Filesystem>& stats = *context_.stats->shard(worker + 1);
  stats.add(stats::Filesystem::Counter::WriteBuffered);
  stats.up(stats::Filesystem::Gauge::WriteTotalBuffered, length);
  if (worker == kControlThread) return;
  if (!has_workers_lines_.load(std::memory_order_relaxed)) {
    has_workers_lines_ = true;
    // As in the real server, the first line of a file waits for no others.
    flush();
  }
  if (lines.size() >= context_.flush_bytes) onFull(worker);
}

void LogFile::onFull(size_t worker) {
  LogLines& lines = laneOf(worker).lines;
  const bool is_late = lines.size() >= context_.flush_bytes + kMaxLateBytes;
  if (context_.flush_bytes > 0 && !is_late) {
    if (!is_flushing_.load(std::memory_order_relaxed)) flush();
    return;
  }
  // Either nothing is to wait, or some worker has not come to give its lines for long.
  std::vector<LogLines> alone;
  alone.push_back(context_.flusher.takeSpare());
  std::swap(alone.back(), lines);
  const std::lock_guard lock(mutex_);
  if (gathered_.missing > 0) endFlush();
  context_.flusher.push(shared_from_this(), std::move(alone));
}

void LogFile::flushControlThread() {
  const bool asks_workers = has_workers_lines_;
  uint64_t number = 0;
  {
    LogLines& lines = laneOf(kControlThread).lines;
    const std::lock_guard lock(mutex_);
    control_lines_.append(lines);
    lines.clear();
    // The end of the flush under way begins another.
    if (gathered_.missing > 0) return;
    number = beginFlush();
    if (!asks_workers) endFlush();
  }
  if (asks_workers) {
    askWorkers(number);
  } else if (!may_block_) {
    context_.flusher.awaitWritten();
  }
}

void LogFile::flush() {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (gathered_.missing > 0) return;
    number = beginFlush();
  }
  askWorkers(number);
}

uint64_t LogFile::beginFlush() {
  gathered_.until_ns = nowNanos();
  gathered_.missing = context_.workers;
  is_flushing_.store(true, std::memory_order_relaxed);
  if (!control_lines_.empty()) gathered_.parts.push_back(std::exchange(control_lines_, {}));
  return ++gathered_.number;
}

void LogFile::endFlush() {
  gathered_.missing = 0;
  is_flushing_.store(false, std::memory_order_relaxed);
  context_.flusher.push(shared_from_this(), std::exchange(gathered_.parts, {}));
}

void LogFile::askWorkers(uint64_t flush_number) {
  for (size_t worker = 0; worker < context_.workers; ++worker) {
    context_.post.send(worker, [file = shared_from_this(), worker, flush_number] {
      file->give(worker, flush_number);
    });
  }
}

void LogFile::give(size_t worker, uint64_t flush_number) {
  bool is_next_wanted = false;
  {
    const std::lock_guard lock(mutex_);
    // It did not wait for this worker: the next one takes its lines.
    if (gathered_.number != flush_number || gathered_.missing == 0) return;
    gathered_.parts.push_back(context_.flusher.takeSpare());
    laneOf(worker).lines.takeUntil(gathered_.until_ns, &gathered_.parts.back());
    if (--gathered_.missing > 0) return;
    endFlush();
    is_next_wanted = !control_lines_.empty();
  }
  if (is_next_wanted) flush();
}

bool LogFile::write(std::string_view text, const std::atomic<bool>& is_stopping) {
  LineGuard lines(access_log_lines);
  while (!text.empty()) {
    const std::string_view piece = may_block_ ? pieceForPipe(text) : text;
    if (may_block_ && !waitUntilWritable(is_stopping)) return false;
    if (may_block_) lines.begin(piece);
    const ssize_t written = ::write(fd_.get(), piece.data(), piece.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    lines.wrote(text.substr(0, static_cast<size_t>(written)));
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool LogFile::waitUntilWritable(const std::atomic<bool>& is_stopping) {
  while (last_polls_ < kLastPolls) {
    pollfd poll = {fd_.get(), POLLOUT, 0};
    const int ready = ::poll(&poll, 1, kPollMs);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (is_stopping.load(std::memory_order_relaxed)) ++last_polls_;
  }
  return false;
}

std::vector<LogLines> LogFile::takeRest() {
  const std::lock_guard lock(mutex_);
  gathered_.missing = 0;
  std::vector<LogLines> parts = std::exchange(gathered_.parts, {});
  parts.push_back(std::exchange(control_lines_, {}));
  for (Lane& lane : lanes_) parts.push_back(std::exchange(lane.lines, {}));
  return parts;
}

bool LogFile::isEmpty() {
  const std::lock_guard lock(mutex_);
  return gathered_.missing == 0 && control_lines_.empty() &&
         std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.lines.empty(); });
}

}  // namespace fairlead::log_files
