#include "http/http2/header_table.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace fairlead::http2 {

using http::HeaderId;

namespace {

// RFC 7541, appendix A.
constexpr Field kStatic[kStaticFields] = {
    {HeaderId::Authority, ":authority", ""},
    {HeaderId::Other, ":method", "GET"},
    {HeaderId::Other, ":method", "POST"},
    {HeaderId::Other, ":path", "/"},
    {HeaderId::Other, ":path", "/index.html"},
    {HeaderId::Other, ":scheme", "http"},
    {HeaderId::Other, ":scheme", "https"},
    {HeaderId::Other, ":status", "200"},
    {HeaderId::Other, ":status", "204"},
    {HeaderId::Other, ":status", "206"},
    {HeaderId::Other, ":status", "304"},
    {HeaderId::Other, ":status", "400"},
    {HeaderId::Other, ":status", "404"},
    {HeaderId::Other, ":status", "500"},
    {HeaderId::Other, "accept-charset", ""},
    {HeaderId::AcceptEncoding, "accept-encoding", "gzip, deflate"},
    {HeaderId::Other, "accept-language", ""},
    {HeaderId::Other, "accept-ranges", ""},
    {HeaderId::Accept, "accept", ""},
    {HeaderId::AccessControlAllowOrigin, "access-control-allow-origin", ""},
    {HeaderId::Age, "age", ""},
    {HeaderId::Other, "allow", ""},
    {HeaderId::Authorization, "authorization", ""},
    {HeaderId::CacheControl, "cache-control", ""},
    {HeaderId::Other, "content-disposition", ""},
    {HeaderId::ContentEncoding, "content-encoding", ""},
    {HeaderId::Other, "content-language", ""},
    {HeaderId::ContentLength, "content-length", ""},
    {HeaderId::Other, "content-location", ""},
    {HeaderId::Other, "content-range", ""},
    {HeaderId::ContentType, "content-type", ""},
    {HeaderId::Cookie, "cookie", ""},
    {HeaderId::Date, "date", ""},
    {HeaderId::Etag, "etag", ""},
    {HeaderId::Expect, "expect", ""},
    {HeaderId::Expires, "expires", ""},
    {HeaderId::Other, "from", ""},
    {HeaderId::Host, "host", ""},
    {HeaderId::IfMatch, "if-match", ""},
    {HeaderId::IfModifiedSince, "if-modified-since", ""},
    {HeaderId::IfNoneMatch, "if-none-match", ""},
    {HeaderId::IfRange, "if-range", ""},
    {HeaderId::IfUnmodifiedSince, "if-unmodified-since", ""},
    {HeaderId::LastModified, "last-modified", ""},
    {HeaderId::Other, "link", ""},
    {HeaderId::Location, "location", ""},
    {HeaderId::Other, "max-forwards", ""},
    {HeaderId::Other, "proxy-authenticate", ""},
    {HeaderId::Other, "proxy-authorization", ""},
    {HeaderId::Other, "range", ""},
    {HeaderId::Referer, "referer", ""},
    {HeaderId::Other, "refresh", ""},
    {HeaderId::Other, "retry-after", ""},
    {HeaderId::Server, "server", ""},
    {HeaderId::Other, "set-cookie", ""},
    {HeaderId::Other, "strict-transport-security", ""},
    {HeaderId::TransferEncoding, "transfer-encoding", ""},
    {HeaderId::UserAgent, "user-agent", ""},
    {HeaderId::Vary, "vary", ""},
    {HeaderId::Via, "via", ""},
    {HeaderId::Other, "www-authenticate", ""},
};

constexpr auto kStaticById = [] {
  std::array<uint8_t, static_cast<size_t>(HeaderId::kCount)> indices{};
  for (uint32_t i = kStaticFields; i > 0; --i) {
    if (kStatic[i - 1].id == HeaderId::Other) continue;
    indices[static_cast<size_t>(kStatic[i - 1].id)] = static_cast<uint8_t>(i);
  }
  return indices;
}();

constexpr uint32_t kFewestEntries = 8;
constexpr uint32_t kRoomStep = 128;

}  // namespace

const Field& staticField(uint32_t index) { return kStatic[index - 1]; }
uint32_t staticIndexOf(HeaderId id) { return kStaticById[static_cast<size_t>(id)]; }

void DynamicTable::setLimit(uint32_t bytes) {
  limit_ = bytes;
  evictTo(bytes);
}

Field DynamicTable::field(uint32_t age) const {
  const Entry& found = entry(age);
  const char* const bytes = bytes_.get() + found.begin;
  if (found.id != HeaderId::Other) {
    return {found.id, http::headerName(found.id), {bytes, found.value_size}};
  }
  return {found.id, {bytes, found.name_size}, {bytes + found.name_size, found.value_size}};
}

