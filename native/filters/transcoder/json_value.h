// A scalar of JSON, and what it is as a value of a field. Conversions are exact: a number that does
// not fit, or would lose what is behind its point, is none. Views; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filters/transcoder/types.h"

namespace fairlead::transcoder {

class JsonValue {
 public:
  enum class Type : uint8_t { Null, Bool, Int, UInt, Double, String };

  static JsonValue null() { return JsonValue(Type::Null); }
  static JsonValue of(bool value) {
    JsonValue result(Type::Bool);
    result.uint_ = value ? 1 : 0;
    return result;
  }
  static JsonValue of(int64_t value) {
    JsonValue result(Type::Int);
    result.int_ = value;
    return result;
  }
  static JsonValue of(uint64_t value) {
    JsonValue result(Type::UInt);
    result.uint_ = value;
    return result;
  }
  static JsonValue of(double value) {
    JsonValue result(Type::Double);
    result.double_ = value;
    return result;
  }
  static JsonValue of(std::string_view value) {
    JsonValue result(Type::String);
    result.string_ = value;
    return result;
  }

  Type type() const { return type_; }
  bool isNull() const { return type_ == Type::Null; }
  // Of a string.
  std::string_view string() const { return string_; }

  // Absent: it is none of these.
  std::optional<int32_t> toInt32() const;
  std::optional<int64_t> toInt64() const;
  std::optional<uint32_t> toUInt32() const;
  std::optional<uint64_t> toUInt64() const;
  std::optional<double> toDouble() const;
  std::optional<float> toFloat() const;
  std::optional<bool> toBool() const;
  std::optional<std::string_view> toString() const;
  // Of either alphabet of base64, with padding or without.
  std::optional<std::string> toBytes() const;
  std::optional<int32_t> toEnum(const EnumType& type, bool ignores_case) const;

  // As errors show it.
  std::string text() const;

 private:
  explicit JsonValue(Type type) : type_(type), uint_(0) {}

  template <typename To>
  std::optional<To> toInteger() const;

  Type type_;
  union {
    int64_t int_;
    uint64_t uint_;
    double double_;
  };
  std::string_view string_;
};

}  // namespace fairlead::transcoder
