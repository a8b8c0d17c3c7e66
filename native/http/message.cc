#include "http/message.h"

#include <array>
#include <cstring>
#include <deque>
#include <string>

namespace fairlead::http {

namespace {

struct Known {
  std::string_view name;
  HeaderId id;
};

// In the order of HeaderId, so that an id finds its name by its number.
constexpr Known kKnown[] = {
    {"", HeaderId::Other},
    {"accept", HeaderId::Accept},
    {"accept-encoding", HeaderId::AcceptEncoding},
    {"access-control-allow-credentials", HeaderId::AccessControlAllowCredentials},
    {"access-control-allow-headers", HeaderId::AccessControlAllowHeaders},
    {"access-control-allow-methods", HeaderId::AccessControlAllowMethods},
    {"access-control-allow-origin", HeaderId::AccessControlAllowOrigin},
    {"access-control-allow-private-network", HeaderId::AccessControlAllowPrivateNetwork},
    {"access-control-expose-headers", HeaderId::AccessControlExposeHeaders},
    {"access-control-max-age", HeaderId::AccessControlMaxAge},
    {"access-control-request-headers", HeaderId::AccessControlRequestHeaders},
    {"access-control-request-method", HeaderId::AccessControlRequestMethod},
    {"access-control-request-private-network", HeaderId::AccessControlRequestPrivateNetwork},
    {"age", HeaderId::Age},
    {"authentication", HeaderId::Authentication},
    {":authority", HeaderId::Authority},
    {"authorization", HeaderId::Authorization},
    {"cache-control", HeaderId::CacheControl},
    {"cdn-loop", HeaderId::CdnLoop},
    {"connection", HeaderId::Connection},
    {"content-encoding", HeaderId::ContentEncoding},
    {"content-length", HeaderId::ContentLength},
    {"content-type", HeaderId::ContentType},
    {"cookie", HeaderId::Cookie},
    {"date", HeaderId::Date},
    {"etag", HeaderId::Etag},
    {"expect", HeaderId::Expect},
    {"expires", HeaderId::Expires},
    {"forwarded", HeaderId::Forwarded},
    {"grpc-accept-encoding", HeaderId::GrpcAcceptEncoding},
    {"grpc-message", HeaderId::GrpcMessage},
    {"grpc-status", HeaderId::GrpcStatus},
    {"grpc-timeout", HeaderId::GrpcTimeout},
    {"host", HeaderId::Host},
    {"http2-settings", HeaderId::Http2Settings},
    {"if-match", HeaderId::IfMatch},
    {"if-modified-since", HeaderId::IfModifiedSince},
    {"if-none-match", HeaderId::IfNoneMatch},
    {"if-range", HeaderId::IfRange},
    {"if-unmodified-since", HeaderId::IfUnmodifiedSince},
    {"keep-alive", HeaderId::KeepAlive},
    {"last-modified", HeaderId::LastModified},
    {"location", HeaderId::Location},
    {"origin", HeaderId::Origin},
    {"pragma", HeaderId::Pragma},
    {"proxy-connection", HeaderId::ProxyConnection},
    {"proxy-status", HeaderId::ProxyStatus},
    {"referer", HeaderId::Referer},
    {"server", HeaderId::Server},
    {"te", HeaderId::Te},
    {"trailer", HeaderId::Trailer},
    {"transfer-encoding", HeaderId::TransferEncoding},
    {"upgrade", HeaderId::Upgrade},
    {"user-agent", HeaderId::UserAgent},
    {"vary", HeaderId::Vary},
    {"via", HeaderId::Via},
    {"x-client-trace-id", HeaderId::XClientTraceId},
    {"x-envoy-attempt-count", HeaderId::XEnvoyAttemptCount},
    {"x-envoy-decorator-operation", HeaderId::XEnvoyDecoratorOperation},
    {"x-envoy-degraded", HeaderId::XEnvoyDegraded},
    {"x-envoy-downstream-service-cluster", HeaderId::XEnvoyDownstreamServiceCluster},
    {"x-envoy-downstream-service-node", HeaderId::XEnvoyDownstreamServiceNode},
    {"x-envoy-expected-rq-timeout-ms", HeaderId::XEnvoyExpectedRqTimeoutMs},
    {"x-envoy-external-address", HeaderId::XEnvoyExternalAddress},
    {"x-envoy-force-trace", HeaderId::XEnvoyForceTrace},
    {"x-envoy-hedge-on-per-try-timeout", HeaderId::XEnvoyHedgeOnPerTryTimeout},
    {"x-envoy-immediate-health-check-fail", HeaderId::XEnvoyImmediateHealthCheckFail},
    {"x-envoy-internal", HeaderId::XEnvoyInternal},
    {"x-envoy-ip-tags", HeaderId::XEnvoyIpTags},
    {"x-envoy-is-timeout-retry", HeaderId::XEnvoyIsTimeoutRetry},
    {"x-envoy-max-retries", HeaderId::XEnvoyMaxRetries},
    {"x-envoy-original-host", HeaderId::XEnvoyOriginalHost},
    {"x-envoy-original-path", HeaderId::XEnvoyOriginalPath},
    {"x-envoy-original-url", HeaderId::XEnvoyOriginalUrl},
    {"x-envoy-overloaded", HeaderId::XEnvoyOverloaded},
    {"x-envoy-ratelimited", HeaderId::XEnvoyRateLimited},
    {"x-envoy-retriable-header-names", HeaderId::XEnvoyRetriableHeaderNames},
    {"x-envoy-retriable-status-codes", HeaderId::XEnvoyRetriableStatusCodes},
    {"x-envoy-retry-grpc-on", HeaderId::XEnvoyRetryGrpcOn},
    {"x-envoy-retry-on", HeaderId::XEnvoyRetryOn},
    {"x-envoy-upstream-alt-stat-name", HeaderId::XEnvoyUpstreamAltStatName},
    {"x-envoy-upstream-canary", HeaderId::XEnvoyUpstreamCanary},
    {"x-envoy-upstream-healthchecked-cluster", HeaderId::XEnvoyUpstreamHealthcheckedCluster},
    {"x-envoy-upstream-rq-per-try-timeout-ms", HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs},
    {"x-envoy-upstream-rq-timeout-alt-response", HeaderId::XEnvoyUpstreamRqTimeoutAltResponse},
    {"x-envoy-upstream-rq-timeout-ms", HeaderId::XEnvoyUpstreamRqTimeoutMs},
    {"x-envoy-upstream-service-time", HeaderId::XEnvoyUpstreamServiceTime},
    {"x-envoy-upstream-stream-duration-ms", HeaderId::XEnvoyUpstreamStreamDurationMs},
    {"x-forwarded-client-cert", HeaderId::XForwardedClientCert},
    {"x-forwarded-for", HeaderId::XForwardedFor},
    {"x-forwarded-host", HeaderId::XForwardedHost},
    {"x-forwarded-port", HeaderId::XForwardedPort},
    {"x-forwarded-proto", HeaderId::XForwardedProto},
    {"x-request-id", HeaderId::XRequestId},
};
constexpr size_t kKnownCount = sizeof(kKnown) / sizeof(kKnown[0]);
static_assert(kKnownCount == static_cast<size_t>(HeaderId::kCount));

// A perfect hash over the names above, found when this is compiled: a name is compared with the one
// known name that it could be.
constexpr uint32_t kSlotBits = 9;
constexpr size_t kSlots = 1 << kSlotBits;

// What tells the names apart: size and three letters. `size` is not 0.
constexpr uint32_t keyOf(const char* name, size_t size) {
  const auto at = [name](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(name[i])); };
  return static_cast<uint32_t>(size & 0xff) | at(size - 1) << 8 | at(size / 2) << 16 |
         at(size * 3 / 4) << 24;
}
constexpr size_t slotOf(uint32_t key, uint32_t factor) { return key * factor >> (32 - kSlotBits); }

struct PerfectHash {
  uint32_t factor = 0;
  std::array<uint8_t, kSlots> ids = {};  // 0: no name there.
};

template <typename Names>
constexpr bool tryFactor(const Names& names, uint32_t factor, PerfectHash* hash) {
  *hash = {factor, {}};
  for (size_t i = 1; i < kKnownCount; ++i) {
    const std::string_view name = names[i].name;
    uint8_t& id = hash->ids[slotOf(keyOf(name.data(), name.size()), factor)];
    if (id != 0) return false;
    id = static_cast<uint8_t>(i);
  }
  return true;
}

template <typename Names>
constexpr PerfectHash findHash(const Names& names) {
  PerfectHash hash;
  for (uint32_t factor = 0x9e3779b1; factor < 0x9e3779b1 + 20000; factor += 2) {
    if (tryFactor(names, factor, &hash)) return hash;
  }
  return {};
}

constexpr PerfectHash kHash = findHash(kKnown);
static_assert(kHash.factor != 0, "no factor tells all names apart: widen kSlotBits");

// As they are, but for setHeaderPrefix().
constinit std::array<Known, kKnownCount> names = std::to_array(kKnown);
constexpr std::string_view kOwnPrefix = "x-envoy";
constinit std::string_view own_prefix = kOwnPrefix;
constinit bool has_prefix = false;

template <typename Word>
bool sameWord(const char* a, const char* b) {
  Word x, y;
  std::memcpy(&x, a, sizeof(Word));
  std::memcpy(&y, b, sizeof(Word));
  return x == y;
}

// Words that overlap at the end. A name was just stored by the scanner in one piece: loads inside
// of that piece need not wait for it, as those of memcmp() do (a quarter of a head's time).
bool sameBytes(const char* a, const char* b, size_t size) {
  if (size >= 8) {
    size_t at = 0;
    for (; at + 8 < size; at += 8) {
      if (!sameWord<uint64_t>(a + at, b + at)) return false;
    }
    return sameWord<uint64_t>(a + size - 8, b + size - 8);
  }
  if (size >= 4) {
    return sameWord<uint32_t>(a, b) && sameWord<uint32_t>(a + size - 4, b + size - 4);
  }
  return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
}

// By the names as they are without setHeaderPrefix().
HeaderId internKnown(std::string_view name) {
  if (name.empty()) return HeaderId::Other;
  const Known& known = kKnown[kHash.ids[slotOf(keyOf(name.data(), name.size()), kHash.factor)]];
  if (known.name.size() != name.size()) return HeaderId::Other;
  return sameBytes(known.name.data(), name.data(), name.size()) ? known.id : HeaderId::Other;
}

// With another prefix, "x-envoy-…" is a header like any other.
HeaderId internPrefixed(std::string_view name) {
  if (name.starts_with(own_prefix)) {
    const std::string usual = std::string(kOwnPrefix).append(name.substr(own_prefix.size()));
    if (const HeaderId id = internKnown(usual); id != HeaderId::Other) return id;
  }
  return name.starts_with(kOwnPrefix) ? HeaderId::Other : internKnown(name);
}

}  // namespace

