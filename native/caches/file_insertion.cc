#include "caches/file_insertion.h"

#include <unistd.h>

#include <mutex>
#include <utility>

#include "caches/entry_file.h"

namespace fairlead::caches {

namespace {

// Waiting to be written, before its host is asked to wait.
constexpr size_t kMostWaitingBytes = 1 << 20;

}  // namespace

// What a thread does of it, one task at a time: there is another as long as something waits.
class FileInsertion::Job final : public std::enable_shared_from_this<Job> {
 public:
  Job(std::shared_ptr<FileCache> cache, std::string key, std::shared_ptr<Entry> head,
      const Place& place, TicketRef ticket)
      : cache_(std::move(cache)),
        key_(std::move(key)),
        entry_(std::move(head)),
        place_(place),
        ticket_(std::move(ticket)) {}
  ~Job() {
    if (file_.descriptor.valid() && !is_published_) ::unlink(file_.path.c_str());
    cache_->endWriting(key_);
  }

  // ---- the worker's thread ----
  void append(std::string_view data) {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return;
    waiting_.append(data);
    was_behind_ |= waiting_.size() > kMostWaitingBytes;
    schedule();
  }
  void commit(std::string trailers) {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return;
    trailers_ = std::move(trailers);
    is_complete_ = true;
    schedule();
  }
  // It ends on a thread that may wait for the disk.
  void leave() {
    {
      const std::scoped_lock lock(mutex_);
      if (!is_complete_) is_over_ = true;
    }
    cache_->threads().post([self = shared_from_this()] {});
  }
  bool isBehind() {
    const std::scoped_lock lock(mutex_);
    return !is_over_ && was_behind_;
  }

 private:
  // Guarded by mutex_.
  void schedule() {
    if (std::exchange(is_scheduled_, true)) return;
    cache_->threads().post([self = shared_from_this()] { self->work(); });
  }

  // ---- a thread of its own ----
  void work() {
    std::string bytes;
    bool ends = false;
    {
      const std::scoped_lock lock(mutex_);
      bytes.swap(waiting_);
      ends = is_complete_;
      if (is_over_) return;
    }
    const bool is_written = write(bytes) && (!ends || finish());
    bool was_behind = false;
    {
      const std::scoped_lock lock(mutex_);
      is_scheduled_ = false;
      if (!is_written || ends) {
        is_over_ = true;
        waiting_ = {};
      }
      was_behind = waiting_.size() <= kMostWaitingBytes / 2 && std::exchange(was_behind_, false);
      if (!is_over_ && (!waiting_.empty() || is_complete_)) schedule();
    }
    if (!was_behind) return;
    place_.loop.post([ticket = ticket_] {
      if (Asker* const asker = ticket->asker()) asker->onWritten();
    });
  }

  bool write(std::string_view bytes) {
    if (!file_.descriptor.valid()) file_ = cache_->makeFile();
    if (!file_.descriptor.valid()) return false;
    if (!writeAll(fd(), bytes, sizes_.trailersAt())) return false;
    sizes_.body_bytes += bytes.size();
    return true;
  }

  bool finish() {
    const std::string head = writeEntryHead(key_, *entry_);
    sizes_.trailer_bytes = static_cast<uint32_t>(trailers_.size());
    sizes_.head_bytes = static_cast<uint32_t>(head.size());
    is_published_ = writeAll(fd(), trailers_, sizes_.trailersAt()) &&
                    writeAll(fd(), head, sizes_.headAt()) &&
                    writeAll(fd(), writeEntryBlock(sizes_, head, trailers_), 0) &&
                    cache_->publish(file_, key_, sizes_.total(), place_);
    return is_published_;
  }

  int fd() const { return file_.descriptor.get(); }

  const std::shared_ptr<FileCache> cache_;
  const std::string key_;
  const std::shared_ptr<Entry> entry_;
  const Place place_;
  const TicketRef ticket_;
  // The task's that runs.
  FileCache::NewFile file_;
  bool is_published_ = false;
  EntryFileSizes sizes_;
  Mutex mutex_;
  // Guarded by mutex_, all that follow.
  std::string waiting_;
  std::string trailers_;
  bool is_complete_ = false;
  bool is_scheduled_ = false;
  bool was_behind_ = false;
  // Nothing more is written.
  bool is_over_ = false;
};

FileInsertion::FileInsertion(std::shared_ptr<FileCache> cache, std::string key,
                             std::shared_ptr<Entry> head, const Place& place, TicketRef ticket)
    : job_(std::make_shared<Job>(std::move(cache), std::move(key), std::move(head), place,
                                 std::move(ticket))) {}

FileInsertion::~FileInsertion() { job_->leave(); }

void FileInsertion::append(std::string_view data) {
  if (!data.empty()) job_->append(data);
}

void FileInsertion::commit(const http::HeaderMap* trailers) {
  job_->commit(trailers ? writeEntryTrailers(*trailers) : std::string());
}

bool FileInsertion::isBehind() const { return job_->isBehind(); }

}  // namespace fairlead::caches
