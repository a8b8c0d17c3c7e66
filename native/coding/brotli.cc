#include "coding/brotli.h"

#include "coding/library.h"
#include "coding/output.h"

namespace fairlead::coding {

namespace {

class BrotliEncoder final : public Encoder {
 public:
  BrotliEncoder(const brotli::EncoderLibrary& library, const plan::Encoder& plan)
      : library_(library), out_(plan.chunk_bytes) {
    state_ = library_.create(nullptr, nullptr, nullptr);
    if (!state_) return;
    const auto set = [&](brotli::Parameter parameter, uint32_t value) {
      library_.set(state_, parameter, value);
    };
    set(brotli::Quality, static_cast<uint32_t>(plan.level));
    set(brotli::WindowBits, plan.window_bits);
    set(brotli::BlockBits, plan.block_bits);
    set(brotli::NoLiteralContexts, plan.without_literal_contexts ? 1 : 0);
    set(brotli::Mode, plan.mode);
  }
  ~BrotliEncoder() override {
    if (state_) library_.destroy(state_);
  }
  bool isOpen() const { return state_ != nullptr; }

  std::string_view encode(std::string_view data, bool end) override {
    out_.clear();
    auto* next_in = reinterpret_cast<const uint8_t*>(data.data());
    size_t left_in = data.size();
    const int operation = end ? brotli::Finish : brotli::Flush;
    bool goes_on = true;
    do {
      uint8_t* next_out = out_.room();
      size_t left_out = out_.roomBytes();
      goes_on = library_.compress(state_, operation, &left_in, &next_in, &left_out, &next_out,
                                  nullptr) != 0;
      out_.setLeft(left_out);
    } while (goes_on && (left_in > 0 || library_.hasMore(state_) != 0));
    return out_.view();
  }

  // It cannot begin again.
  bool reset() override { return false; }

 private:
  const brotli::EncoderLibrary& library_;
  Output out_;
  void* state_ = nullptr;
};

class BrotliEncoderConfig final : public EncoderConfig {
 public:
  BrotliEncoderConfig(const brotli::EncoderLibrary& library, const plan::Encoder& plan)
      : EncoderConfig(plan.coding), library_(library), plan_(plan) {}

  std::unique_ptr<Encoder> make() const override {
    auto encoder = std::make_unique<BrotliEncoder>(library_, plan_);
    if (!encoder->isOpen()) return nullptr;
    return encoder;
  }

 private:
  const brotli::EncoderLibrary& library_;
  const plan::Encoder plan_;
};

class BrotliDecoder final : public Decoder {
 public:
  BrotliDecoder(const brotli::DecoderLibrary& library, const plan::Decoder& plan)
      : library_(library), out_(plan.chunk_bytes), max_ratio_(plan.max_ratio) {
    state_ = library_.create(nullptr, nullptr, nullptr);
    if (!state_) return;
    library_.set(state_, brotli::NoRingBufferReallocation, plan.keeps_ring_buffer ? 1 : 0);
  }
  ~BrotliDecoder() override {
    if (state_) library_.destroy(state_);
  }
  bool isOpen() const { return state_ != nullptr; }

  Decoded decode(std::string_view data) override {
    out_.clear();
    auto* next_in = reinterpret_cast<const uint8_t*>(data.data());
    size_t left_in = data.size();
    const uint64_t most = static_cast<uint64_t>(max_ratio_) * data.size();
    int result = brotli::NeedsMoreInput;
    do {
      uint8_t* next_out = out_.room();
      size_t left_out = out_.roomBytes();
      result = library_.decompress(state_, &left_in, &next_in, &left_out, &next_out, nullptr);
      out_.setLeft(left_out);
      if (result == brotli::Error) return {out_.view(), DecodeError::Data};
      if (result == brotli::Success && left_in > 0) return {out_.view(), DecodeError::Redundant};
      if (out_.size() > most) return {out_.view(), DecodeError::Overflow};
    } while (left_in > 0 || result == brotli::NeedsMoreOutput);
    return {out_.view()};
  }

  bool reset() override { return false; }

 private:
  const brotli::DecoderLibrary& library_;
  Output out_;
  const uint32_t max_ratio_;
  void* state_ = nullptr;
};

class BrotliDecoderConfig final : public DecoderConfig {
 public:
  BrotliDecoderConfig(const brotli::DecoderLibrary& library, const plan::Decoder& plan)
      : DecoderConfig(plan.coding), library_(library), plan_(plan) {}

  std::unique_ptr<Decoder> make() const override {
    auto decoder = std::make_unique<BrotliDecoder>(library_, plan_);
    if (!decoder->isOpen()) return nullptr;
    return decoder;
  }

 private:
  const brotli::DecoderLibrary& library_;
  const plan::Decoder plan_;
};

constexpr const char* kNoBrotli =
    "brotli is not supported by this Node, nor is there a libbrotli*.so.1 of the system";

}  // namespace

Result<std::unique_ptr<const EncoderConfig>> buildBrotliEncoder(const plan::Encoder& plan) {
  const brotli::EncoderLibrary* const library = brotli::encoderLibrary();
  if (!library) return Error{kNoBrotli};
  return std::unique_ptr<const EncoderConfig>(new BrotliEncoderConfig(*library, plan));
}

Result<std::unique_ptr<const DecoderConfig>> buildBrotliDecoder(const plan::Decoder& plan) {
  const brotli::DecoderLibrary* const library = brotli::decoderLibrary();
  if (!library) return Error{kNoBrotli};
  return std::unique_ptr<const DecoderConfig>(new BrotliDecoderConfig(*library, plan));
}

}  // namespace fairlead::coding
