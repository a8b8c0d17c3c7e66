// Zstandard (RFC 8878).
#pragma once

#include "coding/decoder.h"
#include "coding/encoder.h"

namespace fairlead::coding {

Result<std::unique_ptr<const EncoderConfig>> buildZstdEncoder(const plan::Encoder& plan);
Result<std::unique_ptr<const DecoderConfig>> buildZstdDecoder(const plan::Decoder& plan);

}  // namespace fairlead::coding
