#include "http/http1/scanner.h"

#include <array>

#ifdef __SSE4_2__
#include <immintrin.h>
#endif

namespace fairlead::http1 {

namespace {

using http::HeaderId;
using http::HeaderMap;

constexpr ScanError kCodecError{400, "http1.codec_error"};
constexpr ScanError kInvalidCharacters{400, "http1.invalid_characters"};
constexpr ScanError kTooLarge{431, "http1.headers_too_large"};
constexpr ScanError kTooMany{431, "http1.too_many_headers"};
constexpr ScanError kLowVersion{426, "low_version"};

ScanResult complete() { return {Scan::Complete, {}}; }
ScanResult incomplete() { return {Scan::Incomplete, {}}; }
ScanResult refused(ScanError error) { return {Scan::Error, error}; }

// The lower-case form of a byte that a token (RFC 9110 §5.6.2) may have; 0 for any other.
constexpr std::array<char, 256> makeTokenTable() {
  std::array<char, 256> table = {};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c + 32);
  for (const char c : {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<size_t>(c)] = c;
  }
  return table;
}
constexpr std::array<char, 256> kToken = makeTokenTable();

constexpr std::string_view kMethods[] = {
    "GET",      "POST",      "HEAD",      "PUT",      "DELETE",      "OPTIONS",    "PATCH",
    "CONNECT",  "TRACE",     "ACL",       "BIND",     "CHECKOUT",    "COPY",       "LINK",
    "LOCK",     "MERGE",     "MKACTIVITY", "MKCALENDAR", "MKCOL",    "MOVE",       "M-SEARCH",
    "NOTIFY",   "PROPFIND",  "PROPPATCH", "PURGE",    "REBIND",      "REPORT",     "SEARCH",
    "SOURCE",   "SUBSCRIBE", "UNBIND",    "UNLINK",   "UNLOCK",      "UNSUBSCRIBE"};

bool isKnownMethod(std::string_view method) {
  for (const std::string_view known : kMethods) {
    if (known == method) return true;
  }
  return false;
}

bool isValueByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
bool isTargetByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte > 0x20 && byte < 0x7f;
}