void DynamicTable::add(const Field& field) {
  const Entry added = {0, static_cast<uint32_t>(field.value.size()),
                       static_cast<uint16_t>(field.name.size()), field.id, markOf(field)};
  const uint32_t bytes = bytesOf(added);
  if (bytes > limit_) {
    evictTo(0);
    return;
  }
  evictTo(limit_ - bytes);
  makeRoom(added.storedBytes());
  char* to = bytes_.get() + end_;
  if (added.storedNameBytes() > 0) {
    std::memcpy(to, field.name.data(), field.name.size());
    to += field.name.size();
  }
  if (!field.value.empty()) std::memcpy(to, field.value.data(), field.value.size());
  if (count_ == capacity_) growEntries();
  newest_ = newest_ + 1 < capacity_ ? newest_ + 1 : 0;
  entries_[newest_] = added;
  entries_[newest_].begin = end_;
  end_ += added.storedBytes();
  size_ += bytes;
  ++count_;
  ++added_;
}

uint8_t DynamicTable::markOf(const Field& field) {
  uint32_t mark = static_cast<uint32_t>(field.id) + static_cast<uint32_t>(field.value.size()) * 31;
  if (!field.name.empty()) mark += static_cast<uint8_t>(field.name.back());
  if (!field.value.empty()) {
    mark += static_cast<uint8_t>(field.value.front()) * 7u;
    mark += static_cast<uint8_t>(field.value.back()) * 13u;
  }
  return static_cast<uint8_t>(mark ^ mark >> 8);
}

bool DynamicTable::isSame(const Entry& entry, const Field& field) const {
  if (entry.id != field.id || entry.name_size != field.name.size() ||
      entry.value_size != field.value.size()) {
    return false;
  }
  const char* const bytes = bytes_.get() + entry.begin;
  const uint32_t of_name = entry.storedNameBytes();
  return (of_name == 0 || std::memcmp(bytes, field.name.data(), of_name) == 0) &&
         (field.value.empty() ||
          std::memcmp(bytes + of_name, field.value.data(), entry.value_size) == 0);
}

DynamicTable::Found DynamicTable::find(const Field& field) const {
  Found found;
  const uint8_t mark = markOf(field);
  for (uint32_t age = 0; age < count_; ++age) {
    const Entry& candidate = entry(age);
    if (candidate.id != field.id || candidate.name_size != field.name.size()) continue;
    const bool is_marked = candidate.mark == mark && candidate.value_size == field.value.size();
    // Names of an id are the same.
    if (!is_marked && (field.id != HeaderId::Other && found.name >= 0)) continue;
    const char* const bytes = bytes_.get() + candidate.begin;
    if (field.id == HeaderId::Other &&
        std::memcmp(bytes, field.name.data(), field.name.size()) != 0) {
      continue;
    }
    if (found.name < 0) found.name = static_cast<int32_t>(age);
    if (!is_marked ||
        (!field.value.empty() && std::memcmp(bytes + candidate.storedNameBytes(),
                                             field.value.data(), field.value.size()) != 0)) {
      continue;
    }
    found.same = static_cast<int32_t>(age);
    return found;
  }
  return found;
}

void DynamicTable::evictTo(uint32_t bytes) {
  while (size_ > bytes) {
    size_ -= bytesOf(entry(count_ - 1));
    --count_;
  }
  if (count_ == 0) giveBack();
}

void DynamicTable::giveBack() {
  end_ = room_ = newest_ = capacity_ = 0;
  entries_.reset();
  bytes_.reset();
}

// For `bytes` behind end_: those of evicted fields are before the oldest one.
void DynamicTable::makeRoom(uint32_t bytes) {
  if (bytes_ && room_ - end_ >= bytes) return;
  const uint32_t begin = count_ > 0 ? entry(count_ - 1).begin : end_;
  const uint32_t used = end_ - begin;
  // With a quarter more, so that what is moved here is worth it.
  const uint32_t wanted = used + bytes + (used + bytes) / 4;
  std::unique_ptr<char[]> larger;
  if (!bytes_ || wanted > room_) {
    room_ = (wanted / kRoomStep + 1) * kRoomStep;
    larger = std::make_unique_for_overwrite<char[]>(room_);
  }
  char* const to = larger ? larger.get() : bytes_.get();
  if (used > 0) std::memmove(to, bytes_.get() + begin, used);
  if (larger) bytes_ = std::move(larger);
  for (uint32_t age = 0; age < count_; ++age) entries_[placeOf(age)].begin -= begin;
  end_ = used;
}

void DynamicTable::growEntries() {
  const uint32_t capacity = capacity_ == 0 ? kFewestEntries : capacity_ + capacity_ / 2;
  auto larger = std::make_unique_for_overwrite<Entry[]>(capacity);
  for (uint32_t i = 0; i < count_; ++i) larger[i] = entry(count_ - 1 - i);
  entries_ = std::move(larger);
  capacity_ = capacity;
  newest_ = count_ == 0 ? capacity - 1 : count_ - 1;
}

}  // namespace fairlead::http2
