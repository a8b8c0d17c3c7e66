#include "caches/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/xxhash.h"
#include "caches/entry_file.h"
#include "caches/file_insertion.h"
#include "stats/filter_scopes.h"

namespace fairlead::caches {

namespace {

constexpr std::string_view kEntryPrefix = "cache-";
constexpr std::string_view kNewPrefix = ".new-";
// What was left by a process that ended while it wrote.
constexpr std::time_t kForgottenSeconds = 3600;

struct FoundFile {
  std::string name;
  uint64_t bytes;
  // When it was last read or written.
  timespec used;
};

bool isLater(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// Calls visit(name, status) for each file of the folder.
template <typename Visit>
void forEachFile(const std::string& path, Visit visit) {
  DIR* const folder = ::opendir(path.c_str());
  if (!folder) return;
  while (const dirent* const entry = ::readdir(folder)) {
    struct stat status = {};
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kEntryPrefix) && !name.starts_with(kNewPrefix)) continue;
    if (::fstatat(::dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode)) visit(name, status);
  }
  ::closedir(folder);
}

}  // namespace

FileCache::FileCache(const plan::FileCache& plan, FileThreads& threads, stats::Registry& registry)
    : plan_(plan), threads_(threads) {
  const auto gauge = [&](std::string_view name) {
    return registry.create<stats::CachePathGauge>(stats::cachePathScope(name, plan_.path));
  };
  events_ = registry.create<stats::CacheEvents>(stats::cacheEventScope(plan_.path));
  eviction_runs_ =
      registry.create<stats::CachePathCounter>(stats::cachePathScope("eviction_runs", plan_.path));
  size_bytes_ = gauge("size_bytes");
  size_count_ = gauge("size_count");
  limit_bytes_ = gauge("size_limit_bytes");
  limit_count_ = gauge("size_limit_count");
  using Gauge = stats::CachePathGauge::Gauge;
  limit_bytes_->shard(0)->set(Gauge::Slash, plan_.max_bytes.value_or(0));
  limit_count_->shard(0)->set(Gauge::Slash, plan_.max_entries.value_or(0));
  measure();
}

void FileCache::measure() {
  const std::time_t now = std::time(nullptr);
  forEachFile(plan_.path, [&](std::string_view name, const struct stat& status) {
    if (name.starts_with(kEntryPrefix)) {
      bytes_ += static_cast<uint64_t>(status.st_size);
      ++files_;
    } else if (status.st_mtime + kForgottenSeconds < now) {
      ::unlink((plan_.path + std::string(name)).c_str());
    }
  });
  using Gauge = stats::CachePathGauge::Gauge;
  size_bytes_->shard(0)->up(Gauge::Slash, bytes_);
  size_count_->shard(0)->up(Gauge::Slash, files_);
}

std::string FileCache::pathOf(const std::string& key) const {
  return plan_.path + std::string(kEntryPrefix) + std::to_string(xxHash64(key));
}

// ---- what is there ----

