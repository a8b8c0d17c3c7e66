// A message's head as views: what a codec found, what routing and the proxy read.
// Nothing here owns bytes: views point into the buffer that the head was read into (or into an
// arena that copied it) and live as long as that does. Header names are always lower case.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/arena.h"

namespace fairlead::http {

class KeptNames;

// Headers that the proxy itself reads or writes. Interned when a head is parsed, so that no name
// is compared again on the way of a request.
enum class HeaderId : uint8_t {
  Other = 0,
  Accept,
  AcceptEncoding,
  AccessControlAllowCredentials,
  AccessControlAllowHeaders,
  AccessControlAllowMethods,
  AccessControlAllowOrigin,
  AccessControlAllowPrivateNetwork,
  AccessControlExposeHeaders,
  AccessControlMaxAge,
  AccessControlRequestHeaders,
  AccessControlRequestMethod,
  AccessControlRequestPrivateNetwork,
  Age,
  Authentication,
  Authority,
  Authorization,
  CacheControl,
  CdnLoop,
  Connection,
  ContentEncoding,
  ContentLength,
  ContentType,
  Cookie,
  Date,
  Etag,
  Expect,
  Expires,
  Forwarded,
  GrpcAcceptEncoding,
  GrpcMessage,
  GrpcStatus,
  GrpcTimeout,
  Host,
  Http2Settings,
  IfMatch,
  IfModifiedSince,
  IfNoneMatch,
  IfRange,
  IfUnmodifiedSince,
  KeepAlive,
  LastModified,
  Location,
  Origin,
  Pragma,
  ProxyConnection,
  ProxyStatus,
  Referer,
  Server,
  Te,
  Trailer,
  TransferEncoding,
  Upgrade,
  UserAgent,
  Vary,
  Via,
  XClientTraceId,
  XEnvoyAttemptCount,
  XEnvoyDecoratorOperation,
  XEnvoyDegraded,
  XEnvoyDownstreamServiceCluster,
  XEnvoyDownstreamServiceNode,
  XEnvoyExpectedRqTimeoutMs,
  XEnvoyExternalAddress,
  XEnvoyForceTrace,
  XEnvoyHedgeOnPerTryTimeout,
  XEnvoyImmediateHealthCheckFail,
  XEnvoyInternal,
  XEnvoyIpTags,
  XEnvoyIsTimeoutRetry,
  XEnvoyMaxRetries,
  XEnvoyOriginalHost,
  XEnvoyOriginalPath,
  XEnvoyOriginalUrl,
  XEnvoyOverloaded,
  XEnvoyRateLimited,
  XEnvoyRetriableHeaderNames,
  XEnvoyRetriableStatusCodes,
  XEnvoyRetryGrpcOn,
  XEnvoyRetryOn,
  XEnvoyUpstreamAltStatName,
  XEnvoyUpstreamCanary,
  XEnvoyUpstreamHealthcheckedCluster,
  XEnvoyUpstreamRqPerTryTimeoutMs,
  XEnvoyUpstreamRqTimeoutAltResponse,
  XEnvoyUpstreamRqTimeoutMs,
  XEnvoyUpstreamServiceTime,
  XEnvoyUpstreamStreamDurationMs,
  XForwardedClientCert,
  XForwardedFor,
  XForwardedHost,
  XForwardedPort,
  XForwardedProto,
  XRequestId,
  kCount,
};

// The name of an id; empty for Other.
std::string_view headerName(HeaderId id);
// One of the proxy's own that has no id: "x-envoy-" and the rest, or with setHeaderPrefix()'s
// prefix.
std::string ownHeader(std::string_view rest);
// What the proxy's own headers begin with from here on, in place of "x-envoy". Before there is any
// thread that asks for names, and before any configuration is built that has them.
void setHeaderPrefix(std::string_view prefix);

// A set of ids.
class HeaderIds {
 public:
  constexpr HeaderIds() = default;
  constexpr HeaderIds(std::initializer_list<HeaderId> ids) {
    for (HeaderId id : ids) add(id);
  }
  constexpr void add(HeaderId id) {
    words_[static_cast<size_t>(id) / 64] |= 1ULL << (static_cast<size_t>(id) % 64);
  }
  constexpr bool has(HeaderId id) const {
    return (words_[static_cast<size_t>(id) / 64] >> (static_cast<size_t>(id) % 64) & 1) != 0;
  }
  constexpr bool hasAny(const HeaderIds& of) const {
    return ((words_[0] & of.words_[0]) | (words_[1] & of.words_[1])) != 0;
  }

 private:
  static_assert(static_cast<size_t>(HeaderId::kCount) <= 128);
  uint64_t words_[2] = {0, 0};
};

// What speaks of one connection, and ends with it (RFC 9110 §7.6.1).
inline constexpr HeaderIds kConnectionHeaders = {HeaderId::Connection, HeaderId::KeepAlive,
                                                 HeaderId::ProxyConnection,
                                                 HeaderId::TransferEncoding, HeaderId::Upgrade};

struct HeaderEntry {
  const char* name_data;
  const char* value_data;
  uint32_t value_size;
  uint16_t name_size;
  HeaderId id;

