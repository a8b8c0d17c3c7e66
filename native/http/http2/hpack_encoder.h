// HPACK (RFC 7541), the writing side of one connection. What repeats from message to message is
// put into the table that both sides have; what does not is written as it is. One thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/http2/header_table.h"

namespace fairlead::http2 {

class HpackEncoder {
 public:
  explicit HpackEncoder(bool with_huffman)
      : table_(kMostTableBytes), smallest_(kMostTableBytes), with_huffman_(with_huffman) {}

  // The peer's HEADER_TABLE_SIZE.
  void setPeerLimit(uint32_t bytes);

  // What begin() and each field may take, at most.
  static constexpr size_t kMostBeginBytes = 12;
  static constexpr size_t mostBytes(size_t name_bytes, size_t value_bytes) {
    return name_bytes + value_bytes + 12;
  }

  // Each of these returns the end of what it wrote.
  char* begin(char* to);
  // Names of an id need no name.
  char* write(const Field& field, char* to);
  // A name of the static table that no header has.
  char* writeStatic(uint32_t name_index, std::string_view value, char* to);
  // One that is in the static table whole.
  char* writeIndexed(uint32_t index, char* to);

  // Static fields that are written by number.
  static constexpr uint32_t kAuthority = 1;
  static constexpr uint32_t kMethodGet = 2;
  static constexpr uint32_t kMethodPost = 3;
  static constexpr uint32_t kPathRoot = 4;
  static constexpr uint32_t kSchemeHttp = 6;
  static constexpr uint32_t kSchemeHttps = 7;
  static constexpr uint32_t kStatus200 = 8;

 private:
  char* write(const Field& field, uint32_t name_index, char* to);
  DynamicTable::Found find(const Field& field);
  char* writeText(std::string_view text, char* to) const;

  // What a table begins with, and all that is used of what the peer allows.
  static constexpr uint32_t kMostTableBytes = 4096;

  DynamicTable table_;
  // Where fields were found last, by their marks.
  static constexpr uint32_t kLatest = 16;
  uint32_t latest_[kLatest] = {};
  // The smallest limit since the latest block: the peer is told of it before the one that is.
  uint32_t smallest_;
  bool limit_changed_ = false;
  const bool with_huffman_;
};

}  // namespace fairlead::http2
