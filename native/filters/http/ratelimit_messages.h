// What rate limit services are asked, and what they answer (envoy.service.ratelimit.v3). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/http/rate_limit_descriptors.h"

namespace fairlead::filters {

inline constexpr std::string_view kRatelimitMethod =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

// `hits`: how many requests it counts for; 0: as many as the service takes it for.
std::string ratelimitRequest(std::string_view domain, const std::vector<Descriptor>& descriptors,
                             uint32_t hits = 0);

struct RatelimitAnswer {
  // Of one descriptor.
  struct State {
    bool has_limit = false;
    uint64_t requests_per_unit = 0;
    // Of the unit; 0: nobody knows it.
    uint64_t window_s = 0;
    std::string name;
    uint64_t remaining = 0;
    uint64_t reset_s = 0;
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // False: it is broken.
  static bool read(std::string_view message, RatelimitAnswer* out);

  bool is_over_limit = false;
  std::vector<State> states;
  Headers response_headers;
  Headers request_headers;
  std::string body;
  // google.protobuf.Struct; empty: none.
  std::string metadata;
};

}  // namespace fairlead::filters