#ifdef __SSE4_2__
// Skips whole groups of 16 bytes without a control byte; the tail is left to the caller's loop.
char* skipPlainValue(char* at, const char* end) {
  const __m128i kLowest = _mm_set1_epi8(0x1f);
  const __m128i kDelete = _mm_set1_epi8(0x7f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Unsigned: a byte is at most 0x1f exactly when the larger of both is 0x1f.
    const __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, kLowest), kLowest);
    const __m128i bad = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, kDelete));
    const int mask = _mm_movemask_epi8(bad);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
  return at;
}
// The same for a target: nothing at or below a blank, nothing from 0x7f on.
char* skipPlainTarget(char* at, const char* end) {
  const __m128i kBlank = _mm_set1_epi8(0x20);
  const __m128i kDelete = _mm_set1_epi8(0x7f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed: bytes from 0x80 on are negative, and so below a blank.
    const __m128i good = _mm_and_si128(_mm_cmpgt_epi8(bytes, kBlank), _mm_cmplt_epi8(bytes, kDelete));
    const int mask = _mm_movemask_epi8(good) ^ 0xffff;
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
  return at;
}
#else
char* skipPlainValue(char* at, const char*) { return at; }
char* skipPlainTarget(char* at, const char*) { return at; }
#endif

// A line's end at `at`. Only CR LF counts: a bare LF or CR is where two readers may disagree.
enum class LineEnd : uint8_t { Yes, No, NeedMore, Bare };
LineEnd lineEndAt(const char* at, const char* end) {
  if (at == end) return LineEnd::NeedMore;
  if (*at == '\n') return LineEnd::Bare;
  if (*at != '\r') return LineEnd::No;
  if (at + 1 == end) return LineEnd::NeedMore;
  return at[1] == '\n' ? LineEnd::Yes : LineEnd::Bare;
}

std::string_view trimmedBetween(char* begin, char* end) {
  while (begin < end && (*begin == ' ' || *begin == '\t')) ++begin;
  while (begin < end && (end[-1] == ' ' || end[-1] == '\t')) --end;
  return {begin, static_cast<size_t>(end - begin)};
}

// Reads header lines up to and with the empty line. `*at` moves behind it.
ScanResult scanHeaders(char** at, char* end, const HeadLimits& limits, HeaderMap* out) {
  char* next = *at;
  for (;;) {
    switch (lineEndAt(next, end)) {
      case LineEnd::Yes:
        *at = next + 2;
        return complete();
      case LineEnd::NeedMore:
        return incomplete();
      case LineEnd::Bare:
        return refused(kCodecError);
      case LineEnd::No:
        break;
    }
    char* const name = next;
    char lower;
    while (next < end && (lower = kToken[static_cast<uint8_t>(*next)]) != 0) *next++ = lower;
    if (next == end) return incomplete();
    if (*next != ':' || next == name) return refused(kCodecError);
    char* const name_end = next++;
    char* const value = next;
    for (;;) {
      next = skipPlainValue(next, end);
      while (next < end && isValueByte(*next)) ++next;
      const LineEnd line_end = lineEndAt(next, end);
      if (line_end == LineEnd::NeedMore) return incomplete();
      if (line_end == LineEnd::Bare) return refused(kCodecError);
      if (line_end == LineEnd::No) return refused(kInvalidCharacters);
      if (next + 2 == end) return incomplete();
      if (next[2] != ' ' && next[2] != '\t') break;
      // Obsolete folding: the line goes on behind blanks.
      next[0] = next[1] = ' ';
    }
    if (out->size() >= limits.max_headers || out->full()) return refused(kTooMany);
    const std::string_view name_view(name, static_cast<size_t>(name_end - name));
    if (name_view.size() > UINT16_MAX) return refused(kTooLarge);
    out->add(http::internHeader(name_view), name_view, trimmedBetween(value, next));
    next += 2;
  }
}

ScanResult scanRequestLine(char** at, char* end, http::RequestHead* out) {
  char* next = *at;
  char* const method = next;
  while (next < end && kToken[static_cast<uint8_t>(*next)] != 0) ++next;
  if (next == end) return next - method > 32 ? refused(kCodecError) : incomplete();
  out->method = {method, static_cast<size_t>(next - method)};
  if (*next != ' ' || !isKnownMethod(out->method)) return refused(kCodecError);
  while (next < end && *next == ' ') ++next;
  char* const target = next;
  next = skipPlainTarget(next, end);
  while (next < end && isTargetByte(*next)) ++next;
  if (next == end) return incomplete();
  if (next == target) return refused(kCodecError);
  out->target = {target, static_cast<size_t>(next - target)};
  if (lineEndAt(next, end) == LineEnd::Yes) return refused(kLowVersion);  // HTTP/0.9
  if (static_cast<uint8_t>(*next) < 0x20 && *next != '\r') return refused(kInvalidCharacters);
  if (*next != ' ') return lineEndAt(next, end) == LineEnd::NeedMore ? incomplete() : refused(kCodecError);
  while (next < end && *next == ' ') ++next;
  constexpr std::string_view kHttp = "HTTP/";
  // "HTTP/1.1" and its line end.
  if (end - next < 10) {
    for (char* c = next; c < end; ++c) {
      if (*c == '\n') return refused(kCodecError);
    }
    return incomplete();
  }
  const std::string_view version(next, 8);
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  if (!version.starts_with(kHttp) || !isDigit(version[5]) || version[6] != '.' ||
      !isDigit(version[7]) || lineEndAt(next + 8, end) != LineEnd::Yes) {
    return refused(kCodecError);
  }
  if (version == "HTTP/1.1") {
    out->version = http::Version::Http11;
  } else if (version == "HTTP/1.0") {
    out->version = http::Version::Http10;
  } else {
    return refused(kLowVersion);
  }
  *at = next + 10;
  return complete();
}

ScanResult scanStatusLine(char** at, char* end, http::ResponseHead* out) {
  char* next = *at;
  constexpr std::string_view kHttp = "HTTP/1.";
  for (size_t i = 0; i < kHttp.size(); ++i) {
    if (next + i == end) return incomplete();
    if (next[i] != kHttp[i]) return refused(kCodecError);
  }
  // "HTTP/1.1 200" and at least the CR.
  if (end - next < 13) return incomplete();
  if ((next[7] != '0' && next[7] != '1') || next[8] != ' ') return refused(kCodecError);
  out->version = next[7] == '1' ? http::Version::Http11 : http::Version::Http10;
  uint32_t status = 0;
  for (int i = 9; i < 12; ++i) {
    if (next[i] < '0' || next[i] > '9') return refused(kCodecError);
    status = status * 10 + static_cast<uint32_t>(next[i] - '0');
  }
  if (status < 100 || (next[12] != ' ' && next[12] != '\r')) return refused(kCodecError);
  out->status = static_cast<uint16_t>(status);
  next += 12;
  char* const reason = next;
  next = skipPlainValue(next, end);
  while (next < end && isValueByte(*next)) ++next;
  const LineEnd line_end = lineEndAt(next, end);
  if (line_end == LineEnd::NeedMore) return incomplete();
  if (line_end != LineEnd::Yes) return refused(kCodecError);
  out->reason = trimmedBetween(reason, next);
  *at = next + 2;
  return complete();
}

// What is not complete yet is too large already when it fills the limit.
ScanResult limited(ScanResult result, size_t size, const HeadLimits& limits) {
  if (result.state == Scan::Incomplete && size > limits.max_head_bytes) return refused(kTooLarge);
  return result;
}

}  // namespace

