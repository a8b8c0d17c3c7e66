// A block of fields whose rest comes in CONTINUATION frames: read as they come, so that what is
// wrong with it shows at once, since its peer may never end it. Owned by its session; one thread.
//
// Always holds: of a block that nobody wants any more only the field that is cut off is kept.
#pragma once

#include <string>
#include <string_view>

#include "http/http2/head_reader.h"

namespace fairlead::http2 {

class OpenBlock {
 public:
  OpenBlock(Message message, bool is_wanted, const http::HeadLimits& limits,
            const plan::Http2Options& options)
      : message_(message),
        is_wanted_(is_wanted),
        reader_(message, limits, options, headers_, arena_) {}

  // What the next frame has of it. False: it is no HPACK.
  bool take(HpackDecoder& decoder, std::string_view piece, size_t frame_bytes);
  // The first time that something is wrong with it: what. Null: nothing is, or it has been told.
  const ReadHead* takeFault();
  Message message() const { return message_; }
  // Of a stream, and nothing was wrong with it so far.
  bool isWanted() const { return is_wanted_; }
  // Its last field does not end in what has come.
  bool isCutOff() const { return !rest_.empty(); }
  size_t wireBytes() const { return wire_bytes_; }
  // It has ended. The headers' bytes live as long as this does.
  ReadHead finish(http::HeaderMap* headers);

 private:
  HpackDecoder::Step readOn(HpackDecoder& decoder);

  const Message message_;
  bool is_wanted_;
  size_t wire_bytes_ = 0;
  // Of a field that does not end in what has come, and how much must have come to read on.
  std::string rest_;
  size_t wanted_bytes_ = 0;
  Arena arena_{4096};
  http::HeaderMap headers_;
  BlockReader reader_;
};

// A block that has ended: `bytes`, or what `open` has read.
struct Block {
  std::string_view bytes;
  OpenBlock* open = nullptr;
  // What its frames had, but their heads.
  size_t wire_bytes = 0;
};

}  // namespace fairlead::http2
