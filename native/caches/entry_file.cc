#include "caches/entry_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/xxhash.h"

namespace fairlead::caches {

namespace {

constexpr std::string_view kMagic = "FLcache1";
// Of a head or of trailers.
constexpr uint32_t kMostHeadBytes = 4 << 20;

template <typename Number>
void put(std::string* to, Number number) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof(Number));
  to->append(bytes, sizeof(Number));
}

void putHeaders(std::string* to, const http::HeaderMap& headers) {
  uint32_t count = 0;
  for (const http::HeaderEntry& entry : headers) count += entry.name_size > 0 ? 1 : 0;
  put(to, count);
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    put(to, entry.name_size);
    put(to, entry.value_size);
    to->append(entry.name()).append(entry.value());
  }
}

// Reads what was put, as far as there is any.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  bool take(Number* out) {
    if (rest_.size() < sizeof(Number)) return false;
    std::memcpy(out, rest_.data(), sizeof(Number));
    rest_.remove_prefix(sizeof(Number));
    return true;
  }
  bool take(size_t size, std::string_view* out) {
    if (rest_.size() < size) return false;
    *out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool takeHeaders(http::HeaderMap* out) {
    out->clear();
    uint32_t count = 0;
    if (!take(&count) || count > http::HeaderMap::kMax) return false;
    for (uint32_t i = 0; i < count; ++i) {
      uint16_t name_size = 0;
      uint32_t value_size = 0;
      std::string_view name;
      std::string_view value;
      if (!take(&name_size) || !take(&value_size) || name_size == 0 || !take(name_size, &name) ||
          !take(value_size, &value)) {
        return false;
      }
      out->add(http::internHeader(name), name, value);
    }
    return true;
  }
  bool isAtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

uint64_t checksumOf(const EntryFileSizes& sizes, std::string_view head, std::string_view trailers) {
  return xxHash64(head, xxHash64(trailers, sizes.body_bytes));
}

bool readHead(std::string_view bytes, std::string_view key, Entry* entry) {
  Reader reader(bytes);
  uint8_t is_directory = 0;
  uint32_t key_size = 0;
  std::string_view its_key;
  http::HeaderMap headers;
  if (!reader.take(&entry->status) || !reader.take(&is_directory) ||
      !reader.take(&entry->stored_at_us) || !reader.take(&key_size) ||
      !reader.take(key_size, &its_key) || its_key != key || !reader.takeHeaders(&headers) ||
      !reader.isAtEnd() || entry->status < 200 || entry->status > 599) {
    return false;
  }
  entry->is_directory = is_directory != 0;
  entry->headers.save({}, {}, {}, headers);
  return true;
}

}  // namespace

std::string writeEntryHead(std::string_view key, const Entry& entry) {
  std::string head;
  put(&head, entry.status);
  put(&head, static_cast<uint8_t>(entry.is_directory ? 1 : 0));
  put(&head, entry.stored_at_us);
  put(&head, static_cast<uint32_t>(key.size()));
  head.append(key);
  http::HeaderMap headers;
  entry.headers.restore(&headers);
  putHeaders(&head, headers);
  return head;
}

std::string writeEntryTrailers(const http::HeaderMap& trailers) {
  std::string bytes;
  putHeaders(&bytes, trailers);
  return bytes;
}

std::string writeEntryBlock(const EntryFileSizes& sizes, std::string_view head,
                            std::string_view trailers) {
  std::string block(kMagic);
  put(&block, sizes.body_bytes);
  put(&block, sizes.trailer_bytes);
  put(&block, sizes.head_bytes);
  put(&block, checksumOf(sizes, head, trailers));
  block.resize(kEntryFileBlockBytes);
  return block;
}

std::shared_ptr<Entry> readEntryFile(net::FileDescriptor file, std::string_view key,
                                     EntryFileSizes* sizes) {
  struct stat status = {};
  std::string block;
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !readAll(file.get(), &block, kEntryFileBlockBytes, 0)) {
    return nullptr;
  }
  Reader reader(block);
  std::string_view magic;
  uint64_t checksum = 0;
  if (!reader.take(kMagic.size(), &magic) || magic != kMagic || !reader.take(&sizes->body_bytes) ||
      !reader.take(&sizes->trailer_bytes) || !reader.take(&sizes->head_bytes) ||
      !reader.take(&checksum)) {
    return nullptr;
  }
  const auto total = static_cast<uint64_t>(status.st_size);
  if (sizes->body_bytes > total || sizes->trailer_bytes > kMostHeadBytes ||
      sizes->head_bytes > kMostHeadBytes || sizes->total() != total) {
    return nullptr;
  }
  std::string rest;
  const size_t rest_bytes = size_t{sizes->trailer_bytes} + sizes->head_bytes;
  if (!readAll(file.get(), &rest, rest_bytes, sizes->trailersAt()) || rest.size() != rest_bytes) {
    return nullptr;
  }
  const std::string_view trailers = std::string_view(rest).substr(0, sizes->trailer_bytes);
  const std::string_view head = std::string_view(rest).substr(sizes->trailer_bytes);
  if (checksumOf(*sizes, head, trailers) != checksum) return nullptr;
  auto entry = std::make_shared<Entry>();
  if (!readHead(head, key, entry.get())) return nullptr;
  if (!trailers.empty()) {
    http::HeaderMap headers;
    if (!Reader(trailers).takeHeaders(&headers)) return nullptr;
    entry->trailers.save({}, {}, {}, headers);
  }
  entry->body_bytes = sizes->body_bytes;
  entry->body_at = kEntryFileBlockBytes;
  entry->file = std::make_shared<const net::FileDescriptor>(std::move(file));
  return entry;
}

bool writeAll(int fd, std::string_view bytes, uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += static_cast<uint64_t>(written);
  }
  return true;
}

bool readAll(int fd, std::string* bytes, size_t most, uint64_t at) {
  bytes->resize(most);
  size_t read = 0;
  while (read < most) {
    const ssize_t got =
        ::pread(fd, bytes->data() + read, most - read, static_cast<off_t>(at + read));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    read += static_cast<size_t>(got);
  }
  bytes->resize(read);
  return true;
}

}  // namespace fairlead::caches
