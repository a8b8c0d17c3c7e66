#include "http/http2/open_block.h"

namespace fairlead::http2 {

using Step = HpackDecoder::Step;

bool OpenBlock::take(HpackDecoder& decoder, std::string_view piece, size_t frame_bytes) {
  const bool is_first = wire_bytes_ == 0;
  wire_bytes_ += frame_bytes;
  const bool has_rest = !rest_.empty();
  if (has_rest) {
    rest_.append(piece);
    if (rest_.size() < wanted_bytes_) return true;
    piece = rest_;
  }
  if (is_first) {
    decoder.begin(piece);
  } else {
    decoder.resume(piece);
  }
  const Step step = readOn(decoder);
  if (step == Step::Short) {
    wanted_bytes_ = decoder.wanted();
    rest_ = std::string(decoder.rest());
  } else {
    rest_.clear();
  }
  return step != Step::Error;
}

Step OpenBlock::readOn(HpackDecoder& decoder) {
  Field field;
  for (;;) {
    const bool is_read = is_wanted_ && !reader_.isSpent();
    // The tables go on, whatever becomes of the message.
    if (!is_read) arena_.reset();
    const Step step = decoder.next(arena_, &field, is_read);
    if (step != Step::Field) return step;
    if (!is_read) continue;
    // Frames go, and the headers stay.
    field.name = arena_.copy(field.name);
    field.value = arena_.copy(field.value);
    reader_.take(field);
  }
}

const ReadHead* OpenBlock::takeFault() {
  if (!is_wanted_ || !reader_.isSpent()) return nullptr;
  is_wanted_ = false;
  return &reader_.read();
}

ReadHead OpenBlock::finish(http::HeaderMap* headers) {
  if (!rest_.empty()) return {.result = ReadHead::Result::Undecodable};
  const ReadHead read = reader_.finish();
  *headers = headers_;
  return read;
}

}  // namespace fairlead::http2
