// The streams of a session by their number. Numbers of one side follow each other by two, so that
// their lower bits spread them well. Owns none of them.
#pragma once

#include <cstdint>
#include <memory>

#include "http/http2/stream.h"

namespace fairlead::http2 {

class StreamTable {
 public:
  uint32_t size() const { return size_; }
  StreamBase* find(uint32_t id) const {
    if (size_ == 0) return nullptr;
    for (uint32_t place = placeOf(id); slots_[place]; place = next(place)) {
      if (slots_[place]->id_ == id) return slots_[place];
    }
    return nullptr;
  }
  void insert(StreamBase& stream);
  void erase(StreamBase& stream);
  // `visit` may erase the one that it is given, and no other.
  template <typename Visit>
  void forEach(Visit visit) {
    // Erasing moves later ones of a row here: each place is looked at until it stays.
    for (uint32_t place = 0; place < capacity_; ++place) {
      while (StreamBase* stream = slots_[place]) {
        visit(*stream);
        if (place >= capacity_ || slots_[place] == stream) break;
      }
    }
  }
  // Any of them; null: there is none.
  StreamBase* any() const;

 private:
  static constexpr uint32_t kFewest = 8;
  uint32_t placeOf(uint32_t id) const { return (id >> 1) & (capacity_ - 1); }
  uint32_t next(uint32_t place) const { return (place + 1) & (capacity_ - 1); }
  void put(StreamBase* stream);

  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::unique_ptr<StreamBase*[]> slots_;
};

}  // namespace fairlead::http2
