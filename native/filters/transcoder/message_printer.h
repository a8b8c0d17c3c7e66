// A message of protobuf as JSON. No tree is built: each message's fields are found in its bytes, in
// the order of their numbers, and written. One thread; keeps its memory from message to message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filters/transcoder/types.h"
#include "filters/transcoder/wire.h"

namespace fairlead::transcoder {

struct PrintOptions {
  bool adds_whitespace = false;
  // Fields that are not there, unless that says something.
  bool prints_defaults = false;
  bool prints_enums_as_numbers = false;
  bool keeps_field_names = false;
};

class MessagePrinter {
 public:
  // Messages within each other.
  static constexpr uint32_t kMaxDepth = 100;

  MessagePrinter(const TypeTable& types, const PrintOptions& options)
      : types_(types), options_(options) {}

  // False: error() says what is wrong, and what was appended is of no use.
  bool print(const MessageType& type, std::string_view bytes, std::string* out);
  const std::string& error() const { return error_; }

 private:
  // A field as its message has it.
  struct Entry {
    const Field* field;
    // Of a number, as its wire type has it.
    uint64_t number;
    // Of a text, of bytes, of a message; of numbers that are packed.
    std::string_view bytes;
    bool is_packed;
  };
  // Of entries_: those of one message, and of one field in it.
  struct Span {
    size_t begin;
    size_t end;
  };

  // ---- what is there ----
  bool scan(const MessageType& type, std::string_view bytes, Span* found);
  bool scanField(const MessageType& type, uint32_t number, WireType wire, WireReader& reader);
  bool scanDelimited(const MessageType& type, const Field& field, WireReader& reader);
  bool skip(uint32_t number, WireType wire, WireReader& reader, uint32_t depth);
  bool readGroup(uint32_t number, WireReader& reader, std::string_view* bytes);
  bool readNumber(const Field& field, WireReader& reader, uint64_t* number);
  bool readBool(WireReader& reader, uint64_t* number);
  bool sort(Span span);
  // Where the field's entries begin in a span, and end.
  Span of(Span span, uint32_t number) const;
  void drop(Span span) { entries_.resize(span.begin); }

  // ---- and how it is written ----
  bool printMessage(const MessageType& type, std::string_view bytes);
  bool printKnown(const MessageType& type, Span span);
  bool printFields(const MessageType& type, Span span, bool is_first);
  bool printField(const Field& field, Span span, bool* is_first);
  bool printList(Span span);
  bool printElement(const Entry& entry, bool* is_first);
  bool printPacked(const Entry& entry, bool* is_first);
  bool printMap(const Field& field, Span span);
  bool printMapEntry(const Field& field, const Entry& entry, bool* is_first);
  bool printKey(const Field& field, Span span);
  bool printValueMessage(const MessageType& type, Span span);
  bool printAny(const MessageType& type, Span span);
  bool printTime(const MessageType& type, Span span);
  bool printMask(const MessageType& type, Span span);
  bool printEntry(const Entry& entry);
  bool printDefault(const Field& field);
  void printNumber(const Field& field, uint64_t number);
  // A google.protobuf.Value that has none is left out. False: something is wrong.
  bool isEmptyValue(const Entry& entry, bool* is_empty);

  void open(char bracket);
  void close(char bracket, bool is_empty);
  void comma(bool* is_first);
  void newLine();
  bool refuse(std::string why);

  const TypeTable& types_;
  const PrintOptions& options_;
  std::vector<Entry> entries_;
  std::string* out_ = nullptr;
  std::string error_;
  uint32_t depth_ = 0;
  uint32_t indent_ = 0;
};

}  // namespace fairlead::transcoder
