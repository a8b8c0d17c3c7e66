#include "http/http1/chunk_decoder.h"

#include <algorithm>

#include "base/hex.h"
#include "base/text.h"
#include "http/byte_scan.h"

namespace fairlead::http1 {

namespace {

bool isControl(char c) { return !http::isValueByte(c); }

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
      case State::SizeBlanks:
      case State::Extension:
        ok = takeSizeEnd(c);
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
        ok = c == '\r';
        state_ = State::DataLf;
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
  return state_ == State::SizeDigits && takeSizeEnd(c);
}

// Behind the digits: some pad them with blanks (RFC 9112 §7.1.1 has such before extensions only).
bool ChunkDecoder::takeSizeEnd(char c) {
  if (c == '\r') {
    state_ = State::SizeLf;
    return true;
  }
  if (state_ != State::Extension) {
    if (c != ';' && !isBlank(c)) return false;
    state_ = c == ';' ? State::Extension : State::SizeBlanks;
  }
  return !isControl(c) && takeExtra();
}

void ChunkDecoder::skipData(uint64_t bytes) {
  remaining_ -= bytes;
  if (remaining_ == 0) state_ = State::DataCr;
}

}  // namespace fairlead::http1
