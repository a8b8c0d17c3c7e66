// Bytes out of a content coding: gzip, brotli, zstd. A decoder is a worker's. What it has made
// lives until it is asked again, and is bounded by what it was given: a message of a few bytes that
// would become gigabytes is broken.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.gen.h"

namespace fairlead::coding {

// What is wrong with the bytes; each coding has some of these.
enum class DecodeError : uint8_t {
  None,
  Data,
  Buffer,
  Memory,
  Stream,
  Version,
  Overflow,
  Redundant,
  Checksum,
  Dictionary,
};

struct Decoded {
  // What came out, also of what is wrong.
  std::string_view data;
  DecodeError error = DecodeError::None;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // `data` may be a tampered one's. After an error it goes on where it is, as the real server does:
  // most have nothing more to say.
  virtual Decoded decode(std::string_view data) = 0;
  // As new. False: it cannot be used again.
  virtual bool reset() = 0;
};

// How decoders of a configuration are. Immutable; any thread.
class DecoderConfig {
 public:
  virtual ~DecoderConfig() = default;
  // The error says what is not there.
  static Result<std::unique_ptr<const DecoderConfig>> build(const plan::Decoder& plan);

  // Null: there is no memory for it.
  virtual std::unique_ptr<Decoder> make() const = 0;
  plan::Decoder::Coding coding() const { return coding_; }

 protected:
  explicit DecoderConfig(plan::Decoder::Coding coding) : coding_(coding) {}

 private:
  const plan::Decoder::Coding coding_;
};

}  // namespace fairlead::coding
