#include "log_files/flusher.h"

#include <chrono>
#include <utility>

namespace fairlead::log_files {

namespace {

using Counter = stats::Filesystem::Counter;
using Gauge = stats::Filesystem::Gauge;

// Of a disk that is well a write takes microseconds; of another nobody is kept waiting.
constexpr std::chrono::milliseconds kMaxAwait{50};

}  // namespace

Flusher::Flusher(std::shared_ptr<FilesystemStats> stats, size_t shard)
    : stats_(std::move(stats)), shard_(shard), error_(thread_.start([this] { run(); })) {}

void Flusher::push(std::shared_ptr<LogFile> file, std::vector<LogLines> parts) {
  size_t bytes = 0;
  for (const LogLines& part : parts) bytes += part.size();
  {
    const std::lock_guard lock(mutex_);
    if (bytes == 0 || waiting_bytes_ + bytes > kMaxWaitingBytes) {
      if (bytes > 0) ++dropped_writes_;
      dropped_bytes_ += bytes;
      keepSpares(std::move(parts));
      return;
    }
    waiting_bytes_ += bytes;
    jobs_.push_back({std::move(file), std::move(parts), bytes, {}});
  }
  ready_.notify_one();
}

void Flusher::reopen(std::vector<std::shared_ptr<LogFile>> files) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({nullptr, {}, 0, std::move(files)});
  }
  ready_.notify_one();
}

void Flusher::awaitWritten() {
  std::unique_lock lock(mutex_);
  idle_.wait_for(lock, kMaxAwait, [this] { return jobs_.empty() && !is_writing_; });
}

LogLines Flusher::takeSpare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return {};
  LogLines spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

void Flusher::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_.exchange(true)) return;
  }
  ready_.notify_one();
  thread_.join();
}

void Flusher::writeRest(LogFile& file) { write(file, file.takeRest()); }

void Flusher::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    is_writing_ = false;
    idle_.notify_all();
    ready_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
    const uint64_t dropped_writes = std::exchange(dropped_writes_, 0);
    const uint64_t dropped_bytes = std::exchange(dropped_bytes_, 0);
    if (dropped_writes > 0) countDrops(dropped_writes, dropped_bytes);
    if (jobs_.empty()) return;
    is_writing_ = true;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    if (job.file) write(*job.file, job.parts);
    for (const std::shared_ptr<LogFile>& file : job.reopened) {
      if (!file->reopen()) stats_->shard(shard_)->add(Counter::ReopenFailed);
    }
    lock.lock();
    waiting_bytes_ -= job.bytes;
    keepSpares(std::move(job.parts));
  }
}

void Flusher::keepSpares(std::vector<LogLines> parts) {
  for (LogLines& part : parts) {
    if (spares_.size() == kMaxSpares) return;
    if (part.capacity() == 0 || part.capacity() > kMaxSpareBytes) continue;
    part.clear();
    spares_.push_back(std::move(part));
  }
}

void Flusher::write(LogFile& file, const std::vector<LogLines>& parts) {
  const std::string_view text = LogLines::inOrder(parts, &merged_);
  if (text.empty()) return;
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(shard_);
  const bool is_written = file.write(text, is_stopping_);
  stats.add(is_written ? Counter::WriteCompleted : Counter::WriteFailed);
  stats.down(Gauge::WriteTotalBuffered, text.size());
}

void Flusher::countDrops(uint64_t writes, uint64_t bytes) {
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(shard_);
  stats.add(Counter::WriteFailed, writes);
  stats.down(Gauge::WriteTotalBuffered, bytes);
}

}  // namespace fairlead::log_files
