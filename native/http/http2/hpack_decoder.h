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

  // A longer name or value, as it is encoded, is an error.
  void setMostText(uint32_t bytes) { most_text_ = bytes; }

  // A block, or the first of one.
  void begin(std::string_view block) {
    resume(block);
    in_fields_ = false;
  }
  // The same block: what rest() was, and what came after it.
  void resume(std::string_view more) {
    at_ = more.data();
    end_ = at_ + more.size();
  }
  // After Short: what ends amid a field, and how many bytes of it there must be to read on.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  size_t wanted() const { return wanted_; }

  enum class Step : uint8_t { Field, End, Short, Error };
  // Views are of the block, of constants, or in the arena: what a table says is copied there.
  // Unless the field is wanted, its value may be left out.
  Step next(Arena& arena, Field* field, bool is_wanted = true);

 private:
  Step read(Arena& arena, Field* field, bool is_wanted);
  bool isShort(size_t more);
  // False: the bytes end too early, which is noted, or a number is too large.
  bool readNumber(int prefix_bits, uint32_t* number);
  bool readText(Arena& arena, std::string_view* text);
  // A field by its number. False: there is none.
  bool readIndexed(uint32_t index, Arena& arena, bool with_value, Field* field) const;
  bool readLiteral(uint32_t name_index, Arena& arena, Field* field);

  uint32_t most_;
  uint32_t most_text_ = UINT32_MAX;
  DynamicTable table_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  // Where the latest field begins.
  const char* begun_ = nullptr;
  // Of the latest field, from at_; 0: it does not end too early.
  size_t wanted_ = 0;
  // A size may change only before the first field.
  bool in_fields_ = false;
  bool must_shrink_ = false;
};

}  // namespace fairlead::http2
