// Where the fields of a message are in its bytes.
#include <algorithm>
#include <cstdio>

#include "filters/transcoder/message_printer.h"
#include "filters/transcoder/utf8.h"

namespace fairlead::transcoder {

namespace {

constexpr const char* kCutOff = "unexpected EOF";

std::string unsupported(const Field& field, std::string_view what) {
  return "field type " + std::to_string(static_cast<int>(field.kind)) + " (number " +
         std::to_string(field.number) + ") does not support " + std::string(what);
}

}  // namespace

bool MessagePrinter::scan(const MessageType& type, std::string_view bytes, Span* found) {
  found->begin = entries_.size();
  WireReader reader(bytes);
  uint32_t number = 0;
  WireType wire{};
  // Bytes that are no tag end a message, as the real server has it.
  while (!reader.isAtEnd() && reader.tag(&number, &wire)) {
    if (!scanField(type, number, wire, reader)) return false;
  }
  found->end = entries_.size();
  return sort(*found);
}

bool MessagePrinter::scanField(const MessageType& type, uint32_t number, WireType wire,
                               WireReader& reader) {
  const Field* const field = type.find(number);
  if (!field || wire == WireType::EndGroup || wire > WireType::Fixed32) {
    return skip(number, wire, reader, 0);
  }
  if (wire == WireType::Delimited) return scanDelimited(type, *field, reader);
  Entry entry{field, 0, {}, false};
  if (wire == WireType::StartGroup) {
    if (field->kind != Kind::Group) {
      return refuse("field number " + std::to_string(number) + " is not a group");
    }
    if (!readGroup(number, reader, &entry.bytes)) return false;
  } else {
    if (wireTypeOf(field->kind) != wire) {
      return refuse(unsupported(*field, wire == WireType::Varint    ? "varint fields"
                                        : wire == WireType::Fixed64 ? "type 64-bit fields"
                                                                    : "32-bit fields"));
    }
    if (!readNumber(*field, reader, &entry.number)) return false;
  }
  entries_.push_back(entry);
  return true;
}

bool MessagePrinter::scanDelimited(const MessageType& type, const Field& field,
                                   WireReader& reader) {
  Entry entry{&field, 0, {}, false};
  if (!reader.delimited(&entry.bytes)) return refuse(kCutOff);
  if (field.kind == Kind::String && type.is_proto3 && !isValidUtf8(entry.bytes)) {
    return refuse("proto3 strings must be UTF-8");
  }
  if (field.kind == Kind::Group) return refuse(unsupported(field, "type 2 records"));
  if (wireTypeOf(field.kind) != WireType::Delimited) {
    if (entry.bytes.empty()) return true;
    entry.is_packed = field.is_repeated;
    WireReader packed(entry.bytes);
    if (!entry.is_packed) {
      if (!readNumber(field, packed, &entry.number)) return false;
      // More than one is one too many.
      if (!packed.isAtEnd()) entries_.push_back(entry);
    }
  }
  entries_.push_back(entry);
  return true;
}

bool MessagePrinter::skip(uint32_t number, WireType wire, WireReader& reader, uint32_t depth) {
  uint64_t value = 0;
  uint32_t half = 0;
  switch (wire) {
    case WireType::Varint:
      return reader.varint(&value) || refuse(kCutOff);
    case WireType::Fixed64:
      return reader.fixed(&value) || refuse(kCutOff);
    case WireType::Fixed32:
      return reader.fixed(&half) || refuse(kCutOff);
    case WireType::Delimited:
      if (!reader.varint(&value)) return refuse(kCutOff);
      reader.skip(value);
      return true;
    case WireType::EndGroup:
      return refuse("attempted to close group " + std::to_string(number) + " before SGROUP tag");
    case WireType::StartGroup:
      break;
    default:
      return refuse("unknown wire type: " + std::to_string(static_cast<int>(wire)));
  }
  if (depth > kMaxDepth) return refuse("allowed depth exceeded");
  uint32_t inner = 0;
  while (!reader.isAtEnd() && reader.tag(&inner, &wire)) {
    if (wire == WireType::EndGroup) {
      return inner == number || refuse("attempted to close group " + std::to_string(inner) +
                                       " while inside group " + std::to_string(number));
    }
    if (!skip(inner, wire, reader, depth + 1)) return false;
  }
  return true;
}

bool MessagePrinter::readGroup(uint32_t number, WireReader& reader, std::string_view* bytes) {
  const std::string_view begin = reader.rest();
  uint32_t inner = 0;
  WireType wire{};
  *bytes = begin;
  while (!reader.isAtEnd()) {
    const size_t size = begin.size() - reader.rest().size();
    if (!reader.tag(&inner, &wire)) break;
    if (wire == WireType::EndGroup && inner == number) {
      *bytes = begin.substr(0, size);
      return true;
    }
    if (!skip(inner, wire, reader, 0)) return false;
  }
  return true;
}

bool MessagePrinter::readNumber(const Field& field, WireReader& reader, uint64_t* number) {
  if (field.kind == Kind::Bool) return readBool(reader, number);
  const WireType wire = wireTypeOf(field.kind);
  uint32_t half = 0;
  if (wire == WireType::Fixed32) {
    if (!reader.fixed(&half)) return refuse(kCutOff);
    *number = half;
    // What is below zero.
    if (field.kind == Kind::SFixed32) *number = static_cast<uint64_t>(static_cast<int32_t>(half));
    return true;
  }
  if (!(wire == WireType::Fixed64 ? reader.fixed(number) : reader.varint(number))) {
    return refuse(kCutOff);
  }
  if (field.kind == Kind::SInt64) *number = static_cast<uint64_t>(unZigZag(*number));
  if (field.kind == Kind::SInt32) {
    *number = static_cast<uint64_t>(unZigZag(static_cast<uint32_t>(*number)));
  }
  return true;
}

// A byte, as the real server has it.
bool MessagePrinter::readBool(WireReader& reader, uint64_t* number) {
  uint8_t byte = 0;
  if (!reader.fixed(&byte)) return refuse(kCutOff);
  *number = byte;
  if (byte <= 1) return true;
  char text[8];
  std::snprintf(text, sizeof(text), "\\x%02x", byte);
  return refuse(std::string("bad value for bool: ") + text);
}

// By their numbers, and of each in the order in which they came.
bool MessagePrinter::sort(Span span) {
  const auto begin = entries_.begin() + static_cast<ptrdiff_t>(span.begin);
  const auto isBefore = [](const Entry& a, const Entry& b) {
    return a.field->number < b.field->number;
  };
  if (!std::is_sorted(begin, entries_.end(), isBefore)) {
    std::stable_sort(begin, entries_.end(), isBefore);
  }
  for (size_t i = span.begin + 1; i < span.end; ++i) {
    const Field& field = *entries_[i].field;
    if (entries_[i - 1].field == &field && !field.is_repeated) {
      return refuse("repeated entries for singular field number " + std::to_string(field.number));
    }
  }
  return true;
}

MessagePrinter::Span MessagePrinter::of(Span span, uint32_t number) const {
  size_t begin = span.begin;
  while (begin < span.end && entries_[begin].field->number < number) ++begin;
  size_t end = begin;
  while (end < span.end && entries_[end].field->number == number) ++end;
  return {begin, end};
}

}  // namespace fairlead::transcoder
