#include "http/joined_headers.h"

#include <initializer_list>

namespace fairlead::http {

namespace {

class HeaderSet {
 public:
  constexpr HeaderSet(std::initializer_list<HeaderId> ids) {
    for (const HeaderId id : ids) has_[static_cast<size_t>(id)] = true;
  }
  constexpr bool has(HeaderId id) const { return has_[static_cast<size_t>(id)]; }
  void add(HeaderId id) { has_[static_cast<size_t>(id)] = true; }

 private:
  bool has_[static_cast<size_t>(HeaderId::kCount)] = {};
};

// As they are, but for joinToo().
constinit HeaderSet of_requests{
    HeaderId::Accept,
    HeaderId::AcceptEncoding,
    HeaderId::AccessControlRequestHeaders,
    HeaderId::AccessControlRequestMethod,
    HeaderId::AccessControlRequestPrivateNetwork,
    HeaderId::Authentication,
    HeaderId::Authorization,
    HeaderId::CacheControl,
    HeaderId::CdnLoop,
    HeaderId::Connection,
    HeaderId::ContentEncoding,
    HeaderId::ContentLength,
    HeaderId::ContentType,
    HeaderId::Expect,
    HeaderId::GrpcAcceptEncoding,
    HeaderId::GrpcTimeout,
    HeaderId::Host,
    HeaderId::IfMatch,
    HeaderId::IfModifiedSince,
    HeaderId::IfNoneMatch,
    HeaderId::IfRange,
    HeaderId::IfUnmodifiedSince,
    HeaderId::KeepAlive,
    HeaderId::Origin,
    HeaderId::Pragma,
    HeaderId::ProxyConnection,
    HeaderId::ProxyStatus,
    HeaderId::Referer,
    HeaderId::Te,
    HeaderId::TransferEncoding,
    HeaderId::Upgrade,
    HeaderId::UserAgent,
    HeaderId::Via,
    HeaderId::XClientTraceId,
    HeaderId::XEnvoyAttemptCount,
    HeaderId::XEnvoyDecoratorOperation,
    HeaderId::XEnvoyDownstreamServiceCluster,
    HeaderId::XEnvoyDownstreamServiceNode,
    HeaderId::XEnvoyExpectedRqTimeoutMs,
    HeaderId::XEnvoyExternalAddress,
    HeaderId::XEnvoyForceTrace,
    HeaderId::XEnvoyHedgeOnPerTryTimeout,
    HeaderId::XEnvoyInternal,
    HeaderId::XEnvoyIpTags,
    HeaderId::XEnvoyIsTimeoutRetry,
    HeaderId::XEnvoyMaxRetries,
    HeaderId::XEnvoyOriginalHost,
    HeaderId::XEnvoyOriginalPath,
    HeaderId::XEnvoyOriginalUrl,
    HeaderId::XEnvoyRetriableHeaderNames,
    HeaderId::XEnvoyRetriableStatusCodes,
    HeaderId::XEnvoyRetryGrpcOn,
    HeaderId::XEnvoyRetryOn,
    HeaderId::XEnvoyUpstreamAltStatName,
    HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs,
    HeaderId::XEnvoyUpstreamRqTimeoutAltResponse,
    HeaderId::XEnvoyUpstreamRqTimeoutMs,
    HeaderId::XEnvoyUpstreamStreamDurationMs,
    HeaderId::XForwardedClientCert,
    HeaderId::XForwardedFor,
    HeaderId::XForwardedHost,
    HeaderId::XForwardedPort,
    HeaderId::XForwardedProto,
    HeaderId::XRequestId,
};

constinit HeaderSet of_responses{
    HeaderId::AccessControlAllowCredentials,
    HeaderId::AccessControlAllowHeaders,
    HeaderId::AccessControlAllowMethods,
    HeaderId::AccessControlAllowOrigin,
    HeaderId::AccessControlAllowPrivateNetwork,
    HeaderId::AccessControlExposeHeaders,
    HeaderId::AccessControlMaxAge,
    HeaderId::Age,
    HeaderId::CacheControl,
    HeaderId::Connection,
    HeaderId::ContentEncoding,
    HeaderId::ContentLength,
    HeaderId::ContentType,
    HeaderId::Date,
    HeaderId::Etag,
    HeaderId::Expires,
    HeaderId::GrpcMessage,
    HeaderId::GrpcStatus,
    HeaderId::KeepAlive,
    HeaderId::LastModified,
    HeaderId::Location,
    HeaderId::ProxyConnection,
    HeaderId::ProxyStatus,
    HeaderId::Server,
    HeaderId::TransferEncoding,
    HeaderId::Upgrade,
    HeaderId::Vary,
    HeaderId::Via,
    HeaderId::XEnvoyAttemptCount,
    HeaderId::XEnvoyDecoratorOperation,
    HeaderId::XEnvoyDegraded,
    HeaderId::XEnvoyImmediateHealthCheckFail,
    HeaderId::XEnvoyRateLimited,
    HeaderId::XEnvoyUpstreamCanary,
    HeaderId::XEnvoyUpstreamHealthcheckedCluster,
    HeaderId::XEnvoyUpstreamServiceTime,
    HeaderId::XRequestId,
};

// Those that the proxy does not know.
using Names = std::vector<std::string>;
Names& unknownOf(const HeaderSet& set) {
  static Names& request = *new Names();
  static Names& response = *new Names();
  return &set == &of_requests ? request : response;
}

void addTo(HeaderSet* set, const Names& names) {
  for (const std::string& name : names) {
    const HeaderId id = internHeader(name);
    if (id != HeaderId::Other) {
      set->add(id);
    } else {
      unknownOf(*set).push_back(name);
      joins_unknown = true;
    }
  }
}

bool isJudgedByLine(HeaderId id) {
  return id == HeaderId::ContentLength || id == HeaderId::TransferEncoding || id == HeaderId::Host;
}

bool haveOneName(const HeaderEntry& one, const HeaderEntry& other) {
  return one.id == other.id && (one.id != HeaderId::Other || one.name() == other.name());
}

// `bytes`: of all these values, with a comma between any two.
void joinLines(HeaderMap& headers, HeaderEntry* first, size_t bytes, Arena& arena) {
  char* const begin = arena.allocate(bytes);
  char* to = begin;
  for (HeaderEntry* entry = first; entry != headers.end(); ++entry) {
    if (!haveOneName(*entry, *first)) continue;
    if (entry->value_size > 0) {
      if (to > begin) *to++ = ',';
      std::memcpy(to, entry->value_data, entry->value_size);
      to += entry->value_size;
    }
    if (entry != first) entry->remove();
  }
  arena.shrink(to);
  first->setValue({begin, static_cast<size_t>(to - begin)});
}

void joinUnknown(HeaderMap& headers, const Names& names, Arena& arena) {
  for (const std::string& name : names) {
    HeaderEntry* first = nullptr;
    size_t bytes = 0;
    size_t lines = 0;
    for (HeaderEntry& entry : headers) {
      if (entry.id != HeaderId::Other || entry.name() != name) continue;
      if (!first) first = &entry;
      bytes += entry.value_size + 1;
      ++lines;
    }
    if (lines > 1) joinLines(headers, first, bytes, arena);
  }
}

void joinAll(HeaderMap& headers, const HeaderSet& joined, Arena& arena) {
  struct Lines {
    HeaderEntry* first = nullptr;
    size_t bytes = 0;
    bool repeats = false;
  };
  Lines lines[static_cast<size_t>(HeaderId::kCount)];
  for (HeaderEntry& entry : headers) {
    if (!joined.has(entry.id) || isJudgedByLine(entry.id)) continue;
    Lines& same = lines[static_cast<size_t>(entry.id)];
    same.repeats = same.first != nullptr;
    if (!same.first) same.first = &entry;
    same.bytes += entry.value_size + 1;
  }
  for (const Lines& same : lines) {
    if (same.repeats) joinLines(headers, same.first, same.bytes, arena);
  }
  if (const Names& unknown = unknownOf(joined); !unknown.empty()) {
    joinUnknown(headers, unknown, arena);
  }
}

}  // namespace

void joinToo(const std::vector<std::string>& request, const std::vector<std::string>& response) {
  addTo(&of_requests, request);
  addTo(&of_responses, response);
}

bool isJoinedInRequests(HeaderId id) { return of_requests.has(id); }
bool isJoinedInResponses(HeaderId id) { return of_responses.has(id); }

void joinRequestLines(HeaderMap& headers, Arena& arena) { joinAll(headers, of_requests, arena); }
void joinResponseLines(HeaderMap& headers, Arena& arena) { joinAll(headers, of_responses, arena); }

}  // namespace fairlead::http
