// What a codec towards hosts is lent by its worker. Values.
#pragma once

#include "base/random.h"
#include "http/codec_scratch.h"
#include "stats/registry.h"

namespace fairlead::http {

struct ClientLoans {
  const CodecScratch& scratch;
  // Null only where nobody speaks HTTP/2.
  stats::Shard<stats::Http2Codec>* http2_stats;
  Random& random;
};

}  // namespace fairlead::http
