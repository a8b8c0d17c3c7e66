#include "http/http1/chunk_decoder.h"

#include <algorithm>

namespace fairlead::http1 {

namespace {

int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ChunkDecoder::Result ChunkDecoder::next(std::string_view input) {
  size_t at = 0;
  while (at < input.size()) {
    const char c = input[at];
    bool ok = true;
    switch (state_) {
      case State::Size:
      case State::SizeDigits:
        ok = takeSizeByte(c);
        break;
      case State::Extension:
        ok = c != '\n' && takeExtra();
        if (c == '\r') state_ = State::SizeLf;
        break;
      case State::SizeLf:
        ok = c == '\n';
        if (!ok) break;
        if (remaining_ == 0) {
          state_ = State::Done;
          return {Step::Trailers, at + 1, {}};
        }
        state_ = State::Data;
        break;
      case State::Data: {
        const auto size = static_cast<size_t>(std::min<uint64_t>(remaining_, input.size() - at));
        skipData(size);
        return {Step::Data, at + size, input.substr(at, size)};
      }
      case State::DataCr:
        // The real server takes what stands between a chunk and its line end as nothing.
        ok = c != '\n' && (c == '\r' || takeExtra());
        if (c == '\r') state_ = State::DataLf;
        break;
      case State::DataLf:
        ok = c == '\n';
        state_ = State::Size;
        extra_bytes_ = 0;
        break;
      case State::Failed:
        return {Step::Error, at, {}};
      case State::Done:
        return {Step::Trailers, at, {}};
    }
    if (!ok) {
      state_ = State::Failed;
      return {Step::Error, at, {}};
    }
    ++at;
  }
  return {Step::NeedMore, at, {}};
}

bool ChunkDecoder::takeSizeByte(char c) {
  if (const int digit = hexValue(c); digit >= 0) {
    state_ = State::SizeDigits;
    if (remaining_ >> 60 != 0) return false;  // Larger than 64 bits.
    remaining_ = remaining_ << 4 | static_cast<uint64_t>(digit);
    return remaining_ != 0 || takeExtra();
  }
  if (state_ == State::Size) return false;
  if (c == '\r') {
    state_ = State::SizeLf;
    return true;
  }
  state_ = State::Extension;
  return c == ';' || c == ' ' || c == '\t';
}

void ChunkDecoder::skipData(uint64_t bytes) {
  remaining_ -= bytes;
  if (remaining_ == 0) state_ = State::DataCr;
}

}  // namespace fairlead::http1
