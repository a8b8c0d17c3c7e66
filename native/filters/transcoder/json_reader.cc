#include "filters/transcoder/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "filters/transcoder/ascii.h"
#include "filters/transcoder/numbers.h"
#include "filters/transcoder/utf8.h"

namespace fairlead::transcoder {

namespace {

constexpr std::string_view kFalse = "false";
// "\u0041"
constexpr size_t kEscapeBytes = 6;
// What errors show of the text, before and behind.
constexpr ptrdiff_t kShownBytes = 20;

bool isLetter(char c) { return isLower(c) || isUpper(c) || c == '_' || c == '$'; }

// False: it has another digit.
bool parseHex(std::string_view digits, uint32_t* value) {
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, *value, 16);
  return at == end && error == std::errc() && digits[0] != '-';
}

}  // namespace

bool JsonReader::read(std::string_view piece) {
  if (!kept_.empty()) {
    joined_.swap(kept_);
    joined_.append(piece);
    piece = joined_;
  }
  const size_t whole = validUtf8Prefix(piece);
  input_ = at_ = piece.substr(0, whole);
  is_finishing_ = false;
  if (!at_.empty() && !run()) return false;
  skipSpace();
  if (!at_.empty() && stack_.empty()) {
    wrong("Parsing terminated before end of input.");
    return false;
  }
  const std::string_view rest(at_.data(), at_.size() + piece.size() - whole);
  kept_.assign(rest);
  // A character that is cut off is no longer than this.
  if (piece.size() - whole < 4) return true;
  input_ = at_ = kept_;
  wrong("Encountered non UTF-8 code points.");
  return false;
}

bool JsonReader::finish() {
  if (stack_.empty() && kept_.empty()) return true;
  joined_.swap(kept_);
  kept_.clear();
  input_ = at_ = joined_;
  if (validUtf8Prefix(input_) < input_.size()) {
    wrong("Encountered non UTF-8 code points.");
    return false;
  }
  is_finishing_ = true;
  if (!run()) return false;
  skipSpace();
  if (at_.empty()) return true;
  wrong("Parsing terminated before end of input.");
  return false;
}

bool JsonReader::run() {
  while (!stack_.empty()) {
    const Token token = quote_ == 0 ? nextToken() : Token::String;
    const Expect expect = stack_.back();
    stack_.pop_back();
    switch (step(expect, token)) {
      case Step::Done:
        continue;
      case Step::More:
        stack_.push_back(expect);
        return true;
      case Step::Wrong:
        return false;
    }
  }
  return true;
}

JsonReader::Token JsonReader::nextToken() {
  skipSpace();
  if (at_.empty()) return Token::Unknown;
  const char c = at_[0];
  if (c == '"' || c == '\'') return Token::String;
  if (c == '-' || isDigit(c)) return Token::Number;
  if (at_.starts_with("true")) return Token::True;
  if (at_.starts_with(kFalse)) return Token::False;
  if (at_.starts_with("null")) return Token::Null;
  switch (c) {
    case '{':
      return Token::BeginObject;
    case '}':
      return Token::EndObject;
    case '[':
      return Token::BeginList;
    case ']':
      return Token::EndList;
    case ':':
      return Token::Colon;
    case ',':
      return Token::Comma;
    default:
      return isLetter(c) ? Token::Key : Token::Unknown;
  }
}

JsonReader::Step JsonReader::step(Expect expect, Token token) {
  switch (expect) {
    case Expect::Value:
      return readValue(token);
    case Expect::Key:
      return readKey(token);
    case Expect::Element:
      return readElement(token);
    case Expect::Colon:
      if (token == Token::Unknown) return unknown("Expected : between key:value pair.");
      if (token != Token::Colon) return wrong("Expected : between key:value pair.");
      at_.remove_prefix(1);
      stack_.push_back(Expect::Value);
      return Step::Done;
    case Expect::AfterMember:
    case Expect::AfterElement: {
      const bool is_object = expect == Expect::AfterMember;
      const std::string_view why = is_object ? "Expected , or } after key:value pair."
                                             : "Expected , or ] after array value.";
      if (token == Token::Unknown) return unknown(why);
      if (token == (is_object ? Token::EndObject : Token::EndList)) {
        end(is_object);
      } else if (token == Token::Comma) {
        at_.remove_prefix(1);
        stack_.push_back(is_object ? Expect::Key : Expect::Element);
      } else {
        return wrong(why);
      }
      return Step::Done;
    }
  }
  return Step::Wrong;
}

