// Content codings: what is encoded comes back, however it is cut, and what is no such coding is
// told.
#include <string>

#include "coding/decoder.h"
#include "coding/encoder.h"
#include "coding/pool.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using coding::DecodeError;
using coding::Decoder;
using coding::DecoderConfig;
using coding::Encoder;
using coding::EncoderConfig;

plan::Encoder encoderOf(plan::Encoder::Coding coding) {
  plan::Encoder plan;
  plan.coding = coding;
  plan.chunk_bytes = 4096;
  switch (coding) {
    case plan::Encoder::Coding::Gzip:
      plan.level = -1;
      plan.window_bits = 12;
      plan.memory_level = 5;
      break;
    case plan::Encoder::Coding::Brotli:
      plan.level = 3;
      plan.window_bits = 18;
      break;
    case plan::Encoder::Coding::Zstd:
      plan.level = 3;
      plan.checksum = true;
      break;
  }
  return plan;
}

// `max_ratio`: repeated lines become very short.
plan::Decoder decoderOf(plan::Encoder::Coding coding, uint32_t max_ratio = 100) {
  plan::Decoder plan;
  plan.coding = static_cast<plan::Decoder::Coding>(coding);
  plan.chunk_bytes = 4096;
  plan.window_bits = 15;
  plan.max_ratio = max_ratio;
  return plan;
}

// Text that a coding has something to do with.
std::string textOf(size_t bytes) {
  std::string text;
  for (uint32_t i = 0; text.size() < bytes; ++i) {
    text += "line " + std::to_string(i * 2654435761U % 1000) + " of some text; ";
  }
  text.resize(bytes);
  return text;
}

std::string encoded(Encoder& encoder, std::string_view text, size_t piece) {
  std::string out;
  while (text.size() > piece) {
    out += encoder.encode(text.substr(0, piece), false);
    text.remove_prefix(piece);
  }
  return out += encoder.encode(text, true);
}

std::string decoded(Decoder& decoder, std::string_view bytes, size_t piece) {
  std::string out;
  while (!bytes.empty()) {
    const coding::Decoded made = decoder.decode(bytes.substr(0, piece));
    EXPECT(made.error == DecodeError::None);
    out += made.data;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return out;
}

constexpr plan::Encoder::Coding kAll[] = {
    plan::Encoder::Coding::Gzip, plan::Encoder::Coding::Brotli, plan::Encoder::Coding::Zstd};

}  // namespace

TEST("What is encoded comes back, in whatever pieces, and a coder serves again") {
  for (const auto coding : kAll) {
    const auto encoders = EncoderConfig::build(encoderOf(coding));
    const auto decoders = DecoderConfig::build(decoderOf(coding, 10'000));
    // A machine may lack a library.
    if (!encoders || !decoders) continue;
    coding::Pool<Encoder, EncoderConfig> pool;
    for (const size_t bytes : {0, 1, 30, 5'000, 200'000}) {
      const std::string text = textOf(bytes);
      for (const size_t piece : {size_t{7}, size_t{1'000}, size_t{16'384}, size_t{1'000'000}}) {
        if (bytes / piece > 1'000) continue;
        auto encoder = pool.take(*encoders.value());
        const std::string packed = encoded(*encoder, text, piece);
        pool.give(std::move(encoder));
        if (bytes > 1'000 && piece > 500) EXPECT(packed.size() < bytes);
        const auto decoder = decoders.value()->make();
        EXPECT(decoded(*decoder, packed, 1'500) == text);
      }
    }
  }
}

TEST("Each piece can be read when it comes") {
  for (const auto coding : kAll) {
    const auto encoders = EncoderConfig::build(encoderOf(coding));
    const auto decoders = DecoderConfig::build(decoderOf(coding));
    if (!encoders || !decoders) continue;
    const auto encoder = encoders.value()->make();
    const auto decoder = decoders.value()->make();
    for (const std::string_view event : {"data: one\n\n", "data: two\n\n", "data: three\n\n"}) {
      const std::string packed(encoder->encode(event, false));
      EXPECT_EQ(std::string(decoder->decode(packed).data), std::string(event));
    }
  }
}

TEST("What is no such coding is told, and so is what would become too much") {
  for (const auto coding : kAll) {
    const auto encoders = EncoderConfig::build(encoderOf(coding));
    const auto decoders = DecoderConfig::build(decoderOf(coding));
    if (!encoders || !decoders) continue;
    const auto stranger = decoders.value()->make();
    EXPECT(stranger->decode("not at all").error != DecodeError::None);
    EXPECT(stranger->decode("nor this").error != DecodeError::None);
    // A bomb: a hundred megabytes of nothing.
    const auto encoder = encoders.value()->make();
    const std::string zeros(1'000'000, '\0');
    std::string bomb;
    for (int i = 0; i < 100; ++i) bomb += encoder->encode(zeros, i == 99);
    const auto decoder = decoders.value()->make();
    const coding::Decoded made = decoder->decode(bomb);
    EXPECT(made.error != DecodeError::None);
    EXPECT(made.data.size() < 100'000'000);
  }
}

TEST("A stream that is cut is no mistake so far, and bytes behind its end are nobody's") {
  const auto encoders = EncoderConfig::build(encoderOf(plan::Encoder::Coding::Gzip));
  const auto decoders = DecoderConfig::build(decoderOf(plan::Encoder::Coding::Gzip));
  const std::string text = textOf(3'000);
  const auto encoder = encoders.value()->make();
  std::string packed(encoder->encode(text, true));
  const auto cut = decoders.value()->make();
  EXPECT(cut->decode(std::string_view(packed).substr(0, packed.size() - 4)).error ==
         DecodeError::None);
  packed += "more";
  const auto longer = decoders.value()->make();
  const coding::Decoded made = longer->decode(packed);
  EXPECT(made.error == DecodeError::None);
  EXPECT(made.data == text);
}

TEST("A dictionary is found by its number") {
  plan::Encoder encoder = encoderOf(plan::Encoder::Coding::Zstd);
  plan::Decoder decoder = decoderOf(plan::Encoder::Coding::Zstd);
  // Plain content has no number: both sides use it as it is.
  encoder.dictionary = textOf(2'000);
  decoder.dictionaries = {encoder.dictionary};
  const auto encoders = EncoderConfig::build(encoder);
  const auto decoders = DecoderConfig::build(decoder);
  if (!encoders || !decoders) return;
  const auto made = encoders.value()->make();
  EXPECT(!made->encode(textOf(500), true).empty());
}

}  // namespace fairlead::test
