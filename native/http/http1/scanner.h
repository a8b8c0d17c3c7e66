// HTTP/1 heads: bytes to views (RFC 9112 §2 to §5). Pure: no I/O, no allocation, no state.
// Scans with SSE4.2 where the compiler has it, and with a scalar twin that gives the same answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/codec_settings.h"
#include "http/message.h"

namespace fairlead::http1 {

using http::HeadLimits;

enum class Scan : uint8_t {
  Complete,
  // More bytes are needed; nothing in the output may be used.
  Incomplete,
  // The peer's fault; `error` says which.
  Error,
};

// Why a head is refused. `status` is what a client hears; `details` is RESPONSE_CODE_DETAILS as
// the real server spells it ("http1.codec_error").
struct ScanError {
  // What is no HTTP in one of many ways, of which the details do not say which.
  enum class Fault : uint8_t {
    ByDetails,
    Method,
    Version,
    NoColon,
    HeaderName,
    HeaderFormat,
    Length,
    Lengths,
    Chunk,
  };

  uint16_t status = 400;
  std::string_view details;
  Fault fault = Fault::ByDetails;
};

// What is no HTTP, and has no details of its own.
constexpr ScanError codecError(ScanError::Fault fault) { return {400, "http1.codec_error", fault}; }
inline constexpr ScanError kCodecError = codecError(ScanError::Fault::ByDetails);

struct ScanResult {
  Scan state;
  ScanError error;
};

// Reads a request's head from `data`. Header names are turned to lower case in place, and values
// are trimmed; leading empty lines are skipped and counted in head_bytes. Obsolete line folding is
// joined in place (its line ends are taken out), but for headers that decide about framing, where
// it is refused. Lines that repeat a header which the real server keeps in one line are joined.
// Views in `out` point into `data`. A version other than 1.1, or none, is read as 1.0.
ScanResult scanRequest(char* data, size_t size, const HeadLimits& limits, http::RequestHead* out);

// The same for a response's head. There a bare LF ends a line too, and a bare CR in a value is a
// blank (RFC 9112 §2.2), but again not in headers that decide about framing.
ScanResult scanResponse(char* data, size_t size, const HeadLimits& limits, http::ResponseHead* out);

// Reads a block of trailers (after the last chunk's line) up to and with its empty line. `consumed`
// is the number of bytes it took. With null for `out` they are checked and forgotten, and only
// their bytes are limited.
ScanResult scanTrailers(char* data, size_t size, const HeadLimits& limits, http::HeaderMap* out,
                        size_t* consumed);

// Whether a head (or trailers) that was incomplete without the bytes from `from` on may be complete
// with them: whether they end an empty line, or the first one, which may be all (HTTP/0.9). Who
// gathers a head in crumbs asks this before it scans again, so that all the scans together stay
// linear in the head's size.
bool mayEndHead(const char* data, size_t size, size_t from);

// What meters count of trailers.
uint32_t headerBytes(const http::HeaderMap& trailers);

// Bytes of the empty lines at the start, which may be dropped before a request's head.
size_t emptyLineBytes(const char* data, size_t size);

// The twins that read byte by byte, for tests.
namespace scalar {
ScanResult scanRequest(char* data, size_t size, const HeadLimits& limits, http::RequestHead* out);
ScanResult scanResponse(char* data, size_t size, const HeadLimits& limits, http::ResponseHead* out);
ScanResult scanTrailers(char* data, size_t size, const HeadLimits& limits, http::HeaderMap* out,
                        size_t* consumed);
}  // namespace scalar

}  // namespace fairlead::http1
