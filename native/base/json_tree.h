// JSON (RFC 8259) as a tree in an arena: of texts that come from outside, so that depth is bounded
// and nothing but JSON is taken. Pure; nodes and texts live as long as the arena, or as the text
// that was parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace fairlead {

struct JsonNode {
  enum class Kind : uint8_t { Null, False, True, Number, String, Array, Object };

  Kind kind = Kind::Null;
  double number = 0;
  // Of an object's member.
  std::string_view key;
  // Of a string: what it stands for. Of a number: as it is written.
  std::string_view text;
  // Members or elements, in their order; null: none.
  const JsonNode* first = nullptr;
  const JsonNode* next = nullptr;

  bool isString() const { return kind == Kind::String; }
  bool isNumber() const { return kind == Kind::Number; }
  bool isObject() const { return kind == Kind::Object; }
  bool isArray() const { return kind == Kind::Array; }
  bool isBool() const { return kind == Kind::True || kind == Kind::False; }
  // The member of that name; null: there is none, or this is no object.
  const JsonNode* find(std::string_view name) const {
    if (!isObject()) return nullptr;
    const JsonNode* found = nullptr;
    for (const JsonNode* at = first; at; at = at->next) {
      if (at->key == name) found = at;
    }
    return found;
  }
};

enum class JsonRepeats : uint8_t {
  // Of members of one name the last counts.
  LastWins,
  // They make the text wrong.
  Refused,
};

// Null: it is no JSON, or is nested too deeply.
const JsonNode* parseJson(std::string_view text, Arena& arena, JsonRepeats repeats);

// Compact; members in the order of their names, numbers as the real server prints them.
void appendJson(std::string* out, const JsonNode& node);
// A number as JSON has it: whole ones without a point.
void appendJsonNumber(std::string* out, double number);

}  // namespace fairlead
