#include "route/retry_policy.h"

#include "base/text.h"

namespace fairlead::route {

namespace {

struct Word {
  std::string_view text;
  uint32_t bit;
};

constexpr Word kWords[] = {
    {"5xx", RetryOn::k5xx},
    {"gateway-error", RetryOn::kGatewayError},
    {"reset", RetryOn::kReset},
    {"reset-before-request", RetryOn::kResetBeforeRequest},
    {"connect-failure", RetryOn::kConnectFailure},
    {"envoy-ratelimited", RetryOn::kRateLimited},
    {"retriable-4xx", RetryOn::kRetriable4xx},
    {"refused-stream", RetryOn::kRefusedStream},
    {"retriable-status-codes", RetryOn::kStatusCodes},
    {"retriable-headers", RetryOn::kHeaders},
    {"http3-post-connect-failure", RetryOn::kHttp3PostConnectFailure},
};

struct GrpcWord : Word {
  std::string_view status;
};

constexpr GrpcWord kGrpcWords[] = {
    {{"cancelled", RetryOn::kGrpcCancelled}, "1"},
    {{"deadline-exceeded", RetryOn::kGrpcDeadlineExceeded}, "4"},
    {{"resource-exhausted", RetryOn::kGrpcResourceExhausted}, "8"},
    {{"internal", RetryOn::kGrpcInternal}, "13"},
    {{"unavailable", RetryOn::kGrpcUnavailable}, "14"},
};

template <typename Words>
bool read(std::string_view list, const Words& words, uint32_t* set) {
  bool all_known = true;
  forEachToken(list, [&](std::string_view token) {
    bool known = token.empty();
    for (const Word& word : words) {
      if (word.text != token) continue;
      *set |= word.bit;
      known = true;
    }
    all_known = all_known && known;
    return true;
  });
  return all_known;
}

}  // namespace

bool readRetryOn(std::string_view list, uint32_t* set) { return read(list, kWords, set); }

bool readRetryGrpcOn(std::string_view list, uint32_t* set) { return read(list, kGrpcWords, set); }

uint32_t retryOnOfGrpcStatus(std::string_view status) {
  for (const GrpcWord& word : kGrpcWords) {
    if (word.status == status) return word.bit;
  }
  return 0;
}

namespace {

Result<std::vector<HeaderMatch>> buildMatches(const std::vector<plan::HeaderMatch>& plans) {
  std::vector<HeaderMatch> matches;
  for (const plan::HeaderMatch& plan : plans) {
    Result<HeaderMatch> match = HeaderMatch::build(plan);
    if (!match) return match.error();
    matches.push_back(std::move(match.value()));
  }
  return matches;
}

}  // namespace

Result<RetryPolicy> RetryPolicy::build(const plan::RetryPolicy& plan) {
  RetryPolicy policy;
  // One list has both kinds of words.
  readRetryOn(plan.retry_on, &policy.retry_on);
  readRetryGrpcOn(plan.retry_on, &policy.retry_on);
  auto headers = buildMatches(plan.headers);
  if (!headers) return headers.error();
  policy.headers = std::move(headers.value());
  auto request_headers = buildMatches(plan.request_headers);
  if (!request_headers) return request_headers.error();
  policy.request_headers = std::move(request_headers.value());
  for (const plan::ResetHeader& header : plan.reset_headers) {
    policy.reset_headers.push_back({HeaderName(header.name), header.is_unix_timestamp});
  }
  policy.plan = plan;
  policy.plan.retry_on.clear();
  policy.plan.headers.clear();
  policy.plan.request_headers.clear();
  policy.plan.reset_headers.clear();
  return policy;
}

const RetryPolicy& RetryPolicy::none() {
  static const RetryPolicy none = [] {
    RetryPolicy policy;
    policy.plan.num_retries = 1;
    return policy;
  }();
  return none;
}

}  // namespace fairlead::route
