// JSON that comes in pieces of any size, told as events. More is taken than RFC 8259 has, as the
// real server takes it: keys without quotes, strings in single quotes, a comma behind the last
// member. Keeps what is cut off in the middle, and of strings what has come. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filters/transcoder/json_events.h"

namespace fairlead::transcoder {

class JsonReader {
 public:
  // Objects and lists within each other.
  static constexpr uint32_t kMaxDepth = 100;

  explicit JsonReader(JsonEvents& events) : events_(events) {}

  // False: error() says what is wrong, and nothing more may be given.
  bool read(std::string_view piece);
  // There is no more.
  bool finish();
  const std::string& error() const { return error_; }
  // Of what is kept between pieces.
  size_t keptBytes() const { return kept_.size() + text_.size() + key_.size(); }

 private:
  enum class Expect : uint8_t { Value, Key, Colon, AfterMember, Element, AfterElement };
  enum class Token : uint8_t {
    String,
    Number,
    True,
    False,
    Null,
    BeginObject,
    EndObject,
    BeginList,
    EndList,
    Colon,
    Comma,
    Key,
    Unknown,
  };
  // More: what is there is cut off, and is looked at again with what follows.
  enum class Step : uint8_t { Done, More, Wrong };

  bool run();
  Step step(Expect expect, Token token);
  Token nextToken();
  Step readValue(Token token);
  Step readElement(Token token);
  Step readKey(Token token);
  Step readString();
  Step readEscape();
  Step readUnicode();
  Step readNumber();
  Step readDouble(std::string_view text);
  Step readBareKey();
  Step begin(bool is_object);
  void end(bool is_object);

  std::string_view takeKey();
  void skipSpace();
  Step unknown(std::string_view why);
  Step wrong(std::string_view why);

  JsonEvents& events_;
  std::vector<Expect> stack_{Expect::Value};
  // What is looked at, and what of it is left.
  std::string_view input_;
  std::string_view at_;
  // Left over from the pieces before.
  std::string kept_;
  std::string joined_;
  // Of the member whose value comes.
  std::string key_;
  // Of the value that is told of.
  std::string told_key_;
  // Of the string that has begun.
  std::string text_;
  std::string error_;
  uint32_t depth_ = 0;
  // 0: no string has begun.
  char quote_ = 0;
  bool is_finishing_ = false;
};

}  // namespace fairlead::transcoder