JsonReader::Step JsonReader::readValue(Token token) {
  switch (token) {
    case Token::BeginObject:
    case Token::BeginList:
      return begin(token == Token::BeginObject);
    case Token::String: {
      const Step step = readString();
      if (step != Step::Done) return step;
      events_.scalar(takeKey(), JsonValue::of(std::string_view(text_)));
      text_.clear();
      return step;
    }
    case Token::Number:
      return readNumber();
    case Token::True:
      at_.remove_prefix(4);
      events_.scalar(takeKey(), JsonValue::of(true));
      return Step::Done;
    case Token::False:
      at_.remove_prefix(5);
      events_.scalar(takeKey(), JsonValue::of(false));
      return Step::Done;
    case Token::Null:
      at_.remove_prefix(4);
      events_.scalar(takeKey(), JsonValue::null());
      return Step::Done;
    case Token::Unknown:
      return unknown("Expected a value.");
    default:
      // A word may be cut off.
      if (!is_finishing_ && at_.size() < kFalse.size()) return Step::More;
      return wrong("Unexpected token.");
  }
}

JsonReader::Step JsonReader::readElement(Token token) {
  if (token == Token::Unknown) return unknown("Expected a value or ] within an array.");
  if (token == Token::EndList) {
    end(false);
    return Step::Done;
  }
  stack_.push_back(Expect::AfterElement);
  const Step step = readValue(token);
  if (step == Step::More) stack_.pop_back();
  return step;
}

JsonReader::Step JsonReader::readKey(Token token) {
  constexpr std::string_view kExpected = "Expected an object key or }.";
  Step step = Step::Done;
  switch (token) {
    case Token::Unknown:
      return unknown(kExpected);
    case Token::EndObject:
      end(true);
      return step;
    case Token::String:
      step = readString();
      if (step != Step::Done) return step;
      key_.swap(text_);
      text_.clear();
      break;
    case Token::Key:
    case Token::True:
    case Token::False:
    case Token::Null:
      step = readBareKey();
      if (step != Step::Done) return step;
      if (key_ == "null" || key_ == "true" || key_ == kFalse) return wrong(kExpected);
      break;
    default:
      return wrong(kExpected);
  }
  stack_.push_back(Expect::AfterMember);
  stack_.push_back(Expect::Colon);
  return step;
}

JsonReader::Step JsonReader::readBareKey() {
  size_t size = 1;
  while (size < at_.size() && (isLetter(at_[size]) || isDigit(at_[size]))) ++size;
  if (!is_finishing_ && size == at_.size()) return Step::More;
  key_ = at_.substr(0, size);
  at_.remove_prefix(size);
  return Step::Done;
}

JsonReader::Step JsonReader::begin(bool is_object) {
  at_.remove_prefix(1);
  if (is_object) {
    events_.beginObject(key_);
  } else {
    events_.beginList(key_);
  }
  if (++depth_ > kMaxDepth) {
    error_ = is_object ? "Message too deep. Max recursion depth reached for key '" + key_ + "'"
                       : "Message too deep. Max recursion depth reached in array";
    return Step::Wrong;
  }
  key_.clear();
  stack_.push_back(is_object ? Expect::Key : Expect::Element);
  return Step::Done;
}

void JsonReader::end(bool is_object) {
  at_.remove_prefix(1);
  --depth_;
  if (is_object) {
    events_.endObject();
  } else {
    events_.endList();
  }
}

// Lives until the next key.
std::string_view JsonReader::takeKey() {
  told_key_.swap(key_);
  key_.clear();
  return told_key_;
}

// ---- strings ----

JsonReader::Step JsonReader::readString() {
  if (quote_ == 0) {
    quote_ = at_[0];
    at_.remove_prefix(1);
  }
  while (!at_.empty()) {
    const char stops[] = {quote_, '\\', 0};
    const size_t size = std::min(at_.find_first_of(stops), at_.size());
    text_.append(at_.substr(0, size));
    at_.remove_prefix(size);
    if (at_.empty()) break;
    if (at_[0] == quote_) {
      quote_ = 0;
      at_.remove_prefix(1);
      return Step::Done;
    }
    const Step step = readEscape();
    if (step != Step::Done) return step;
  }
  return is_finishing_ ? wrong("Closing quote expected in string.") : Step::More;
}