ScanResult scanRequest(char* data, size_t size, const HeadLimits& limits, http::RequestHead* out) {
  char* next = data;
  char* const end = data + size;
  out->headers.clear();
  while (lineEndAt(next, end) == LineEnd::Yes) next += 2;
  if (next == end) return incomplete();
  if (next + 1 == end && *next == '\r') return incomplete();
  ScanResult result = scanRequestLine(&next, end, out);
  // A line that cannot have a header before the first real one.
  if (result.state == Scan::Complete) result = scanHeaders(&next, end, limits, &out->headers);
  if (result.state != Scan::Complete) return limited(result, size, limits);
  const auto head_bytes = static_cast<size_t>(next - data);
  if (head_bytes > limits.max_head_bytes) return refused(kTooLarge);
  out->head_bytes = static_cast<uint32_t>(head_bytes);
  bool has_host = false;
  for (const http::HeaderEntry& entry : out->headers) {
    if (entry.id != HeaderId::Host) continue;
    // Two hosts: two readers may each take another one.
    if (has_host) return refused(kCodecError);
    has_host = true;
  }
  return complete();
}

ScanResult scanResponse(char* data, size_t size, const HeadLimits& limits,
                        http::ResponseHead* out) {
  char* next = data;
  char* const end = data + size;
  out->headers.clear();
  ScanResult result = scanStatusLine(&next, end, out);
  if (result.state == Scan::Complete) result = scanHeaders(&next, end, limits, &out->headers);
  if (result.state != Scan::Complete) return limited(result, size, limits);
  const auto head_bytes = static_cast<size_t>(next - data);
  if (head_bytes > limits.max_head_bytes) return refused(kTooLarge);
  out->head_bytes = static_cast<uint32_t>(head_bytes);
  return complete();
}

ScanResult scanTrailers(char* data, size_t size, const HeadLimits& limits, HeaderMap* out,
                        size_t* consumed) {
  char* next = data;
  const ScanResult result = scanHeaders(&next, data + size, limits, out);
  *consumed = static_cast<size_t>(next - data);
  return limited(result, size, limits);
}

}  // namespace fairlead::http1
