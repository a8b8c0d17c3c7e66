#include "access_log/log_file.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "access_log/flusher.h"
#include "base/append_file.h"
#include "base/line_lock.h"

namespace fairlead::access_log {

namespace {

// How often a blocked write looks whether the process ends, and how long a file is waited for then.
constexpr int kPollMs = 100;
constexpr int kLastPolls = 20;

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::open(std::string path, size_t workers,
                                               size_t hand_over_bytes, Flusher& flusher,
                                               std::shared_ptr<FilesystemStats> stats) {
  net::FileDescriptor fd(openForAppending(path));
  if (!fd.valid()) {
    return Error{"access log: unable to open file '" + path + "': " + std::strerror(errno)};
  }
  std::shared_ptr<LogFile> file(
      new LogFile(std::move(path), workers, hand_over_bytes, flusher, std::move(stats)));
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
  Lane& lane = laneOf(worker);
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(worker + 1);
  stats.add(stats::Filesystem::Counter::WriteBuffered);
  stats.up(stats::Filesystem::Gauge::WriteTotalBuffered, lane.text.size() - lane.counted);
  lane.counted = lane.text.size();
  if (lane.text.size() >= hand_over_bytes_) handOver(worker);
}

void LogFile::handOver(size_t worker) {
  Lane& lane = laneOf(worker);
  if (lane.text.empty()) return;
  std::string text = flusher_.takeSpare();
  text.swap(lane.text);
  lane.counted = 0;
  flusher_.push(shared_from_this(), std::move(text));
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

std::string LogFile::takeRest() {
  std::string rest;
  for (Lane& lane : lanes_) {
    rest += lane.text;
    lane.text.clear();
    lane.counted = 0;
  }
  return rest;
}

bool LogFile::isEmpty() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.text.empty(); });
}

}  // namespace fairlead::access_log
