#include "access_log/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "access_log/flusher.h"

namespace fairlead::access_log {

namespace {

constexpr int kMode = 0644;
// How often a blocked write looks whether the process ends, and how long a file is waited for then.
constexpr int kPollMs = 100;
constexpr int kLastPolls = 20;

net::FileDescriptor openForAppending(const std::string& path) {
  // Never waits: neither for a reader of a pipe, nor later for room in it.
  constexpr int kFlags = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  net::FileDescriptor fd(::open(path.c_str(), kFlags | O_WRONLY, kMode));
  // A named pipe that nobody reads yet: whoever could read it himself may open it.
  if (!fd.valid() && errno == ENXIO) {
    fd = net::FileDescriptor(::open(path.c_str(), kFlags | O_RDWR, kMode));
  }
  const int error = errno;
  // A socket or a closed terminal behind the name cannot be opened again, but can be shared.
  int standard = -1;
  if (path == "/dev/stdout") standard = STDOUT_FILENO;
  if (path == "/dev/stderr") standard = STDERR_FILENO;
  if (!fd.valid() && standard >= 0) {
    fd = net::FileDescriptor(::fcntl(standard, F_DUPFD_CLOEXEC, 0));
  }
  if (!fd.valid()) errno = error;
  return fd;
}

// What one write to a pipe takes whole, so that lines of other writers do not come between; it ends
// with a line if one ends in it.
std::string_view pieceOf(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const size_t line_end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, line_end == std::string_view::npos ? PIPE_BUF : line_end + 1);
}

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::open(std::string path, size_t workers,
                                               size_t hand_over_bytes, Flusher& flusher,
                                               std::shared_ptr<FilesystemStats> stats) {
  net::FileDescriptor fd = openForAppending(path);
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
  struct stat status;
  may_block_ = ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode);
  fd_ = std::move(fd);
  return true;
}

bool LogFile::reopen() { return adopt(openForAppending(path_)); }

void LogFile::lineDone(size_t worker) {
  Lane& lane = lanes_[worker];
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(worker + 1);
  stats.add(stats::Filesystem::Counter::WriteBuffered);
  stats.up(stats::Filesystem::Gauge::WriteTotalBuffered, lane.text.size() - lane.counted);
  lane.counted = lane.text.size();
  if (lane.text.size() >= hand_over_bytes_) handOver(worker);
}

void LogFile::handOver(size_t worker) {
  Lane& lane = lanes_[worker];
  if (lane.text.empty()) return;
  std::string text = flusher_.takeSpare();
  text.swap(lane.text);
  lane.counted = 0;
  flusher_.push(shared_from_this(), std::move(text));
}

bool LogFile::write(std::string_view text, const std::atomic<bool>& is_stopping) {
  while (!text.empty()) {
    const std::string_view piece = may_block_ ? pieceOf(text) : text;
    if (may_block_ && !waitUntilWritable(is_stopping)) return false;
    const ssize_t written = ::write(fd_.get(), piece.data(), piece.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
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
