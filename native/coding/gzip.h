// gzip (RFC 1952), by Node's zlib.
#pragma once

#include "coding/decoder.h"
#include "coding/encoder.h"

namespace fairlead::coding {

Result<std::unique_ptr<const EncoderConfig>> buildGzipEncoder(const plan::Encoder& plan);
Result<std::unique_ptr<const DecoderConfig>> buildGzipDecoder(const plan::Decoder& plan);

}  // namespace fairlead::coding
