// When a request is sent again: what a route's policy says, and the words for it that
// configurations and headers share. Immutable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"

namespace fairlead::route {

// What is worth another try: bits of a set.
struct RetryOn {
  static constexpr uint32_t k5xx = 1 << 0;
  static constexpr uint32_t kGatewayError = 1 << 1;
  static constexpr uint32_t kReset = 1 << 2;
  static constexpr uint32_t kResetBeforeRequest = 1 << 3;
  static constexpr uint32_t kConnectFailure = 1 << 4;
  static constexpr uint32_t kRateLimited = 1 << 5;
  static constexpr uint32_t kRetriable4xx = 1 << 6;
  // Of these two only hosts speak that are reached by HTTP/2 and HTTP/3.
  static constexpr uint32_t kRefusedStream = 1 << 7;
  static constexpr uint32_t kHttp3PostConnectFailure = 1 << 8;
  static constexpr uint32_t kStatusCodes = 1 << 9;
  static constexpr uint32_t kHeaders = 1 << 10;
  static constexpr uint32_t kGrpcCancelled = 1 << 11;
  static constexpr uint32_t kGrpcDeadlineExceeded = 1 << 12;
  static constexpr uint32_t kGrpcInternal = 1 << 13;
  static constexpr uint32_t kGrpcResourceExhausted = 1 << 14;
  static constexpr uint32_t kGrpcUnavailable = 1 << 15;
};

// Adds what a list of words says ("5xx,reset") to a set. False: one of them is none of these.
bool readRetryOn(std::string_view list, uint32_t* set);
// The same of the words for statuses of gRPC ("cancelled,unavailable").
bool readRetryGrpcOn(std::string_view list, uint32_t* set);
// A status of gRPC as a set; 0: none is tried again for it.
uint32_t retryOnOfGrpcStatus(std::string_view status);

// The header in which hosts say when to come again.
struct ResetHeader {
  HeaderName name;
  bool is_unix_timestamp = false;
};

struct RetryPolicy {
  static Result<RetryPolicy> build(const plan::RetryPolicy& plan);
  // Where only a request's own headers ask for retries.
  static const RetryPolicy& none();

  // Numbers, status codes and hosts; the rest is compiled below.
  plan::RetryPolicy plan;
  uint32_t retry_on = 0;
  std::vector<HeaderMatch> headers;
  std::vector<HeaderMatch> request_headers;
  std::vector<ResetHeader> reset_headers;
};

// What the runtime says of all retries.
struct RetryRuntime {
  RetryRuntime() = default;
  RetryRuntime(const plan::RetryRuntime& plan, RuntimeSlots* slots)
      : base_interval_ms(plan.base_interval_ms, plan.base_interval_slot, slots),
        allowed_millionths(plan.allowed_millionths, plan.allowed_slot, slots) {}

  RuntimeNumber base_interval_ms{25, 0, nullptr};
  RuntimeNumber allowed_millionths{1'000'000, 0, nullptr};
};

}  // namespace fairlead::route
