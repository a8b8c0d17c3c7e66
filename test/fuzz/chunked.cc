// Any bytes given to the chunk decoder: it ends, uses no more than it was given, and gives the same
// body however the bytes are cut, which is the one that a strict reader finds. What a plain writer
// chunks comes back whole.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

// What may stand before the CRLF of a chunk's size, or, where that is still to come, its beginning.
// Inputs are too short for the decoder's own limit.
bool isSizeLine(std::string_view line, bool whole, uint64_t* size) {
  const size_t digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
  if (digits == 0) return line.empty() && !whole;
  const std::string number(line.substr(std::min(line.find_first_not_of('0'), digits - 1)));
  if (std::min(number.find_first_of(" \t;"), number.size()) > 16) return false;
  *size = std::strtoull(number.c_str(), nullptr, 16);
  const size_t rest = line.find_first_not_of(" \t", digits);
  if (rest == std::string_view::npos) return true;
  if (line[rest] != ';') return false;
  for (const char c : line.substr(rest)) {
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f) return false;
  }
  return true;
}

// RFC 9112 §7.1, line by line.
Decoded decodeStrictly(std::string_view input) {
  using Step = ChunkDecoder::Step;
  Decoded out;
  for (size_t at = 0; at < input.size();) {
    const size_t end = std::min(input.find_first_of("\r\n", at), input.size());
    uint64_t size = 0;
    out.end = Step::Error;
    if (!isSizeLine(input.substr(at, end - at), end < input.size(), &size)) return out;
    const std::string_view line_end = input.substr(end, 2);
    if (!std::string_view("\r\n").starts_with(line_end)) return out;
    out.end = Step::NeedMore;
    if (line_end.size() < 2) break;
    at = end + 2;
    if (size == 0) {
      out.end = Step::Trailers;
      out.used = at;
      return out;
    }
    const std::string_view data = input.substr(at, size);
    out.body += data;
    at += data.size();
    if (data.size() < size) break;
    const std::string_view data_end = input.substr(at, 2);
    if (!std::string_view("\r\n").starts_with(data_end)) {
      out.end = Step::Error;
      return out;
    }
    if (data_end.size() < 2) break;
    at += 2;
  }
  out.used = input.size();
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
  const Decoded strict = decodeStrictly(input);
  FL_CHECK(whole.end == strict.end && whole.body == strict.body);
  FL_CHECK(whole.end == ChunkDecoder::Step::Error || whole.used == strict.used);
  checkRoundTrip(input);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"2\r\nab\r\n0\r\n\r\n",
          "5;ext=\"v\"\r\nhello\r\nA\r\n0123456789\r\n000\r\nx: y\r\n\r\n",
          "2 \t\r\nabjunk\r\n0;last\r\n",
          "2 junk\r\nab\r\n0 \r\n",
          "2;a\x01\r\nab\n0\n\n",
          "FFFFFFFFFFFFFFFF\r\nx"};
}
