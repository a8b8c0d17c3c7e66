// Reads one head of HTTP/1 from left to right: what the scanner is made of, and of its use alone.
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "http/byte_scan.h"
#include "http/http1/scanner.h"

namespace fairlead::http1::reading {

using http::HeaderId;
using http::HeaderMap;
using Fault = ScanError::Fault;

inline constexpr ScanError kInvalidCharacters{400, "http1.invalid_characters"};
inline constexpr ScanError kTooLarge{431, "http1.headers_too_large"};
inline constexpr ScanError kTooMany{431, "http1.too_many_headers"};

inline ScanResult complete() { return {Scan::Complete, {}}; }
inline ScanResult incomplete() { return {Scan::Incomplete, {}}; }
inline ScanResult refused(ScanError error) { return {Scan::Error, error}; }
inline ScanResult refused(ScanError::Fault fault) { return refused(codecError(fault)); }

// The methods that the real server knows.
inline bool isKnownMethod(std::string_view method) {
  static constexpr std::string_view kMethods[] = {
      "GET",     "POST",     "HEAD",       "PUT",    "DELETE",     "OPTIONS", "PATCH",
      "CONNECT", "TRACE",    "ACL",        "BIND",   "CHECKOUT",   "COPY",    "LINK",
      "LOCK",    "MERGE",    "MKACTIVITY", "MKCOL",  "MKCALENDAR", "MOVE",    "MSEARCH",
      "NOTIFY",  "PROPFIND", "PROPPATCH",  "PURGE",  "QUERY",      "REBIND",  "REPORT",
      "SEARCH",  "SOURCE",   "SUBSCRIBE",  "UNBIND", "UNLINK",     "UNLOCK",  "UNSUBSCRIBE"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}
// Longer than every method: what runs on is none.
inline constexpr ptrdiff_t kMaxMethodBytes = 32;

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }

inline std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}
inline std::string_view trimmedBetween(const char* begin, const char* end) {
  while (begin < end && isBlank(*begin)) ++begin;
  while (begin < end && isBlank(end[-1])) --end;
  return between(begin, end);
}

// How lines end. Strict, for what clients send and for trailers: with CRLF, and a CR or LF stands
// nowhere else, so that no two readers can disagree (RFC 9112 §2.2). Lenient, for the heads of
// hosts, who have always been understood: with a bare LF too, and a bare CR in a value is a blank.
enum class Lines : uint8_t { Strict, Lenient };

// Who takes one of these for another than it is, or sees none, is out of step with whoever does
// not: where a message ends, whose it is, and what its connection becomes. A value that is folded,
// or has a CR in it, is read in too many ways (RFC 9112 §5.2, §11.2).
inline bool mustBeOneLine(HeaderId id) {
  switch (id) {
    case HeaderId::Connection:
    case HeaderId::ContentLength:
    case HeaderId::Expect:
    case HeaderId::Host:
    case HeaderId::Http2Settings:
    case HeaderId::KeepAlive:
    case HeaderId::ProxyConnection:
    case HeaderId::Te:
    case HeaderId::Trailer:
    case HeaderId::TransferEncoding:
    case HeaderId::Upgrade:
      return true;
    default:
      return false;
  }
}

// Reads one head, left to right; every answer depends only on the bytes up to where it is given, so
// that a head that comes in parts is judged as a whole one is.
template <typename Bytes, Lines kLines>
class HeadReader {
 public:
  HeadReader(char* data, size_t size) : begin_(data), next_(data), end_(data + size) {}

  // Two lines have the name of one header that the proxy knows.
  bool repeats() const { return repeats_; }
  // A request line without a version, which is all of a request (HTTP/0.9).
  bool isBare() const { return is_bare_; }
  uint32_t headerBytes() const { return header_bytes_; }
  size_t used() const { return static_cast<size_t>(next_ - begin_); }

  // Leaves at the first byte that does not begin an empty line.
  void skipEmptyLines() {
    while (end_ - next_ >= 2 && next_[0] == '\r' && next_[1] == '\n') next_ += 2;
  }

