// How the writer of messages writes one value: scalars, and the known types that JSON has as text.
#include <algorithm>
#include <utility>

#include "filters/transcoder/any_writer.h"
#include "filters/transcoder/known_values.h"
#include "filters/transcoder/message_writer.h"
#include "filters/transcoder/wire.h"

namespace fairlead::transcoder {

namespace {

template <typename Number>
bool appendFixedField(std::string* out, uint32_t number, std::optional<Number> value) {
  if (!value) return false;
  appendTag(out, number, sizeof(Number) == 8 ? WireType::Fixed64 : WireType::Fixed32);
  appendFixed(out, *value);
  return true;
}

// What is below zero takes ten bytes.
template <typename Number>
bool appendVarintField(std::string* out, uint32_t number, std::optional<Number> value,
                       bool zig_zag = false) {
  if (!value) return false;
  appendTag(out, number, WireType::Varint);
  const auto wide = static_cast<int64_t>(*value);
  appendVarint(out, zig_zag ? zigZag(wide) : static_cast<uint64_t>(wide));
  return true;
}

}  // namespace

bool MessageWriter::writeValue(const Field& field, const JsonValue& value) {
  const uint32_t number = field.number;
  switch (field.kind) {
    case Kind::Double:
      return appendFixedField(&bytes_, number, value.toDouble());
    case Kind::Float:
      return appendFixedField(&bytes_, number, value.toFloat());
    case Kind::Int64:
      return appendVarintField(&bytes_, number, value.toInt64());
    case Kind::UInt64:
      return appendVarintField(&bytes_, number, value.toUInt64());
    case Kind::Int32:
      return appendVarintField(&bytes_, number, value.toInt32());
    case Kind::Fixed64:
      return appendFixedField(&bytes_, number, value.toUInt64());
    case Kind::Fixed32:
      return appendFixedField(&bytes_, number, value.toUInt32());
    case Kind::Bool:
      return appendVarintField(&bytes_, number, value.toBool());
    case Kind::UInt32:
      return appendVarintField(&bytes_, number, value.toUInt32());
    case Kind::SFixed32:
      return appendFixedField(&bytes_, number, value.toInt32());
    case Kind::SFixed64:
      return appendFixedField(&bytes_, number, value.toInt64());
    case Kind::SInt32:
      return appendVarintField(&bytes_, number, value.toInt32(), true);
    case Kind::SInt64:
      return appendVarintField(&bytes_, number, value.toInt64(), true);
    case Kind::Enum:
      return appendVarintField(&bytes_, number,
                               value.toEnum(*field.enumeration, ignores_enum_case_));
    case Kind::String:
      if (const std::optional<std::string_view> text = value.toString()) {
        appendDelimited(&bytes_, number, *text);
        return true;
      }
      return false;
    case Kind::Bytes:
      if (const std::optional<std::string> bytes = value.toBytes()) {
        appendDelimited(&bytes_, number, *bytes);
        return true;
      }
      return false;
    case Kind::Message:
    case Kind::Group:
      break;
  }
  return false;
}

bool MessageWriter::writeKnown(KnownType known, const JsonValue& value, std::string* why) {
  switch (known) {
    case KnownType::Value:
      switch (value.type()) {
        case JsonValue::Type::Null:
          writeScalar("null_value", value);
          break;
        case JsonValue::Type::Bool:
          writeScalar("bool_value", value);
          break;
        case JsonValue::Type::String:
          writeScalar("string_value", value);
          break;
        default:
          writeScalar("number_value", value);
      }
      return true;
    case KnownType::Wrapper:
      if (!value.isNull()) writeScalar("value", value);
      return true;
    case KnownType::FieldMask:
      return value.isNull() || writeMask(value, why);
    default:
      return value.isNull() || writeTime(known, value, why);
  }
}

bool MessageWriter::writeTime(KnownType known, const JsonValue& value, std::string* why) {
  const bool is_duration = known == KnownType::Duration;
  if (value.type() != JsonValue::Type::String) {
    *why = std::string("Invalid data type for ") + (is_duration ? "duration" : "timestamp") +
           ", value is " + value.text();
    return false;
  }
  int64_t seconds = 0;
  int32_t nanos = 0;
  *why = is_duration ? parseDuration(value.string(), &seconds, &nanos)
                     : parseTimestamp(value.string(), &seconds, &nanos);
  if (!why->empty()) return false;
  writeScalar("seconds", JsonValue::of(seconds));
  writeScalar("nanos", JsonValue::of(int64_t{nanos}));
  return true;
}

bool MessageWriter::writeMask(const JsonValue& value, std::string* why) {
  if (value.type() != JsonValue::Type::String) {
    *why = "Invalid data type for field mask, value is " + value.text();
    return false;
  }
  std::vector<std::string> paths;
  *why = parseFieldMask(value.string(), &paths);
  for (const std::string& path : paths) {
    writeScalar("paths", JsonValue::of(std::string_view(path)));
  }
  return why->empty();
}

}  // namespace fairlead::transcoder
