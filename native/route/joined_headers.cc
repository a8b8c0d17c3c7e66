#include "route/joined_headers.h"

#include <algorithm>
#include <iterator>

namespace fairlead::route {

namespace {

// In the order of their bytes.
constexpr std::string_view kRequest[] = {
    "accept",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "access-control-request-private-network",
    "authentication",
    "authorization",
    "cache-control",
    "cdn-loop",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "grpc-accept-encoding",
    "grpc-timeout",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "origin",
    "pragma",
    "proxy-connection",
    "proxy-status",
    "referer",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-client-trace-id",
    "x-envoy-attempt-count",
    "x-envoy-decorator-operation",
    "x-envoy-downstream-service-cluster",
    "x-envoy-downstream-service-node",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-external-address",
    "x-envoy-force-trace",
    "x-envoy-hedge-on-per-try-timeout",
    "x-envoy-internal",
    "x-envoy-ip-tags",
    "x-envoy-is-timeout-retry",
    "x-envoy-max-retries",
    "x-envoy-original-host",
    "x-envoy-original-path",
    "x-envoy-original-url",
    "x-envoy-retriable-header-names",
    "x-envoy-retriable-status-codes",
    "x-envoy-retry-grpc-on",
    "x-envoy-retry-on",
    "x-envoy-upstream-alt-stat-name",
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-upstream-rq-timeout-alt-response",
    "x-envoy-upstream-rq-timeout-ms",
    "x-envoy-upstream-stream-duration-ms",
    "x-forwarded-client-cert",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-request-id",
};

constexpr std::string_view kResponse[] = {
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-allow-private-network",
    "access-control-expose-headers",
    "access-control-max-age",
    "age",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "etag",
    "expires",
    "grpc-message",
    "grpc-status",
    "keep-alive",
    "last-modified",
    "location",
    "proxy-connection",
    "proxy-status",
    "server",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
    "x-envoy-attempt-count",
    "x-envoy-decorator-operation",
    "x-envoy-degraded",
    "x-envoy-immediate-health-check-fail",
    "x-envoy-ratelimited",
    "x-envoy-upstream-canary",
    "x-envoy-upstream-healthchecked-cluster",
    "x-envoy-upstream-service-time",
    "x-request-id",
};

static_assert(std::is_sorted(std::begin(kRequest), std::end(kRequest)));
static_assert(std::is_sorted(std::begin(kResponse), std::end(kResponse)));

}  // namespace

bool isJoinedInRequests(std::string_view name) {
  return std::binary_search(std::begin(kRequest), std::end(kRequest), name);
}

bool isJoinedInResponses(std::string_view name) {
  return std::binary_search(std::begin(kResponse), std::end(kResponse), name);
}

}  // namespace fairlead::route
