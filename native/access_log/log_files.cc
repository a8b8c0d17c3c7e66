#include "access_log/log_files.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

namespace fairlead::access_log {

namespace {

using Counter = stats::Filesystem::Counter;
using Gauge = stats::Filesystem::Gauge;

constexpr size_t kHandOverBytes = 64 * 1024;
constexpr int kMode = 0644;

net::FileDescriptor openForAppending(const std::string& path) {
  net::FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode));
  // A socket or a closed terminal behind the name cannot be opened again, but can be shared.
  if (!fd.valid() && path == "/dev/stdout") fd = net::FileDescriptor(::dup(STDOUT_FILENO));
  if (!fd.valid() && path == "/dev/stderr") fd = net::FileDescriptor(::dup(STDERR_FILENO));
  return fd;
}

}  // namespace

void LogFile::lineDone(size_t worker) {
  Lane& lane = lanes_[worker];
  stats::Shard<stats::Filesystem>& stats = *files_.stats_->shard(worker + 1);
  stats.add(Counter::WriteBuffered);
  stats.up(Gauge::WriteTotalBuffered, lane.text.size() - lane.counted);
  lane.counted = lane.text.size();
  if (lane.text.size() >= kHandOverBytes) handOver(worker, false);
}

void LogFile::handOver(size_t worker, bool by_timer) {
  Lane& lane = lanes_[worker];
  if (lane.text.empty()) return;
  if (by_timer) files_.stats_->shard(worker + 1)->add(Counter::FlushedByTimer);
  std::string text;
  text.reserve(lane.text.capacity());
  text.swap(lane.text);
  lane.counted = 0;
  files_.push(this, std::move(text));
}

LogFiles::LogFiles(size_t workers, std::shared_ptr<stats::Block<stats::Filesystem>> stats)
    : workers_(workers), stats_(std::move(stats)), thread_([this] { run(); }) {}

LogFiles::~LogFiles() { stop(); }

Result<std::shared_ptr<LogFile>> LogFiles::open(const std::string& path) {
  const std::lock_guard lock(files_mutex_);
  if (const auto found = files_.find(path); found != files_.end()) return found->second;
  net::FileDescriptor fd = openForAppending(path);
  if (!fd.valid()) {
    return Error{"access log: unable to open file '" + path + "': " + std::strerror(errno)};
  }
  auto file = std::make_shared<LogFile>(*this, path, std::move(fd), workers_);
  files_[path] = file;
  return file;
}

void LogFiles::flushWorker(size_t worker) {
  const std::lock_guard lock(files_mutex_);
  for (const auto& [path, file] : files_) file->handOver(worker, true);
}

void LogFiles::reopen() { push(nullptr, {}); }

void LogFiles::push(LogFile* file, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    const size_t size = text.size();
    if (file && waiting_bytes_ + text.size() > kMaxWaitingBytes) {
      // write_failed is the flusher's to count; the job tells it, without its bytes.
      text.clear();
    }
    waiting_bytes_ += text.size();
    jobs_.push_back({file, std::move(text), size});
  }
  ready_.notify_one();
}

void LogFiles::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  ready_.notify_one();
  thread_.join();
  for (const auto& [path, file] : files_) {
    for (LogFile::Lane& lane : file->lanes_) {
      if (!lane.text.empty()) write(*file, lane.text, lane.text.size());
      lane.text.clear();
    }
  }
}

void LogFiles::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    if (job.file) {
      write(*job.file, job.text, job.size);
    } else {
      reopenAll();
    }
    lock.lock();
    waiting_bytes_ -= job.text.size();
  }
}

void LogFiles::write(LogFile& file, std::string_view text, size_t size) {
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(workers_ + 1);
  bool failed = text.empty();
  while (!text.empty()) {
    const ssize_t written = ::write(file.fd_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      failed = true;
      break;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  stats.add(failed ? Counter::WriteFailed : Counter::WriteCompleted);
  stats.down(Gauge::WriteTotalBuffered, size);
}

void LogFiles::reopenAll() {
  const std::lock_guard lock(files_mutex_);
  for (const auto& [path, file] : files_) {
    net::FileDescriptor fd = openForAppending(path);
    if (fd.valid()) {
      file->fd_ = std::move(fd);
    } else {
      stats_->shard(workers_ + 1)->add(Counter::ReopenFailed);
    }
  }
}

}  // namespace fairlead::access_log
