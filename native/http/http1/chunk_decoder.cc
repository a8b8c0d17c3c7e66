#include "http/http1/chunk_decoder.h"

#include <algorithm>

namespace fairlead::http1 {

namespace {

constexpr uint16_t kMaxExtensionBytes = 16 * 1024;
constexpr uint8_t kMaxDigits = 16;

int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ChunkDecoder::Result ChunkDecoder::next(std::string_view input) {
  size_t at = 0;
  const auto failed = [&] {
    state_ = State::Failed;
    return Result{Step::Error, at, {}};
  };
  while (at < input.size()) {
    const char c = input[at];
    switch (state_) {
      case State::Size:
      case State::SizeDigits: {
        const int digit = hexValue(c);
        if (digit >= 0) {
          if (++digits_ > kMaxDigits) return failed();
          remaining_ = remaining_ << 4 | static_cast<uint64_t>(digit);
          state_ = State::SizeDigits;
        } else if (state_ == State::Size) {
          return failed();
        } else if (c == '\r') {
          state_ = State::SizeLf;
        } else if (c == ';' || c == ' ' || c == '\t') {
          state_ = State::Extension;
        } else {
          return failed();
        }
        ++at;
        break;
      }
      case State::Extension:
        if (++extension_bytes_ > kMaxExtensionBytes || c == '\n') return failed();
        if (c == '\r') state_ = State::SizeLf;
        ++at;
        break;
      case State::SizeLf:
        if (c != '\n') return failed();
        ++at;
        digits_ = 0;
        if (remaining_ == 0) {
          state_ = State::Done;
          return {Step::Trailers, at, {}};
        }
        state_ = State::Data;
        break;
      case State::Data: {
        const size_t size = static_cast<size_t>(std::min<uint64_t>(remaining_, input.size() - at));
        const std::string_view data = input.substr(at, size);
        skipData(size);
        return {Step::Data, at + size, data};
      }
      case State::DataCr:
        // The real server takes what stands between a chunk and its line end as nothing.
        if (c == '\n' || ++extension_bytes_ > kMaxExtensionBytes) return failed();
        if (c == '\r') state_ = State::DataLf;
        ++at;
        break;
      case State::DataLf:
        if (c != '\n') return failed();
        ++at;
        state_ = State::Size;
        break;
      case State::Failed:
        return {Step::Error, at, {}};
      case State::Done:
        return {Step::Trailers, at, {}};
    }
  }
  return {Step::NeedMore, at, {}};
}

void ChunkDecoder::skipData(uint64_t bytes) {
  remaining_ -= bytes;
  if (remaining_ == 0) state_ = State::DataCr;
}

}  // namespace fairlead::http1