bool FileCache::lookup(const std::string& key, const Place& place, const TicketRef& ticket,
                       EntryRef*) {
  threads_.post([self = shared_from_this(), key, place, ticket] {
    net::FileDescriptor file(::open(self->pathOf(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    EntryFileSizes sizes;
    EntryRef entry;
    if (file.valid()) entry = readEntryFile(std::move(file), key, &sizes);
    place.loop.post([self, place, ticket, entry] {
      if (!entry || !entry->is_directory) {
        using Counter = stats::CacheEvents::Counter;
        self->events_->shard(place.worker + 1)
            ->add(entry ? Counter::EventTypeHit : Counter::EventTypeMiss);
      }
      if (Asker* const asker = ticket->asker()) asker->onLookup(entry);
    });
  });
  return false;
}

void FileCache::read(const EntryRef& entry, uint64_t offset, size_t most, const Place& place,
                     const TicketRef& ticket) {
  threads_.post([entry, offset, most, place, ticket] {
    std::string bytes;
    if (!readAll(entry->file->get(), &bytes, most, entry->body_at + offset)) bytes.clear();
    place.loop.post([ticket, bytes = std::move(bytes)]() mutable {
      if (Asker* const asker = ticket->asker()) asker->onRead(std::move(bytes));
    });
  });
}

// ---- what comes ----

bool FileCache::beginWriting(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  return writing_.insert(key).second;
}

void FileCache::endWriting(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  writing_.erase(key);
}

std::unique_ptr<Insertion> FileCache::insert(std::string key, std::shared_ptr<Entry> head,
                                             const Place& place, const TicketRef& ticket) {
  if (!beginWriting(key)) return nullptr;
  return std::make_unique<FileInsertion>(shared_from_this(), std::move(key), std::move(head), place,
                                         ticket);
}

FileCache::NewFile FileCache::makeFile() {
  NewFile file;
  file.path = plan_.path + std::string(kNewPrefix) + std::to_string(::getpid()) + "-" +
              std::to_string(next_name_.fetch_add(1));
  file.descriptor = net::FileDescriptor(
      ::open(file.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file;
}

bool FileCache::publish(const NewFile& file, const std::string& key, uint64_t bytes,
                        const Place& place) {
  const std::string path = pathOf(key);
  Change change;
  struct stat before = {};
  if (::lstat(path.c_str(), &before) == 0) {
    change.gone_bytes = static_cast<uint64_t>(before.st_size);
    change.gone_files = 1;
  }
  if (::rename(file.path.c_str(), path.c_str()) != 0) return false;
  change.added_bytes = bytes;
  change.added_files = 1;
  bytes_ += bytes - change.gone_bytes;
  files_ += 1 - change.gone_files;
  tell(change, place);
  if (isOverLimit() && !is_evicting_.exchange(true)) {
    tell(evict(), place);
    is_evicting_ = false;
  }
  return true;
}

void FileCache::update(const std::string& key, const EntryRef&, EntryRef entry,
                       const Place& place) {
  if (!beginWriting(key)) return;
  threads_.post([self = shared_from_this(), key, entry = std::move(entry), place] {
    self->writeHead(key, *entry, place);
    self->endWriting(key);
  });
}

// Who reads meanwhile finds a checksum that does not fit, and no entry.
void FileCache::writeHead(const std::string& key, const Entry& entry, const Place& place) {
  net::FileDescriptor file(::open(pathOf(key).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return;
  const int fd = file.get();
  EntryFileSizes sizes;
  const std::shared_ptr<Entry> old = readEntryFile(std::move(file), key, &sizes);
  if (!old || sizes.body_bytes != entry.body_bytes) return;
  Change change;
  change.gone_bytes = sizes.total();
  std::string trailers;
  if (!readAll(fd, &trailers, sizes.trailer_bytes, sizes.trailersAt())) return;
  const std::string head = writeEntryHead(key, entry);
  sizes.head_bytes = static_cast<uint32_t>(head.size());
  if (!writeAll(fd, head, sizes.headAt()) ||
      ::ftruncate(fd, static_cast<off_t>(sizes.total())) != 0 ||
      !writeAll(fd, writeEntryBlock(sizes, head, trailers), 0)) {
    return;
  }
  change.added_bytes = sizes.total();
  bytes_ += change.added_bytes - change.gone_bytes;
  tell(change, place);
}

// ---- what goes ----

bool FileCache::isOverLimit() const {
  return (plan_.max_bytes && bytes_ > *plan_.max_bytes) ||
         (plan_.max_entries && files_ > *plan_.max_entries);
}

// The ones that were used last stay, as many as may.
FileCache::Change FileCache::evict() {
  std::vector<FoundFile> found;
  forEachFile(plan_.path, [&](std::string_view name, const struct stat& status) {
    if (!name.starts_with(kEntryPrefix)) return;
    const timespec used = isLater(status.st_atim, status.st_ctim) ? status.st_atim : status.st_ctim;
    found.push_back({std::string(name), static_cast<uint64_t>(status.st_size), used});
  });
  std::ranges::sort(found,
                    [](const FoundFile& a, const FoundFile& b) { return isLater(a.used, b.used); });
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  const uint64_t most_bytes = plan_.max_bytes.value_or(kAny);
  const uint64_t most_files = plan_.max_entries.value_or(kAny);
  uint64_t bytes = 0;
  uint64_t files = 0;
  bool fits = true;
  for (const FoundFile& file : found) {
    fits = fits && bytes + file.bytes <= most_bytes && files + 1 <= most_files;
    if (!fits && ::unlink((plan_.path + file.name).c_str()) == 0) continue;
    bytes += file.bytes;
    ++files;
  }
  Change change;
  change.eviction_runs = 1;
  const uint64_t bytes_before = bytes_.exchange(bytes);
  const uint64_t files_before = files_.exchange(files);
  (bytes > bytes_before ? change.added_bytes : change.gone_bytes) =
      std::max(bytes, bytes_before) - std::min(bytes, bytes_before);
  (files > files_before ? change.added_files : change.gone_files) =
      std::max(files, files_before) - std::min(files, files_before);
  return change;
}

void FileCache::tell(const Change& change, const Place& place) {
  place.loop.post([self = shared_from_this(), change, thread = place.worker + 1] {
    using Gauge = stats::CachePathGauge::Gauge;
    self->size_bytes_->shard(thread)->up(Gauge::Slash, change.added_bytes);
    self->size_bytes_->shard(thread)->down(Gauge::Slash, change.gone_bytes);
    self->size_count_->shard(thread)->up(Gauge::Slash, change.added_files);
    self->size_count_->shard(thread)->down(Gauge::Slash, change.gone_files);
    if (change.eviction_runs == 0) return;
    using Counter = stats::CachePathCounter::Counter;
    self->eviction_runs_->shard(thread)->add(Counter::Slash, change.eviction_runs);
  });
}

}  // namespace fairlead::caches
