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
  trailers_.reset();
  flush_deadline_ = net::kNever;
  read_pauses_ = 0;
  reset_after_ = -1;
  end_pending_ = local_ended_ = remote_ended_ = behind_ = head_received_ = false;
}

void StreamTable::put(StreamBase* stream) {
  uint32_t place = placeOf(stream->id_);
  while (slots_[place]) place = next(place);
  slots_[place] = stream;
}

void StreamTable::insert(StreamBase& stream) {
  if (2 * (size_ + 1) > capacity_) {
    const uint32_t before = capacity_;
    std::unique_ptr<StreamBase*[]> old = std::move(slots_);
    capacity_ = before == 0 ? kFewest : 2 * before;
    slots_ = std::make_unique<StreamBase*[]>(capacity_);
    for (uint32_t i = 0; i < before; ++i) {
      if (old[i]) put(old[i]);
    }
  }
  put(&stream);
  ++size_;
}

void StreamTable::erase(StreamBase& stream) {
  uint32_t hole = placeOf(stream.id_);
  while (slots_[hole] != &stream) hole = next(hole);
  slots_[hole] = nullptr;
  --size_;
  // Those behind it that would not be found over the hole move up.
  for (uint32_t place = next(hole); slots_[place]; place = next(place)) {
    const uint32_t wanted = placeOf(slots_[place]->id_);
    const bool is_reachable =
        hole < place ? (wanted > hole && wanted <= place) : (wanted > hole || wanted <= place);
    if (is_reachable) continue;
    slots_[hole] = std::exchange(slots_[place], nullptr);
    hole = place;
  }
  // Idle connections hold little.
  if (size_ == 0 && capacity_ > kFewest) {
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
