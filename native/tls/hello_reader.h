// Big-endian numbers, and vectors that have their length before them. What is beyond the end fails
// it for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::tls {

class HelloReader {
 public:
  explicit HelloReader(std::string_view bytes) : bytes_(bytes) {}

  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }
  std::string_view take(size_t size) {
    if (size > bytes_.size()) {
      has_failed_ = true;
      bytes_ = {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  // Of so many bytes is its length.
  std::string_view vector(size_t length_bytes) { return take(number(length_bytes)); }

  bool isAtEnd() const { return bytes_.empty(); }
  bool hasFailed() const { return has_failed_; }
  // All was read, and nothing was missing.
  bool isDone() const { return !has_failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool has_failed_ = false;
};

}  // namespace fairlead::tls