JsonReader::Step JsonReader::readEscape() {
  if (at_.size() == 1) {
    return is_finishing_ ? wrong("Closing quote expected in string.") : Step::More;
  }
  if (at_[1] == 'u') return readUnicode();
  static constexpr std::string_view kLetters = "bfnrtv";
  static constexpr std::string_view kMeanings = "\b\f\n\r\t\v";
  const size_t found = kLetters.find(at_[1]);
  text_.push_back(found == std::string_view::npos ? at_[1] : kMeanings[found]);
  at_.remove_prefix(2);
  return Step::Done;
}

JsonReader::Step JsonReader::readUnicode() {
  if (at_.size() < kEscapeBytes) {
    return is_finishing_ ? wrong("Illegal hex string.") : Step::More;
  }
  uint32_t code = 0;
  if (!parseHex(at_.substr(2, 4), &code)) return wrong("Invalid escape sequence.");
  size_t bytes = kEscapeBytes;
  if (code >= 0xd800 && code <= 0xdbff) {
    // The other half follows.
    if (at_.size() < 2 * kEscapeBytes) {
      return is_finishing_ ? wrong("Missing low surrogate.") : Step::More;
    }
    if (at_.substr(kEscapeBytes, 2) != "\\u") return wrong("Missing low surrogate.");
    uint32_t low = 0;
    if (!parseHex(at_.substr(kEscapeBytes + 2, 4), &low)) return wrong("Invalid escape sequence.");
    if (low < 0xdc00 || low > 0xdfff) return wrong("Invalid low surrogate.");
    code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
    bytes *= 2;
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    return wrong("Invalid unicode code point.");
  }
  appendUtf8(&text_, code);
  at_.remove_prefix(bytes);
  return Step::Done;
}

// ---- numbers ----

JsonReader::Step JsonReader::readNumber() {
  constexpr std::string_view kNotDecimal = "Octal/hex numbers are not valid JSON values.";
  size_t size = 0;
  bool is_whole = true;
  for (; size < at_.size(); ++size) {
    const char c = at_[size];
    if (c == '.' || c == 'e' || c == 'E') is_whole = false;
    if (!isDigit(c) && std::string_view(".eE+-x").find(c) == std::string_view::npos) break;
  }
  if (size == at_.size() && !is_finishing_) return Step::More;
  const std::string_view text = at_.substr(0, size);
  if (!is_whole) return readDouble(text);
  const bool is_negative = text[0] == '-';
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  if (digits.size() >= 2 && digits[0] == '0') return wrong(kNotDecimal);
  const char* const end = text.data() + text.size();
  int64_t negative = 0;
  uint64_t positive = 0;
  const auto result = is_negative ? std::from_chars(text.data(), end, negative)
                                  : std::from_chars(text.data(), end, positive);
  if (result.ptr != end || result.ec != std::errc()) return readDouble(text);
  at_.remove_prefix(size);
  events_.scalar(takeKey(), is_negative ? JsonValue::of(negative) : JsonValue::of(positive));
  return Step::Done;
}

JsonReader::Step JsonReader::readDouble(std::string_view text) {
  double value = 0;
  if (!parseNumber(text, &value)) return wrong("Unable to parse number.");
  if (!std::isfinite(value)) return wrong("Number exceeds the range of double.");
  at_.remove_prefix(text.size());
  events_.scalar(takeKey(), JsonValue::of(value));
  return Step::Done;
}

// ---- what is wrong ----

void JsonReader::skipSpace() {
  while (!at_.empty() && isSpace(at_[0])) at_.remove_prefix(1);
}

JsonReader::Step JsonReader::unknown(std::string_view why) {
  if (!is_finishing_) return Step::More;
  return at_.empty() ? wrong("Unexpected end of string. " + std::string(why)) : wrong(why);
}

// With what is around it, and where.
JsonReader::Step JsonReader::wrong(std::string_view why) {
  const ptrdiff_t before = std::min(at_.data() - input_.data(), kShownBytes);
  const auto behind =
      static_cast<size_t>(std::min(input_.data() + input_.size() - at_.data(), kShownBytes));
  error_ = why;
  error_.push_back('\n');
  error_.append(at_.data() - before, static_cast<size_t>(before) + behind);
  error_.push_back('\n');
  error_.append(static_cast<size_t>(before), ' ');
  error_.push_back('^');
  return Step::Wrong;
}

}  // namespace fairlead::transcoder