HeaderId internHeader(std::string_view name) {
  return has_prefix ? internPrefixed(name) : internKnown(name);
}

std::string_view headerName(HeaderId id) { return names[static_cast<size_t>(id)].name; }

std::string ownHeader(std::string_view rest) {
  return std::string(own_prefix).append(1, '-').append(rest);
}

void setHeaderPrefix(std::string_view prefix) {
  if (prefix == own_prefix) return;
  // Never freed: views of names are everywhere.
  static std::deque<std::string>& texts = *new std::deque<std::string>();
  const std::string_view kept = texts.emplace_back(prefix);
  names = std::to_array(kKnown);
  for (Known& known : names) {
    if (!known.name.starts_with(kOwnPrefix)) continue;
    known.name = texts.emplace_back(std::string(kept).append(known.name.substr(kOwnPrefix.size())));
  }
  own_prefix = kept;
  has_prefix = prefix != kOwnPrefix;
}

std::string_view reasonPhrase(uint16_t status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 207:
      return "Multi-Status";
    case 208:
      return "Already Reported";
    case 226:
      return "IM Used";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 305:
      return "Use Proxy";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Entity";
    case 423:
      return "Locked";
    case 424:
      return "Failed Dependency";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 506:
      return "Variant Also Negotiates";
    case 507:
      return "Insufficient Storage";
    case 508:
      return "Loop Detected";
    case 510:
      return "Not Extended";
    case 511:
      return "Network Authentication Required";
    case 599:
      return "Last Unassigned Server Error Code";
    default:
      return "Unknown";
  }
}

const HeaderEntry* HeaderMap::search(HeaderId id) const {
  for (const HeaderEntry& entry : *this) {
    if (entry.id == id) return &entry;
  }
  return nullptr;
}

}  // namespace fairlead::http
