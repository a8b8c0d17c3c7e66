// Bytes into a content coding: gzip, brotli, zstd. An encoder is a worker's; it keeps its memory
// from message to message. What it has made lives until it is asked again.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.gen.h"

namespace fairlead::coding {

// As Content-Encoding calls it, and as statistics do.
std::string_view nameOf(plan::Encoder::Coding coding);
std::string_view statNameOf(plan::Encoder::Coding coding);

class Encoder {
 public:
  virtual ~Encoder() = default;

  // What `data` becomes, whole: nothing of it waits for what comes later. `end`: nothing does.
  virtual std::string_view encode(std::string_view data, bool end) = 0;
  // As new. False: it cannot be used again.
  virtual bool reset() = 0;
};

// How encoders of a configuration are. Immutable; any thread.
class EncoderConfig {
 public:
  virtual ~EncoderConfig() = default;
  // The error says what is not there.
  static Result<std::unique_ptr<const EncoderConfig>> build(const plan::Encoder& plan);

  // Null: there is no memory for it.
  virtual std::unique_ptr<Encoder> make() const = 0;
  plan::Encoder::Coding coding() const { return coding_; }

 protected:
  explicit EncoderConfig(plan::Encoder::Coding coding) : coding_(coding) {}

 private:
  const plan::Encoder::Coding coding_;
};

}  // namespace fairlead::coding
