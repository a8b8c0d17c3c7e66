// HPACK's tables (RFC 7541, 2.3): the static one, and a dynamic one of one direction of a
// connection. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "http/message.h"

namespace fairlead::http2 {

// Pseudo headers have no id: their names say which they are.
struct Field {
  http::HeaderId id = http::HeaderId::Other;
  std::string_view name;
  std::string_view value;
};

inline constexpr uint32_t kStaticFields = 61;
// `index`: 1 to kStaticFields.
const Field& staticField(uint32_t index);
// The first static field of a name that HTTP headers have, by its id; 0: there is none.
uint32_t staticIndexOf(http::HeaderId id);

// The latest fields first. Their bytes, but for names that are known, are kept in one block, which
// grows to a little more than they take and is given back with them: a table without fields owns
// nothing.
//
// Views into it are good until the next add() or setLimit().
class DynamicTable {
 public:
  // What each field counts for besides its bytes (4.1).
  static constexpr uint32_t kFieldOverhead = 32;

  explicit DynamicTable(uint32_t limit_bytes) : limit_(limit_bytes) {}

  uint32_t limit() const { return limit_; }
  // Evicts what does not fit any more.
  void setLimit(uint32_t bytes);
  uint32_t count() const { return count_; }
  // 0: the latest.
  Field field(uint32_t age) const;
  // Evicts as many as it takes; one that is larger than the limit empties the table. The views must
  // not be the table's own; no name is longer than 65,535 bytes.
  void add(const Field& field);

  // The age of the latest field that is the same, or of one with the same name.
  struct Found {
    int32_t same = -1;
    int32_t name = -1;
  };
  Found find(const Field& field) const;

  // A field keeps its number while it is here. No field has number 0.
  uint32_t numberOf(int32_t age) const { return added_ - static_cast<uint32_t>(age); }
  int32_t ageOf(uint32_t number) const { return static_cast<int32_t>(added_ - number); }
  // Whether the field of that number is here still, and is the same.
  bool has(uint32_t number, const Field& field) const {
    const uint32_t age = added_ - number;
    return age < count_ && isSame(entry(age), field);
  }
  // Of a field: few of a table have the same.
  static uint8_t markOf(const Field& field);

 private:
  struct Entry {
    uint32_t begin;
    uint32_t value_size;
    uint16_t name_size;
    http::HeaderId id;
    // Of name and value: few entries are compared byte by byte.
    uint8_t mark;

    // A name that is known needs no bytes.
    uint32_t storedNameBytes() const { return id == http::HeaderId::Other ? name_size : 0; }
    uint32_t storedBytes() const { return storedNameBytes() + value_size; }
  };

  bool isSame(const Entry& entry, const Field& field) const;
  uint32_t placeOf(uint32_t age) const {
    return age <= newest_ ? newest_ - age : newest_ + capacity_ - age;
  }
  const Entry& entry(uint32_t age) const { return entries_[placeOf(age)]; }
  uint32_t bytesOf(const Entry& entry) const {
    return entry.name_size + entry.value_size + kFieldOverhead;
  }
  void evictTo(uint32_t bytes);
  void makeRoom(uint32_t bytes);
  void growEntries();
  void giveBack();

  uint32_t limit_;
  // As HPACK counts it.
  uint32_t size_ = 0;
  uint32_t count_ = 0;
  // How many were ever added.
  uint32_t added_ = 0;
  // Where the latest is in entries_, a ring of `capacity_`.
  uint32_t newest_ = 0;
  uint32_t capacity_ = 0;
  // Where the next bytes go, and how many there is room for.
  uint32_t end_ = 0;
  uint32_t room_ = 0;
  std::unique_ptr<Entry[]> entries_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace fairlead::http2
