// Any bytes given to the chunk decoder: it ends, uses no more than it was given, and gives the same
// body however the bytes are cut. What a plain writer chunks comes back whole.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/http1/chunk_decoder.h"

using fairlead::http1::ChunkDecoder;

namespace {

struct Decoded {
  std::string body;
  ChunkDecoder::Step end = ChunkDecoder::Step::NeedMore;
  size_t used = 0;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view input, size_t piece) {
  ChunkDecoder decoder;
  Decoded out;
  while (out.used < input.size()) {
    std::string_view part = input.substr(out.used, piece);
    while (!part.empty()) {
      const ChunkDecoder::Result step = decoder.next(part);
      FL_CHECK(step.consumed <= part.size());
      FL_CHECK(step.data.empty() ||
               (step.data.data() >= part.data() &&
                step.data.data() + step.data.size() == part.data() + step.consumed));
      out.used += step.consumed;
      part.remove_prefix(step.consumed);
      if (step.step == ChunkDecoder::Step::Data) {
        FL_CHECK(!step.data.empty());
        out.body += step.data;
        continue;
      }
      if (step.step == ChunkDecoder::Step::NeedMore) {
        FL_CHECK(part.empty());
        continue;
      }
      out.end = step.step;
      return out;
    }
  }
  return out;
}

void checkRoundTrip(std::string_view body) {
  std::string coded;
  size_t size = 1;
  for (size_t at = 0; at < body.size(); at += size, size = size * 3 % 100 + 1) {
    const std::string_view part = body.substr(at, size);
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", part.size());
    coded.append(head).append(part).append("\r\n");
  }
  coded += "0\r\n";
  const Decoded out = decode(coded, coded.size());
  FL_CHECK(out.body == body && out.used == coded.size());
  FL_CHECK(out.end == ChunkDecoder::Step::Trailers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Decoded whole = decode(input, size);
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}})
    FL_CHECK(decode(input, piece) == whole);
  checkRoundTrip(input);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"2\r\nab\r\n0\r\n\r\n", "5;ext=\"v\"\r\nhello\r\nA\r\n0123456789\r\n000\r\nx: y\r\n\r\n",
          "2 \t\r\nabjunk\r\n0;last\r\n", "FFFFFFFFFFFFFFFF\r\nx"};
}
