// HPACK (RFC 7541), the reading side of one connection: a header block to fields, one by one. One
// thread.
//
// A block must be read to its end, whatever becomes of its message: the table that both sides have
// depends on it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "http/http2/header_table.h"

namespace fairlead::http2 {

class HpackDecoder {
 public:
  // What a table begins with, whatever settings say.
  static constexpr uint32_t kFirstTableBytes = 4096;

  explicit HpackDecoder(uint32_t max_table_bytes = kFirstTableBytes)
      : most_(max_table_bytes), table_(max_table_bytes) {}

  // The size that our settings announce, from when the peer has acknowledged them. Where it is less
  // than before, the next block must begin with a change of it (4.2).
  void setMost(uint32_t bytes) {
    most_ = bytes;
    must_shrink_ = table_.limit() > bytes;
  }

  // A block that is whole.
  void begin(std::string_view block) {
    at_ = block.data();
    end_ = at_ + block.size();
    in_fields_ = false;
  }

  enum class Step : uint8_t { Field, End, Error };
  // Views are of the block, of constants, or in the arena: what a table says is copied there.
  // Unless the field is wanted, its value may be left out.
  Step next(Arena& arena, Field* field, bool is_wanted = true);

 private:
  // False: the block ends too early, or a number is too large.
  bool readNumber(int prefix_bits, uint32_t* number);
  bool readText(Arena& arena, std::string_view* text);
  // A field by its number. False: there is none.
  bool readIndexed(uint32_t index, Arena& arena, bool with_value, Field* field) const;
  bool readLiteral(uint32_t name_index, Arena& arena, Field* field);

  uint32_t most_;
  DynamicTable table_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  // A size may change only before the first field.
  bool in_fields_ = false;
  bool must_shrink_ = false;
};

}  // namespace fairlead::http2
