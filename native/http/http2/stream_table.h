// The streams of a session by their number, those of one place in a row. Numbers of one side follow
// each other by two, so that their lower bits spread them well. Owns none of them.
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
    StreamBase* stream = slots_[placeOf(id)];
    while (stream && stream->id_ != id) stream = stream->next_in_place_;
    return stream;
  }
  void insert(StreamBase& stream);
  void erase(StreamBase& stream);
  // `visit` may erase the one that it is given, and no other.
  template <typename Visit>
  void forEach(Visit visit) {
    for (uint32_t place = 0; place < capacity_; ++place) {
      for (StreamBase *stream = slots_[place], *next; stream; stream = next) {
        next = stream->next_in_place_;
        visit(*stream);
      }
    }
  }
  // Any of them; null: there is none.
  StreamBase* any() const;

 private:
  static constexpr uint32_t kFewest = 8;
  static constexpr uint32_t kMostIdle = 32;
  uint32_t placeOf(uint32_t id) const { return (id >> 1) & (capacity_ - 1); }
  void put(StreamBase& stream) {
    StreamBase*& first = slots_[placeOf(stream.id_)];
    stream.next_in_place_ = first;
    first = &stream;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::unique_ptr<StreamBase*[]> slots_;
};

}  // namespace fairlead::http2