  ScanResult readRequestLine(bool takes_any_method, http::RequestHead* out) {
    if (atStartOfLineEnd()) return incomplete();
    const char* const method = next_;
    while (next_ < end_ && http::isTokenByte(*next_)) ++next_;
    if (next_ == end_) {
      const bool is_none = !takes_any_method && next_ - method > kMaxMethodBytes;
      return is_none ? refused(Fault::Method) : incomplete();
    }
    out->method = between(method, next_);
    const bool is_taken = takes_any_method ? !out->method.empty() : isKnownMethod(out->method);
    if (!isBlank(*next_) || !is_taken) return refused(Fault::Method);
    skipBlanks();
    const char* const target = next_;
    next_ = Bytes::skipTarget(next_, end_);
    if (next_ == end_) return incomplete();
    if (!isBlank(*next_) && *next_ != '\r') {
      const auto byte = static_cast<uint8_t>(*next_);
      const bool control = (byte < 0x20 && byte != '\n') || byte == 0x7f;
      return refused(control ? kInvalidCharacters : kCodecError);
    }
    if (next_ == target) return refused(kCodecError);
    out->target = between(target, next_);
    skipBlanks();
    // What is not said to be 1.1 is 1.0, be it 0.9 or 2.0; whether that is served is the caller's.
    out->version = http::Version::Http10;
    is_bare_ = next_ < end_ && *next_ == '\r';
    if (is_bare_) return readLineEnd();
    const ScanResult version = readVersion(&out->version);
    if (version.state != Scan::Complete) return version;
    skipBlanks();
    return readLineEnd();
  }

  ScanResult readStatusLine(http::ResponseHead* out) {
    const ScanResult version = readVersion(&out->version);
    if (version.state != Scan::Complete) return version;
    if (next_ == end_) return incomplete();
    if (!isBlank(*next_)) return refused(kCodecError);
    skipBlanks();
    uint32_t status = 0;
    for (int i = 0; i < 3; ++i, ++next_) {
      if (next_ == end_) return incomplete();
      if (!isDigit(*next_)) return refused(kCodecError);
      status = status * 10 + static_cast<uint32_t>(*next_ - '0');
    }
    if (status < 100) return refused(kCodecError);
    out->status = static_cast<uint16_t>(status);
    if (next_ < end_ && !isBlank(*next_)) {
      out->reason = {};
      return readLineEnd();
    }
    const char* const reason = next_;
    next_ = Bytes::skipValue(next_, end_);
    out->reason = trimmedBetween(reason, next_);
    return readLineEnd();
  }

  // Header lines up to and with the empty line. `out` may be null: they are only checked.
  ScanResult readHeaders(const HeadLimits& limits, HeaderMap* out) {
    for (;;) {
      size_t line_end;
      switch (lookForLineEnd(&line_end)) {
        case LineEnd::Here:
          next_ += line_end;
          // As the real server counts a head without any.
          header_bytes_ = std::max(header_bytes_, http::kBytesBesideHeader);
          return complete();
        case LineEnd::NeedMore:
          return incomplete();
        case LineEnd::Broken:
          return refused(Fault::HeaderFormat);
        case LineEnd::None:
          break;
      }
      char* const name = next_;
      const typename Bytes::Token token = Bytes::readToken(name, end_);
      next_ = token.end;
      if (next_ == end_) return incomplete();
      if (*next_ == '\0') return refused(kInvalidCharacters);
      if (*next_ != ':') {
        const bool is_over = *next_ == '\r' || *next_ == '\n';
        return refused(is_over ? Fault::NoColon : Fault::HeaderName);
      }
      if (next_ == name) return refused(Fault::HeaderFormat);
      if (next_ - name > UINT16_MAX) return refused(kTooLarge);
      if (out && !hasRoom(limits, *out, between(name, next_))) {
        countBeyond(name);
        return refused(kTooMany);
      }
      char* const value = ++next_;
      bool folded = false;
      const ScanResult line = readValue(&line_end, &folded);
      if (line.state != Scan::Complete) return line;
      token.commit(name);
      const std::string_view name_view = between(name, token.end);
      if (folded && mustBeOneLine(http::internHeader(name_view))) {
        return refused(Fault::HeaderFormat);
      }
      char* const value_end = folded ? unfold(value, next_) : next_;
      next_ += line_end;
      if (!out) continue;
      const HeaderId id = http::internHeader(name_view);
      noteId(id);
      const std::string_view trimmed = trimmedBetween(value, value_end);
      header_bytes_ +=
          static_cast<uint32_t>(name_view.size() + trimmed.size()) + http::kBytesBesideHeader;
      out->add(id, name_view, trimmed);
    }
  }

 private:
  enum class LineEnd : uint8_t { Here, None, NeedMore, Broken };

