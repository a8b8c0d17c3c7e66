// Any bytes given to each decoder of content codings, in pieces: it ends, and gives no more than it
// may. What an encoder made of the same bytes comes back whole.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "coding/decoder.h"
#include "coding/encoder.h"

using namespace fairlead;

namespace {

constexpr uint32_t kMaxRatio = 100;
// Beyond what a piece may become: a chunk of room.
constexpr size_t kSlack = 64 * 1024;
constexpr size_t kMaxPiece = 32 * 1024 * 1024;

plan::Decoder decoderOf(plan::Encoder::Coding coding) {
  plan::Decoder plan;
  plan.coding = static_cast<plan::Decoder::Coding>(coding);
  plan.window_bits = 15;
  plan.max_ratio = kMaxRatio;
  plan.chunk_bytes = 4096;
  return plan;
}

plan::Encoder encoderOf(plan::Encoder::Coding coding) {
  plan::Encoder plan;
  plan.coding = coding;
  plan.level = 1;
  plan.window_bits = coding == plan::Encoder::Coding::Brotli ? 18 : 12;
  plan.memory_level = 5;
  plan.chunk_bytes = 4096;
  return plan;
}

void decodeAnything(const coding::DecoderConfig& config, std::string_view bytes, size_t piece) {
  const bool is_bounded = config.coding() != plan::Decoder::Coding::Zstd;
  const auto decoder = config.make();
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    const coding::Decoded made = decoder->decode(part);
    // Room grows by half and more.
    FL_CHECK(made.data.size() <= (is_bounded ? 2 * kMaxRatio * part.size() + kSlack : kMaxPiece));
    bytes.remove_prefix(part.size());
  }
}

void decodeEncoded(const coding::EncoderConfig& encoders, const coding::DecoderConfig& decoders,
                   std::string_view bytes, size_t piece) {
  const auto encoder = encoders.make();
  const auto decoder = decoders.make();
  std::string back;
  std::string_view rest = bytes;
  while (true) {
    const std::string_view part = rest.substr(0, piece);
    rest.remove_prefix(part.size());
    const coding::Decoded made = decoder->decode(encoder->encode(part, rest.empty()));
    // What is the same again and again may be more than a decoder lets out.
    if (made.error != coding::DecodeError::None) return;
    back += made.data;
    if (rest.empty()) break;
  }
  FL_CHECK(back == bytes);
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (const auto coding :
       {plan::Encoder::Coding::Gzip, plan::Encoder::Coding::Brotli, plan::Encoder::Coding::Zstd}) {
    const auto encoders = coding::EncoderConfig::build(encoderOf(coding));
    if (!encoders) continue;
    for (const std::string& text : {std::string("hello"), std::string(3'000, 'a')}) {
      seeds.push_back("\xff" + std::string(encoders.value()->make()->encode(text, true)));
    }
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = 1 + data[0];
  for (const auto coding :
       {plan::Encoder::Coding::Gzip, plan::Encoder::Coding::Brotli, plan::Encoder::Coding::Zstd}) {
    const auto decoders = coding::DecoderConfig::build(decoderOf(coding));
    const auto encoders = coding::EncoderConfig::build(encoderOf(coding));
    // A machine may lack a library.
    if (!decoders || !encoders) continue;
    decodeAnything(*decoders.value(), bytes, piece);
    decodeEncoded(*encoders.value(), *decoders.value(), bytes, piece);
  }
  return 0;
}
