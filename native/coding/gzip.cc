#include "coding/gzip.h"

#include <zlib.h>

#include "base/check.h"
#include "coding/output.h"

namespace fairlead::coding {

namespace {

// Added to window bits: with the header and the trailer of gzip.
constexpr int kGzipWrapper = 16;

void feed(z_stream& stream, std::string_view data) {
  // zlib reads alone, whatever its type says.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
}

void offer(z_stream& stream, Output& out) {
  stream.next_out = out.room();
  stream.avail_out = static_cast<uInt>(out.roomBytes());
}

class GzipEncoder final : public Encoder {
 public:
  explicit GzipEncoder(uint32_t chunk_bytes) : out_(chunk_bytes) {}
  ~GzipEncoder() override {
    if (is_open_) deflateEnd(&stream_);
  }

  bool open(const plan::Encoder& plan) {
    is_open_ =
        deflateInit2(&stream_, static_cast<int>(plan.level), Z_DEFLATED,
                     static_cast<int>(plan.window_bits) + kGzipWrapper,
                     static_cast<int>(plan.memory_level), static_cast<int>(plan.strategy)) == Z_OK;
    return is_open_;
  }

  std::string_view encode(std::string_view data, bool end) override {
    out_.clear();
    feed(stream_, data);
    const int flush = end ? Z_FINISH : Z_SYNC_FLUSH;
    int result = Z_OK;
    do {
      offer(stream_, out_);
      result = deflate(&stream_, flush);
      out_.setLeft(stream_.avail_out);
    } while (result == Z_OK && (stream_.avail_out == 0 || stream_.avail_in > 0));
    return out_.view();
  }

  bool reset() override {
    out_.trim();
    return deflateReset(&stream_) == Z_OK;
  }

 private:
  z_stream stream_ = {};
  Output out_;
  bool is_open_ = false;
};

class GzipEncoderConfig final : public EncoderConfig {
 public:
  explicit GzipEncoderConfig(const plan::Encoder& plan) : EncoderConfig(plan.coding), plan_(plan) {}

  std::unique_ptr<Encoder> make() const override {
    auto encoder = std::make_unique<GzipEncoder>(plan_.chunk_bytes);
    if (!encoder->open(plan_)) return nullptr;
    return encoder;
  }

 private:
  const plan::Encoder plan_;
};

DecodeError errorOf(int result) {
  switch (result) {
    case Z_STREAM_ERROR:
      return DecodeError::Stream;
    case Z_MEM_ERROR:
      return DecodeError::Memory;
    case Z_BUF_ERROR:
      return DecodeError::Buffer;
    case Z_VERSION_ERROR:
      return DecodeError::Version;
    default:
      return DecodeError::Data;
  }
}

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder(uint32_t chunk_bytes, uint32_t max_ratio)
      : out_(chunk_bytes), max_ratio_(max_ratio) {}
  ~GzipDecoder() override {
    if (is_open_) inflateEnd(&stream_);
  }

  bool open(uint32_t window_bits) {
    is_open_ = inflateInit2(&stream_, static_cast<int>(window_bits) + kGzipWrapper) == Z_OK;
    return is_open_;
  }

  Decoded decode(std::string_view data) override {
    out_.clear();
    feed(stream_, data);
    const uint64_t most = static_cast<uint64_t>(max_ratio_) * data.size();
    while (true) {
      offer(stream_, out_);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      out_.setLeft(stream_.avail_out);
      // What follows the end of the stream is nobody's.
      if (result == Z_STREAM_END) return {out_.view()};
      // All there is was taken, and all that it makes was given.
      if (result == Z_BUF_ERROR && stream_.avail_in == 0) return {out_.view()};
      if (result < 0) return {out_.view(), errorOf(result)};
      if (out_.size() > most) return {out_.view(), DecodeError::Data};
      if (stream_.avail_in == 0 && stream_.avail_out > 0) return {out_.view()};
    }
  }

  bool reset() override {
    out_.trim();
    return inflateReset(&stream_) == Z_OK;
  }

 private:
  z_stream stream_ = {};
  Output out_;
  const uint32_t max_ratio_;
  bool is_open_ = false;
};

class GzipDecoderConfig final : public DecoderConfig {
 public:
  explicit GzipDecoderConfig(const plan::Decoder& plan) : DecoderConfig(plan.coding), plan_(plan) {}

  std::unique_ptr<Decoder> make() const override {
    auto decoder = std::make_unique<GzipDecoder>(plan_.chunk_bytes, plan_.max_ratio);
    if (!decoder->open(plan_.window_bits)) return nullptr;
    return decoder;
  }

 private:
  const plan::Decoder plan_;
};

}  // namespace

Result<std::unique_ptr<const EncoderConfig>> buildGzipEncoder(const plan::Encoder& plan) {
  return std::unique_ptr<const EncoderConfig>(new GzipEncoderConfig(plan));
}

Result<std::unique_ptr<const DecoderConfig>> buildGzipDecoder(const plan::Decoder& plan) {
  return std::unique_ptr<const DecoderConfig>(new GzipDecoderConfig(plan));
}

}  // namespace fairlead::coding
