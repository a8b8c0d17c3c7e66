// Why a request or connection went the way it went: what %RESPONSE_FLAGS% shows. A small set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::format {

// In the order of their names below.
enum class ResponseFlag : uint8_t {
  FailedLocalHealthCheck,
  NoHealthyUpstream,
  UpstreamRequestTimeout,
  LocalReset,
  UpstreamRemoteReset,
  UpstreamConnectionFailure,
  UpstreamConnectionTermination,
  UpstreamOverflow,
  NoRouteFound,
  DelayInjected,
  FaultInjected,
  RateLimited,
  UnauthorizedExternalService,
  RateLimitServiceError,
  DownstreamConnectionTermination,
  UpstreamRetryLimitExceeded,
  StreamIdleTimeout,
  InvalidEnvoyRequestHeaders,
  DownstreamProtocolError,
  UpstreamMaxStreamDurationReached,
  ResponseFromCacheFilter,
  NoFilterConfigFound,
  DurationTimeout,
  UpstreamProtocolError,
  NoClusterFound,
  OverloadManager,
  DnsResolutionFailed,
  DropOverLoad,
  DownstreamRemoteReset,
  UnconditionalDropOverload,
  kCount,
};

struct ResponseFlagName {
  std::string_view short_name;
  std::string_view long_name;
};
constexpr ResponseFlagName kResponseFlagNames[] = {
    {"LH", "FailedLocalHealthCheck"},
    {"UH", "NoHealthyUpstream"},
    {"UT", "UpstreamRequestTimeout"},
    {"LR", "LocalReset"},
    {"UR", "UpstreamRemoteReset"},
    {"UF", "UpstreamConnectionFailure"},
    {"UC", "UpstreamConnectionTermination"},
    {"UO", "UpstreamOverflow"},
    {"NR", "NoRouteFound"},
    {"DI", "DelayInjected"},
    {"FI", "FaultInjected"},
    {"RL", "RateLimited"},
    {"UAEX", "UnauthorizedExternalService"},
    {"RLSE", "RateLimitServiceError"},
    {"DC", "DownstreamConnectionTermination"},
    {"URX", "UpstreamRetryLimitExceeded"},
    {"SI", "StreamIdleTimeout"},
    {"IH", "InvalidEnvoyRequestHeaders"},
    {"DPE", "DownstreamProtocolError"},
    {"UMSDR", "UpstreamMaxStreamDurationReached"},
    {"RFCF", "ResponseFromCacheFilter"},
    {"NFCF", "NoFilterConfigFound"},
    {"DT", "DurationTimeout"},
    {"UPE", "UpstreamProtocolError"},
    {"NC", "NoClusterFound"},
    {"OM", "OverloadManagerTerminated"},
    {"DF", "DnsResolutionFailed"},
    {"DO", "DropOverload"},
    {"DR", "DownstreamRemoteReset"},
    {"UDO", "UnconditionalDropOverload"},
};

constexpr std::string_view shortNameOf(ResponseFlag flag) {
  return kResponseFlagNames[static_cast<size_t>(flag)].short_name;
}

static_assert(sizeof(kResponseFlagNames) / sizeof(ResponseFlagName) ==
              static_cast<size_t>(ResponseFlag::kCount));

class ResponseFlags {
 public:
  void set(ResponseFlag flag) {
    if (has(flag)) return;
    bits_ |= bit(flag);
    if (count_ < kMostShown) order_[count_++] = flag;
  }
  bool has(ResponseFlag flag) const { return (bits_ & bit(flag)) != 0; }
  bool any() const { return bits_ != 0; }
  bool anyOf(ResponseFlags other) const { return (bits_ & other.bits_) != 0; }

  // "URX,UF", in the order in which they were set; "-" for none.
  void appendTo(std::string* out, bool long_names) const {
    if (!any()) out->push_back('-');
    for (uint8_t i = 0; i < count_; ++i) {
      const ResponseFlagName& name = kResponseFlagNames[static_cast<uint8_t>(order_[i])];
      if (i > 0) out->push_back(',');
      out->append(long_names ? name.long_name : name.short_name);
    }
  }

 private:
  // No request comes near so many.
  static constexpr uint8_t kMostShown = 7;
  static uint32_t bit(ResponseFlag flag) { return uint32_t{1} << static_cast<uint8_t>(flag); }
  uint32_t bits_ = 0;
  ResponseFlag order_[kMostShown] = {};
  uint8_t count_ = 0;
};

}  // namespace fairlead::format
