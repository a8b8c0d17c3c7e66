#include "http/http2/head_reader.h"

#include "base/text.h"
#include "http/header_syntax.h"
#include "http/joined_headers.h"
#include "http/target.h"

namespace fairlead::http2 {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

namespace {

constexpr std::string_view kInvalidField = "http2.invalid.header.field";
constexpr std::string_view kBrokenRule = "http2.violation.of.messaging.rule";
constexpr std::string_view kTooMany = "http2.too_many_headers";
constexpr std::string_view kTooLarge = "http2.header_list_size_too_large";

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDecimal(char c) { return c >= '0' && c <= '9'; }

bool isLowerToken(std::string_view text) {
  for (const char c : text) {
    if (http::kTokenLower[static_cast<uint8_t>(c)] != c || c == 0) return false;
  }
  return !text.empty();
}

bool isValue(std::string_view text, bool disallow_obs_text) {
  if (!http::isHeaderValue(text)) return false;
  if (!disallow_obs_text) return true;
  for (const char c : text) {
    if (static_cast<uint8_t>(c) >= 0x80) return false;
  }
  return true;
}

bool isScheme(std::string_view text) {
  if (text.empty() || !isLetter(text[0])) return false;
  for (const char c : text) {
    if (!isLetter(c) && !isDecimal(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

}  // namespace

void BlockReader::take(Field& field) {
  if (isFull(field) || read_.result != ReadHead::Result::Ok) return;
  if (!field.name.empty() && field.name[0] == ':') {
    takePseudo(field);
  } else {
    has_headers_ = true;
    takeHeader(field);
  }
}

bool BlockReader::isFull(const Field& field) {
  // What comes behind the field that is too much counts no more.
  if (read_.result == ReadHead::Result::TooLarge) return true;
  read_.header_bytes += static_cast<uint32_t>(field.name.size() + field.value.size());
  if (!limits_.spares(field.name)) ++fields_;
  const bool too_many = fields_ > limits_.max_headers || !headers_.hasRoomForPeer();
  const bool too_large = read_.header_bytes > limits_.max_head_bytes;
  if (!too_many && !too_large) return false;
  read_.result = ReadHead::Result::TooLarge;
  read_.details = too_many ? kTooMany : kTooLarge;
  read_.is_count = too_many;
  return true;
}

std::string_view* BlockReader::placeOf(std::string_view name) {
  PseudoHeaders& pseudo = read_.pseudo;
  if (message_ == Message::Response) return name == ":status" ? &pseudo.status : nullptr;
  if (message_ == Message::Trailers) return nullptr;
  switch (name.size()) {
    case 5:
      return name == ":path" ? &pseudo.path : nullptr;
    case 7:
      if (name[1] == 'm') return name == ":method" ? &pseudo.method : nullptr;
      return name == ":scheme" ? &pseudo.scheme : nullptr;
    case 9:
      return name == ":protocol" && options_.allow_connect ? &pseudo.protocol : nullptr;
    case 10:
      return name == ":authority" ? &pseudo.authority : nullptr;
    default:
      return nullptr;
  }
}

void BlockReader::takePseudo(const Field& field) {
  std::string_view* const place = placeOf(field.name);
  if (!place || place->data() || has_headers_) return broken(kInvalidField);
  *place = field.value;
  // That it is there shows in its data.
  if (!place->data()) *place = std::string_view("", 0);
  if (message_ == Message::Request && !isPseudoValue(*place)) broken(kInvalidField);
}

// Of a request: what is wrong by itself breaks another rule than what is missing, or goes with
// nothing else.
bool BlockReader::isPseudoValue(const std::string_view& value) const {
  const PseudoHeaders& pseudo = read_.pseudo;
  if (&value == &pseudo.method) return http::isToken(value);
  if (&value == &pseudo.scheme) return isScheme(value);
  if (&value == &pseudo.path) return !value.empty() && http::isWord(value);
  // One that is empty names nobody: whoever has none leaves it out (RFC 9113, 8.3.1).
  if (&value == &pseudo.authority) return !value.empty() && http::isValidAuthority(value);
  return !value.empty();
}

void BlockReader::takeHeader(Field& field) {
  // Names of an id are what they should be.
  const bool is_name = field.id != HeaderId::Other || isLowerToken(field.name);
  if (!is_name || !isValue(field.value, options_.disallow_obs_text)) return broken(kInvalidField);
  if (isOfConnection(field.id)) return broken(kInvalidField);
  switch (field.id) {
    case HeaderId::Te:
      if (!equalsIgnoreCase(field.value, "trailers")) return broken(kInvalidField);
      break;
    case HeaderId::ContentLength:
      if (!takeLength(field.value)) return broken(kInvalidField);
      break;
    case HeaderId::Cookie:
      ++cookies_;
      cookie_bytes_ += static_cast<uint32_t>(field.value.size()) + 2;
      break;
    case HeaderId::Host:
      if (message_ != Message::Request) break;
      if (host_ || field.value.empty() || !http::isValidAuthority(field.value)) {
        return broken(kInvalidField);
      }
      headers_.add(field.id, field.name, field.value);
      host_ = headers_.end() - 1;
      return;
    default:
      break;
  }
  if (field.id != HeaderId::Other) {
    const auto id = static_cast<size_t>(field.id);
    repeats_ |= (seen_[id / 64] >> (id % 64) & 1) != 0;
    seen_[id / 64] |= uint64_t{1} << (id % 64);
  }
  headers_.add(field.id, field.name, field.value);
}

bool BlockReader::takeLength(std::string_view value) {
  return read_.length == ReadHead::kNoLength && parseDecimal(value, &read_.length);
}

// They came apart so that they compress better (RFC 9113, 8.2.3).
void BlockReader::joinCookies() {
  char* const begin = arena_.allocate(cookie_bytes_);
  char* to = begin;
  HeaderEntry* first = nullptr;
  for (HeaderEntry& entry : headers_) {
    if (entry.id != HeaderId::Cookie) continue;
    if (to > begin) {
      *to++ = ';';
      *to++ = ' ';
    }
    std::memcpy(to, entry.value_data, entry.value_size);
    to += entry.value_size;
    if (first) {
      entry.remove();
    } else {
      first = &entry;
    }
  }
  arena_.shrink(to);
  first->setValue({begin, static_cast<size_t>(to - begin)});
}

void BlockReader::checkRequest() {
  PseudoHeaders& pseudo = read_.pseudo;
  if (!pseudo.method.data()) return broken(kBrokenRule);
  const bool is_connect = pseudo.method == "CONNECT";
  if (pseudo.protocol.data() && !is_connect) return broken(kBrokenRule);
  if (is_connect && !pseudo.protocol.data()) {
    // It names whom to connect to, and nothing else (8.5).
    if (!pseudo.authority.data() || pseudo.scheme.data() || pseudo.path.data()) {
      return broken(kBrokenRule);
    }
  } else {
    if (!pseudo.scheme.data() || !pseudo.path.data()) return broken(kBrokenRule);
    const bool is_asterisk = pseudo.path == "*" && pseudo.method == "OPTIONS";
    if (pseudo.path[0] != '/' && !is_asterisk) return broken(kBrokenRule);
  }
  if (!pseudo.authority.data()) {
    if (!host_) return broken(kBrokenRule);
    pseudo.authority = host_->value();
  }
  if (host_) host_->remove();
}

ReadHead BlockReader::finish() {
  if (read_.result != ReadHead::Result::Ok) return read_;
  if (message_ == Message::Request) checkRequest();
  if (message_ == Message::Response) {
    const std::string_view status = read_.pseudo.status;
    const bool is_status = status.size() == 3 && isDecimal(status[0]) && isDecimal(status[1]) &&
                           isDecimal(status[2]) && status[0] >= '1';
    if (!is_status) broken(kBrokenRule);
  }
  if (cookies_ > 1 && message_ == Message::Request) joinCookies();
  const bool joins = repeats_ || http::joins_unknown;
  if (joins && message_ == Message::Request) http::joinRequestLines(headers_, arena_);
  if (joins && message_ == Message::Response) http::joinResponseLines(headers_, arena_);
  return read_;
}

ReadHead readHead(HpackDecoder& decoder, std::string_view block, Message message,
                  const http::HeadLimits& limits, const plan::Http2Options& options,
                  HeaderMap& headers, Arena& arena) {
  headers.clear();
  arena.reset();
  BlockReader reader(message, limits, options, headers, arena);
  decoder.begin(block);
  Field field;
  for (;;) {
    // What expands to far more than it takes on the wire is not expanded for nobody.
    if (reader.isSpent()) arena.reset();
    switch (decoder.next(arena, &field, !reader.isSpent())) {
      case HpackDecoder::Step::Field:
        reader.take(field);
        continue;
      case HpackDecoder::Step::End:
        return reader.finish();
      case HpackDecoder::Step::Short:
      case HpackDecoder::Step::Error:
        return {.result = ReadHead::Result::Undecodable};
    }
  }
}

}  // namespace fairlead::http2
