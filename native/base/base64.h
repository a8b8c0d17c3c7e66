// Base64 (RFC 4648 §4), with padding. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

// Bytes that come in pieces: what fills no group of three waits for the next, or for the end.
class Base64Writer {
 public:
  void add(std::string_view bytes, std::string* out) {
    for (const char c : bytes) {
      group_ = group_ << 8 | static_cast<uint8_t>(c);
      if (++held_ == 3) write(out, 4);
    }
  }
  // What comes next begins anew.
  void finish(std::string* out) {
    if (held_ == 0) return;
    const int digits = held_ + 1;
    group_ <<= 8 * (3 - held_);
    write(out, digits);
    out->append(static_cast<size_t>(4 - digits), '=');
  }

 private:
  void write(std::string* out, int digits) {
    static constexpr char kDigits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < digits; ++i) out->push_back(kDigits[group_ >> (18 - 6 * i) & 63]);
    group_ = 0;
    held_ = 0;
  }

  uint32_t group_ = 0;
  int held_ = 0;
};

// Appends what `text` stands for, which is whole groups of four with padding in the last at most.
// False: it is none.
inline bool decodeBase64(std::string_view text, std::string* out) {
  if (text.size() % 4 != 0) return false;
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t group = 0;
    int digits = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text[at + static_cast<size_t>(i)];
      uint32_t digit = 0;
      if (c >= 'A' && c <= 'Z') {
        digit = static_cast<uint32_t>(c - 'A');
      } else if (c >= 'a' && c <= 'z') {
        digit = static_cast<uint32_t>(c - 'a') + 26;
      } else if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0') + 52;
      } else if (c == '+') {
        digit = 62;
      } else if (c == '/') {
        digit = 63;
      } else if (c == '=' && i >= 2 && at + 4 == text.size()) {
        group <<= 6;
        continue;
      } else {
        return false;
      }
      // Nothing comes after padding.
      if (digits != i) return false;
      group = group << 6 | digit;
      ++digits;
    }
    for (int i = 0; i < digits - 1; ++i) out->push_back(static_cast<char>(group >> (16 - 8 * i)));
  }
  return true;
}

// The alphabet of URLs (RFC 4648 §5), with or without padding.
inline bool decodeBase64Url(std::string_view text, std::string* out) {
  const bool is_padded = text.ends_with('=');
  if (is_padded && text.size() % 4 != 0) return false;
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/') return false;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  if (plain.size() % 4 == 1) return false;
  while (plain.size() % 4 != 0) plain.push_back('=');
  return decodeBase64(plain, out);
}

inline std::string encodeBase64(std::string_view bytes) {
  std::string text;
  Base64Writer writer;
  writer.add(bytes, &text);
  writer.finish(&text);
  return text;
}

// Without padding.
inline std::string encodeBase64Url(std::string_view bytes) {
  std::string text = encodeBase64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace fairlead