  std::string_view name() const { return {name_data, name_size}; }
  std::string_view value() const { return {value_data, value_size}; }
  void setValue(std::string_view value) {
    value_data = value.data();
    value_size = static_cast<uint32_t>(value.size());
  }
  // Serializers skip it from here on; its place in the map stays.
  void remove() {
    id = HeaderId::Other;
    name_size = 0;
  }
};

// What the real server counts of each header line beside its name and value, and of none at all.
inline constexpr uint32_t kBytesBesideHeader = 3;

// The headers of one message in their order, at most kMax of them: kMaxOfPeer of a peer's and what
// the proxy adds. Bytes are not owned. 26 KiB: one per worker as scratch, never one per connection.
class HeaderMap {
 public:
  static constexpr uint32_t kMax = 1100;
  static constexpr uint32_t kMaxOfPeer = 1000;

  void clear() {
    size_ = 0;
    added_ = {};
  }
  uint32_t size() const { return size_; }
  bool full() const { return size_ == kMax; }
  // For whoever reads them: there is room for what the proxy adds as well.
  bool hasRoomForPeer() const { return size_ < kMaxOfPeer; }

  void add(HeaderId id, std::string_view name, std::string_view value) {
    if (full()) return;
    entries_[size_++] = {name.data(), value.data(), static_cast<uint32_t>(value.size()),
                         static_cast<uint16_t>(name.size()), id};
    added_.add(id);
  }
  // False: there is none of these for sure. Most messages have few headers, and most of who looks
  // for one needs to look no further than this.
  bool mayHave(const HeaderIds& ids) const { return added_.hasAny(ids); }

  HeaderEntry* begin() { return entries_; }
  HeaderEntry* end() { return entries_ + size_; }
  const HeaderEntry* begin() const { return entries_; }
  const HeaderEntry* end() const { return entries_ + size_; }
  HeaderEntry& operator[](uint32_t index) { return entries_[index]; }
  const HeaderEntry& operator[](uint32_t index) const { return entries_[index]; }

  void remove(HeaderId id) {
    if (!added_.has(id)) return;
    for (HeaderEntry& entry : *this) {
      if (entry.id == id) entry.remove();
    }
  }
  void remove(std::string_view name) {
    for (HeaderEntry& entry : *this) {
      if (entry.name() == name) entry.remove();
    }
  }
  // The value in the place of the first header of that id, or in a new one at the end.
  void set(HeaderId id, std::string_view value);
  // Those of another, whose texts it shares.
  void assign(const HeaderMap& other);

  // The first header of that id; null when there is none. Not for HeaderId::Other.
  const HeaderEntry* find(HeaderId id) const { return added_.has(id) ? search(id) : nullptr; }

  HeaderEntry* find(HeaderId id) {
    return const_cast<HeaderEntry*>(static_cast<const HeaderMap*>(this)->find(id));
  }
  HeaderEntry* find(std::string_view name) {
    return const_cast<HeaderEntry*>(static_cast<const HeaderMap*>(this)->find(name));
  }

  // The first header of that (lower-case) name; null when there is none.
  const HeaderEntry* find(std::string_view name) const {
    for (const HeaderEntry& entry : *this) {
      if (entry.name() == name) return &entry;
    }
    return nullptr;
  }

 private:
  const HeaderEntry* search(HeaderId id) const;

  uint32_t size_ = 0;
  // Of all that were added, whatever became of them.
  HeaderIds added_;
  HeaderEntry entries_[kMax];
};

inline void HeaderMap::assign(const HeaderMap& other) {
  clear();
  for (const HeaderEntry& entry : other) {
    if (entry.name_size > 0) add(entry.id, entry.name(), entry.value());
  }
}

inline void HeaderMap::set(HeaderId id, std::string_view value) {
  HeaderEntry* entry = find(id);
  if (!entry) return add(id, headerName(id), value);
  entry->setValue(value);
  while (++entry != end()) {
    if (entry->id == id) entry->remove();
  }
}

// The id of a lower-case name; Other when it is none of ours. Pure.
HeaderId internHeader(std::string_view lower_case_name);
enum class Version : uint8_t { Http10, Http11, Http2 };

struct RequestHead {
  std::string_view method;
  // As it was sent: "/path?query", "http://host/path", "*" or "host:port".
  std::string_view target;
  // Of the target or the host header, which is taken out of the headers. No data: there is none.
  std::string_view authority;
  // With its query.
  std::string_view path;
  // HTTP/2 alone says these two; `protocol`: what is to be spoken after a CONNECT (RFC 8441).
  std::string_view scheme;
  std::string_view protocol;
  Version version = Version::Http11;
  // It asks for another protocol: what follows are that one's bytes, whatever it says of a body.
  bool upgrades = false;
  // Bytes of the head, its empty line included.
  uint32_t head_bytes = 0;
  // Of its header lines, as the real server counts them: names, values and three more each.
  uint32_t header_bytes = 0;
  HeaderMap headers;
  // How HTTP/1 had them; lives as long as its exchange. Null: nobody asks.
  const KeptNames* names = nullptr;
  // Values that were joined of several lines.
  Arena joined{4096};
};

struct ResponseHead {
  uint16_t status = 0;
  std::string_view reason;
  Version version = Version::Http11;
  uint32_t head_bytes = 0;
  uint32_t header_bytes = 0;
  HeaderMap headers;
  // How HTTP/1 had them; lives until its next answer. Null: nobody asks.
  const KeptNames* names = nullptr;
  // Values that were joined of several lines.
  Arena joined{4096};
};

// The reason phrase that the proxy sends for a status ("OK", "Unknown").
std::string_view reasonPhrase(uint16_t status);

}  // namespace fairlead::http
