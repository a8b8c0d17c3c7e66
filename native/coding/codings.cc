// Which library is whose.
#include "coding/brotli.h"
#include "coding/gzip.h"
#include "coding/zstd.h"

namespace fairlead::coding {

namespace {

using Coding = plan::Encoder::Coding;

}  // namespace

std::string_view nameOf(Coding coding) {
  switch (coding) {
    case Coding::Gzip:
      return "gzip";
    case Coding::Brotli:
      return "br";
    case Coding::Zstd:
      return "zstd";
  }
  return {};
}

std::string_view statNameOf(Coding coding) {
  return coding == Coding::Brotli ? "brotli" : nameOf(coding);
}

Result<std::unique_ptr<const EncoderConfig>> EncoderConfig::build(const plan::Encoder& plan) {
  switch (plan.coding) {
    case Coding::Gzip:
      return buildGzipEncoder(plan);
    case Coding::Brotli:
      return buildBrotliEncoder(plan);
    case Coding::Zstd:
      return buildZstdEncoder(plan);
  }
  return Error{"a content coding that is not known here"};
}

Result<std::unique_ptr<const DecoderConfig>> DecoderConfig::build(const plan::Decoder& plan) {
  switch (static_cast<Coding>(plan.coding)) {
    case Coding::Gzip:
      return buildGzipDecoder(plan);
    case Coding::Brotli:
      return buildBrotliDecoder(plan);
    case Coding::Zstd:
      return buildZstdDecoder(plan);
  }
  return Error{"a content coding that is not known here"};
}

}  // namespace fairlead::coding
