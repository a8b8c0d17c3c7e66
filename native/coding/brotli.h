// Brotli (RFC 7932).
#pragma once

#include "coding/decoder.h"
#include "coding/encoder.h"

namespace fairlead::coding {

Result<std::unique_ptr<const EncoderConfig>> buildBrotliEncoder(const plan::Encoder& plan);
Result<std::unique_ptr<const DecoderConfig>> buildBrotliDecoder(const plan::Decoder& plan);

}  // namespace fairlead::coding
