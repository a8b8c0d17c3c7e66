#include "http/http1/scanner.h"

#include <cstring>

#include "http/http1/head_reader.h"
#include "http/joined_headers.h"

namespace fairlead::http1 {

namespace {

using http::HeaderMap;
using reading::HeadReader;
using reading::kTooLarge;
using reading::kTooMany;
using reading::Lines;
using reading::refused;

// A head that is not complete yet is too large already when it fills the limit.
template <typename Reader>
ScanResult limited(ScanResult result, const Reader& reader, size_t size, const HeadLimits& limits) {
  if (result.state == Scan::Incomplete && size > limits.max_head_bytes) return refused(kTooLarge);
  if (result.state == Scan::Complete && reader.used() > limits.max_head_bytes) {
    return refused(kTooLarge);
  }
  return result;
}

// Of what is no head nothing is read, but of one that has too many.
template <typename Reader>
uint32_t headerBytesOf(const ScanResult& result, const Reader& reader) {
  const bool is_read = result.state != Scan::Error || result.error.details == kTooMany.details;
  return is_read ? reader.headerBytes() : 0;
}

template <typename Bytes>
ScanResult scanRequestWith(char* data, size_t size, const HeadLimits& limits,
                           http::RequestHead* out) {
  HeadReader<Bytes, Lines::Strict> reader(data, size);
  out->headers.clear();
  reader.skipEmptyLines();
  ScanResult result = reader.readRequestLine(limits.takes_any_method, out);
  if (result.state == Scan::Complete && !reader.isBare()) {
    result = reader.readHeaders(limits, &out->headers);
  }
  out->head_bytes = static_cast<uint32_t>(reader.used());
  if (result.state == Scan::Complete && (reader.repeats() || http::joins_unknown)) {
    out->joined.reset();
    http::joinRequestLines(out->headers, out->joined);
  }
  result = limited(result, reader, size, limits);
  out->header_bytes = headerBytesOf(result, reader);
  return result;
}

template <typename Bytes>
ScanResult scanResponseWith(char* data, size_t size, const HeadLimits& limits,
                            http::ResponseHead* out) {
  HeadReader<Bytes, Lines::Lenient> reader(data, size);
  out->headers.clear();
  ScanResult result = reader.readStatusLine(out);
  if (result.state == Scan::Complete) {
    result = reader.readHeaders(limits, &out->headers);
  }
  out->head_bytes = static_cast<uint32_t>(reader.used());
  if (result.state == Scan::Complete && (reader.repeats() || http::joins_unknown)) {
    out->joined.reset();
    http::joinResponseLines(out->headers, out->joined);
  }
  result = limited(result, reader, size, limits);
  out->header_bytes = headerBytesOf(result, reader);
  return result;
}

template <typename Bytes>
ScanResult scanTrailersWith(char* data, size_t size, const HeadLimits& limits, HeaderMap* out,
                            size_t* consumed) {
  HeadReader<Bytes, Lines::Strict> reader(data, size);
  if (out) out->clear();
  const ScanResult result = reader.readHeaders(limits, out);
  *consumed = reader.used();
  return limited(result, reader, size, limits);
}

}  // namespace

ScanResult scanRequest(char* data, size_t size, const HeadLimits& limits, http::RequestHead* out) {
  return scanRequestWith<http::WidestBytes>(data, size, limits, out);
}

ScanResult scanResponse(char* data, size_t size, const HeadLimits& limits,
                        http::ResponseHead* out) {
  return scanResponseWith<http::WidestBytes>(data, size, limits, out);
}

ScanResult scanTrailers(char* data, size_t size, const HeadLimits& limits, HeaderMap* out,
                        size_t* consumed) {
  return scanTrailersWith<http::WidestBytes>(data, size, limits, out, consumed);
}

namespace scalar {

ScanResult scanRequest(char* data, size_t size, const HeadLimits& limits, http::RequestHead* out) {
  return scanRequestWith<http::ScalarBytes>(data, size, limits, out);
}

ScanResult scanResponse(char* data, size_t size, const HeadLimits& limits,
                        http::ResponseHead* out) {
  return scanResponseWith<http::ScalarBytes>(data, size, limits, out);
}

ScanResult scanTrailers(char* data, size_t size, const HeadLimits& limits, HeaderMap* out,
                        size_t* consumed) {
  return scanTrailersWith<http::ScalarBytes>(data, size, limits, out, consumed);
}

}  // namespace scalar

bool mayEndHead(const char* data, size_t size, size_t from) {
  size_t at = from > 2 ? from - 2 : 0;
  if (at == 0 && size > 0 && (data[0] == '\r' || data[0] == '\n')) return true;
  const bool ends_line = std::memchr(data + from, '\n', size - from) != nullptr;
  const size_t empty = emptyLineBytes(data, from);
  if (ends_line && !std::memchr(data + empty, '\n', from - empty)) return true;
  while (const void* found = std::memchr(data + at, '\n', size - at)) {
    at = static_cast<size_t>(static_cast<const char*>(found) - data) + 1;
    if (at < size && data[at] == '\n') return true;
    if (at + 1 < size && data[at] == '\r' && data[at + 1] == '\n') return true;
  }
  return false;
}

uint32_t headerBytes(const HeaderMap& trailers) {
  size_t bytes = 0;
  for (const http::HeaderEntry& entry : trailers) {
    bytes += entry.name_size + entry.value().size() + http::kBytesBesideHeader;
  }
  return static_cast<uint32_t>(bytes);
}

size_t emptyLineBytes(const char* data, size_t size) {
  size_t at = 0;
  while (size - at >= 2 && data[at] == '\r' && data[at + 1] == '\n') at += 2;
  return at;
}

}  // namespace fairlead::http1
