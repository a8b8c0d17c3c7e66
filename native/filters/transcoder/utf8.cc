#include "filters/transcoder/utf8.h"

#include <cstdio>
#include <cstring>

#include "base/base64.h"

namespace fairlead::transcoder {

namespace {

constexpr uint32_t kInvalid = UINT32_MAX;

// Takes a character from the front. kInvalid: there is none; `bytes` are what is wrong.
uint32_t decode(std::string_view text, size_t* bytes) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(text[at]); };
  const uint8_t first = byte(0);
  *bytes = 1;
  if (first < 0x80) return first;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return kInvalid;
  uint32_t code = first & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size() || byte(i) >> 6 != 2) return kInvalid;
    code = code << 6 | (byte(i) & 0x3f);
    *bytes = i + 1;
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kSmallest[size] || is_surrogate || code > 0x10ffff ? kInvalid : code;
}

bool isPlainAscii(uint8_t c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>';
}

// Of what is not ASCII: characters that nobody sees, or that change what is around them.
bool isHidden(uint32_t code) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  static constexpr Range kHidden[] = {{0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x603},
                                      {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x17b4, 0x17b5},
                                      {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},
                                      {0x206a, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
                                      {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};
  for (const Range& range : kHidden) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

void appendEscape(std::string* out, uint32_t unit) {
  char text[16];
  std::snprintf(text, sizeof(text), "\\u%04x", unit);
  out->append(text);
}

void appendEscaped(std::string* out, uint32_t code) {
  static constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  static constexpr std::string_view kLetters = "bfnrt\"\\";
  const size_t found = code < 0x80 ? kShort.find(static_cast<char>(code)) : std::string_view::npos;
  if (found != std::string_view::npos) {
    out->push_back('\\');
    out->push_back(kLetters[found]);
  } else if (code < 0x10000) {
    appendEscape(out, code);
  } else {
    appendEscape(out, 0xd800 + ((code - 0x10000) >> 10));
    appendEscape(out, 0xdc00 + (code & 0x3ff));
  }
}

}  // namespace

size_t validUtf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Eight characters of ASCII at once.
    uint64_t word = 0;
    while (at + sizeof(word) <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080) != 0) break;
      at += sizeof(word);
    }
    if (at == text.size()) break;
    size_t bytes = 0;
    if (decode(text.substr(at), &bytes) == kInvalid) break;
    at += bytes;
  }
  return at;
}

void appendUtf8(std::string* out, uint32_t code) {
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr uint8_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  out->push_back(static_cast<char>(kFirst[more] | code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
  }
}

void appendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && isPlainAscii(static_cast<uint8_t>(text[plain]))) ++plain;
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t bytes = 0;
    const uint32_t code = decode(text, &bytes);
    if (code == kInvalid) {
      out->push_back(' ');
    } else if (code < 0x80 || isHidden(code)) {
      appendEscaped(out, code);
    } else {
      out->append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  out->push_back('"');
}

void appendJsonBytes(std::string* out, std::string_view bytes) {
  Base64Writer writer;
  out->push_back('"');
  writer.add(bytes, out);
  writer.finish(out);
  out->push_back('"');
}

}  // namespace fairlead::transcoder
