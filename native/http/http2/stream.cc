#include "http/http2/stream.h"

#include <cstring>

#include "http/http2/stream_table.h"

namespace fairlead::http2 {

void SavedFields::save(const http::HeaderMap& headers) {
  bytes_.clear();
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    const Size size = {entry.id, entry.name_size, entry.value_size};
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes_.append(entry.name()).append(entry.value());
  }
}

void SavedFields::restore(http::HeaderMap* headers) const {
  headers->clear();
  for (const char* at = bytes_.data(); at < bytes_.data() + bytes_.size();) {
    Size size;
    std::memcpy(&size, at, sizeof(size));
    at += sizeof(size);
    headers->add(size.id, {at, size.name}, {at + size.name, size.value});
    at += size.name + size.value;
  }
}

void StreamBase::clearBase() {
  session_ = nullptr;
  id_ = 0;
  send_window_ = receive_window_ = 0;
  consumed_ = held_ = 0;
  length_left_ = kNoLength;
  body_bytes_ = 0;
  trailers_.reset();
  flush_deadline_ = net::kNever;
  flush_timeout_ms_ = kOfSession;
  read_pauses_ = 0;
  reset_after_ = -1;
  end_pending_ = local_ended_ = remote_ended_ = behind_ = head_received_ = false;
}

void StreamTable::insert(StreamBase& stream) {
  if (size_ == capacity_) {
    const uint32_t before = capacity_;
    const std::unique_ptr<StreamBase*[]> old = std::move(slots_);
    capacity_ = before == 0 ? kFewest : 2 * before;
    slots_ = std::make_unique<StreamBase*[]>(capacity_);
    for (uint32_t i = 0; i < before; ++i) {
      for (StreamBase *moved = old[i], *next; moved; moved = next) {
        next = moved->next_in_place_;
        put(*moved);
      }
    }
  }
  put(stream);
  ++size_;
}

void StreamTable::erase(StreamBase& stream) {
  StreamBase** link = &slots_[placeOf(stream.id_)];
  while (*link != &stream) link = &(*link)->next_in_place_;
  *link = stream.next_in_place_;
  // Idle connections hold little, but what one needs again and again is not allocated each time.
  if (--size_ == 0 && capacity_ > kMostIdle) {
    slots_.reset();
    capacity_ = 0;
  }
}

StreamBase* StreamTable::any() const {
  for (uint32_t place = 0; place < capacity_; ++place) {
    if (slots_[place]) return slots_[place];
  }
  return nullptr;
}

}  // namespace fairlead::http2