  LineEnd lookForLineEnd(size_t* size) const {
    if (next_ == end_) return LineEnd::NeedMore;
    if (*next_ == '\r') {
      if (next_ + 1 == end_) return LineEnd::NeedMore;
      *size = 2;
      return next_[1] == '\n' ? LineEnd::Here : LineEnd::Broken;
    }
    if (*next_ != '\n') return LineEnd::None;
    *size = 1;
    return kLines == Lines::Lenient ? LineEnd::Here : LineEnd::Broken;
  }

  ScanResult readLineEnd() {
    size_t size;
    switch (lookForLineEnd(&size)) {
      case LineEnd::Here:
        next_ += size;
        return complete();
      case LineEnd::NeedMore:
        return incomplete();
      case LineEnd::None:
      case LineEnd::Broken:
        break;
    }
    return refused(kCodecError);
  }

  // To the line end behind a value and its folded lines (RFC 9112 §5.2). `folded`: it has line ends
  // or CRs in it.
  ScanResult readValue(size_t* line_end, bool* folded) {
    for (;;) {
      next_ = Bytes::skipValue(next_, end_);
      while (kLines == Lines::Lenient && end_ - next_ >= 2 && next_[0] == '\r' &&
             next_[1] != '\n') {
        *folded = true;
        next_ = Bytes::skipValue(next_ + 1, end_);
      }
      switch (lookForLineEnd(line_end)) {
        case LineEnd::Here:
          break;
        case LineEnd::None:
          return refused(kInvalidCharacters);
        case LineEnd::NeedMore:
          return incomplete();
        case LineEnd::Broken:
          return refused(Fault::HeaderFormat);
      }
      if (next_ + *line_end == end_) return incomplete();
      if (!isBlank(next_[*line_end])) return complete();
      *folded = true;
      next_ += *line_end;
    }
  }

  // Takes line ends out of a value, in place; a CR that ends no line turns blank. So does what
  // becomes free: another scan of the same bytes (more have come) finds the same value.
  static char* unfold(char* begin, char* end) {
    char* to = begin;
    for (const char* at = begin; at < end; ++at) {
      if (*at == '\r') {
        if (at[1] != '\n') *to++ = ' ';
      } else if (*at != '\n') {
        *to++ = *at;
      }
    }
    std::fill(to, end, ' ');
    return to;
  }

  // "HTTP/1.1", byte by byte: the first wrong one is refused before the rest has come.
  ScanResult readVersion(http::Version* out) {
    constexpr std::string_view kShape = "HTTP/0.0";
    const char* const version = next_;
    for (const char expected : kShape) {
      if (next_ == end_) return incomplete();
      if (expected == '0' ? !isDigit(*next_) : *next_ != expected) return refused(Fault::Version);
      ++next_;
    }
    *out = between(version, next_) == "HTTP/1.1" ? http::Version::Http11 : http::Version::Http10;
    return complete();
  }

  bool hasRoom(const HeadLimits& limits, const HeaderMap& headers, std::string_view name) {
    if (limits.spares(name)) ++spared_;
    return headers.size() + 1 - spared_ <= limits.max_headers && headers.hasRoomForPeer();
  }

  // As the real server, which finds that there are too many at the next one's name.
  void countBeyond(const char* name) {
    const auto name_bytes = static_cast<uint32_t>(next_ - name);
    char* const value = ++next_;
    size_t line_end;
    bool folded = false;
    if (readValue(&line_end, &folded).state != Scan::Complete) return;
    const auto value_bytes = static_cast<uint32_t>(trimmedBetween(value, next_).size());
    header_bytes_ += name_bytes + value_bytes + http::kBytesBesideHeader;
    next_ += line_end;
    while (next_ < end_ && http::isTokenByte(*next_)) {
      ++next_;
      ++header_bytes_;
    }
  }

  void noteId(HeaderId id) {
    static_assert(static_cast<size_t>(HeaderId::kCount) <= 128);
    uint64_t& seen = seen_[static_cast<size_t>(id) / 64];
    const uint64_t bit = uint64_t{id != HeaderId::Other} << static_cast<size_t>(id) % 64;
    repeats_ |= (seen & bit) != 0;
    seen |= bit;
  }

  void skipBlanks() {
    while (next_ < end_ && isBlank(*next_)) ++next_;
  }
  bool atStartOfLineEnd() const { return next_ == end_ || (next_ + 1 == end_ && *next_ == '\r'); }

  char* const begin_;
  char* next_;
  char* const end_;
  // Bits by HeaderId.
  uint64_t seen_[2] = {};
  uint32_t header_bytes_ = 0;
  // Of those that do not count.
  uint32_t spared_ = 0;
  bool repeats_ = false;
  bool is_bare_ = false;
};

}  // namespace fairlead::http1::reading
