// The chunked transfer coding (RFC 9112 §7.1), undone. A few bytes of state, no buffer: what it
// says of each step are views into the bytes it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::http1 {

class ChunkDecoder {
 public:
  enum class Step : uint8_t {
    // `data` holds body bytes.
    Data,
    // All input is used up; the body goes on.
    NeedMore,
    // The last chunk's line is over; what follows is the trailer section (maybe only CRLF).
    Trailers,
    // Not the coding: the connection must end.
    Error,
  };
  struct Result {
    Step step;
    // Bytes of the input used by this step, `data` included.
    size_t consumed;
    std::string_view data;
  };

  // Takes one step over `input`. Call again with what was not consumed until NeedMore, Trailers or
  // Error. What is neither size nor data (leading zeros, blanks behind the size, extensions) is
  // skipped, at most 16 KiB of it for one chunk. Extensions are not looked into, but control bytes
  // are an error there, as every byte is that stands elsewhere.
  Result next(std::string_view input);

  // Body bytes that are still to come of the chunk that is being read.
  uint64_t chunkRemaining() const { return remaining_; }
  // `bytes` of the current chunk's data, at most chunkRemaining(), were taken past the decoder.
  void skipData(uint64_t bytes);
  void reset() { *this = ChunkDecoder(); }

 private:
  enum class State : uint8_t {
    Size,
    SizeDigits,
    SizeBlanks,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Failed,
    Done,
  };

  bool takeSizeByte(char c);
  bool takeSizeEnd(char c);
  bool takeExtra() { return ++extra_bytes_ <= kMaxExtraBytes; }

  static constexpr uint16_t kMaxExtraBytes = 16 * 1024;

  State state_ = State::Size;
  uint16_t extra_bytes_ = 0;
  uint64_t remaining_ = 0;
};

}  // namespace fairlead::http1
