#include "access_log/flusher.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace fairlead::access_log {

namespace {

using Counter = stats::Filesystem::Counter;
using Gauge = stats::Filesystem::Gauge;

// Signals are the control thread's.
std::thread startWithoutSignals(auto body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(body);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Flusher::Flusher(std::shared_ptr<FilesystemStats> stats, size_t shard)
    : stats_(std::move(stats)), shard_(shard), thread_(startWithoutSignals([this] { run(); })) {}

void Flusher::push(std::shared_ptr<LogFile> file, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_bytes_ + text.size() > kMaxWaitingBytes) {
      ++dropped_texts_;
      dropped_bytes_ += text.size();
      return;
    }
    waiting_bytes_ += text.size();
    jobs_.push_back({std::move(file), std::move(text), {}});
  }
  ready_.notify_one();
}

void Flusher::reopen(std::vector<std::shared_ptr<LogFile>> files) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({nullptr, {}, std::move(files)});
  }
  ready_.notify_one();
}

std::string Flusher::takeSpare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return {};
  std::string spare = std::move(spares_.back());
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

void Flusher::writeRest(LogFile& file) {
  if (const std::string rest = file.takeRest(); !rest.empty()) write(file, rest);
}

void Flusher::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
    const uint64_t dropped_texts = std::exchange(dropped_texts_, 0);
    const uint64_t dropped_bytes = std::exchange(dropped_bytes_, 0);
    if (dropped_texts > 0) countDrops(dropped_texts, dropped_bytes);
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    if (job.file) write(*job.file, job.text);
    for (const std::shared_ptr<LogFile>& file : job.reopened) {
      if (!file->reopen()) stats_->shard(shard_)->add(Counter::ReopenFailed);
    }
    lock.lock();
    waiting_bytes_ -= job.text.size();
    if (spares_.size() < kMaxSpares && job.text.capacity() <= kMaxSpareBytes) {
      job.text.clear();
      spares_.push_back(std::move(job.text));
    }
  }
}

void Flusher::write(LogFile& file, std::string_view text) {
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(shard_);
  const bool is_written = file.write(text, is_stopping_);
  stats.add(is_written ? Counter::WriteCompleted : Counter::WriteFailed);
  stats.down(Gauge::WriteTotalBuffered, text.size());
}

void Flusher::countDrops(uint64_t texts, uint64_t bytes) {
  stats::Shard<stats::Filesystem>& stats = *stats_->shard(shard_);
  stats.add(Counter::WriteFailed, texts);
  stats.down(Gauge::WriteTotalBuffered, bytes);
}

}  // namespace fairlead::access_log
