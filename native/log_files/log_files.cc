#include "log_files/log_files.h"

#include <utility>

namespace fairlead::log_files {

LogFiles::LogFiles(size_t workers, std::shared_ptr<FilesystemStats> stats, size_t flush_bytes)
    : workers_(workers),
      flush_bytes_(flush_bytes),
      stats_(std::move(stats)),
      flusher_(stats_, workers + 1) {}

Result<std::shared_ptr<LogFile>> LogFiles::open(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(path); found != files_.end()) return found->second;
  }
  closeUnused();
  Result<std::shared_ptr<LogFile>> file =
      LogFile::open(path, {workers_, flush_bytes_, flusher_, post_, stats_});
  if (!file) return file;
  const std::lock_guard lock(mutex_);
  // Another thread may have been faster.
  return files_.emplace(path, std::move(file.value())).first->second;
}

// Files that no access log names any more and no worker holds lines for.
void LogFiles::closeUnused() {
  std::vector<std::shared_ptr<LogFile>> closed;
  const std::lock_guard lock(mutex_);
  for (auto file = files_.begin(); file != files_.end();) {
    // The copy that comes and goes puts us behind whoever let go before: all lines are in the
    // lanes, and from now on only flush() touches them, which takes the mutex.
    std::shared_ptr<LogFile>(file->second).reset();
    const bool is_unused = file->second.use_count() == 1 && file->second->isEmpty();
    if (is_unused) {
      closed.push_back(std::move(file->second));
      file = files_.erase(file);
    } else {
      ++file;
    }
  }
}

std::vector<std::shared_ptr<LogFile>> LogFiles::files() {
  std::vector<std::shared_ptr<LogFile>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [path, file] : files_) all.push_back(file);
  return all;
}

void LogFiles::flush() {
  for (const std::shared_ptr<LogFile>& file : files()) {
    file->flush();
    // Once for each file and interval, whether there was something or not.
    stats_->shard(1)->add(stats::Filesystem::Counter::FlushedByTimer);
  }
}

void LogFiles::reopen() { flusher_.reopen(files()); }

void LogFiles::stop() {
  if (std::exchange(has_stopped_, true)) return;
  post_.close();
  flusher_.stop();
  for (const std::shared_ptr<LogFile>& file : files()) flusher_.writeRest(*file);
}

}  // namespace fairlead::log_files
