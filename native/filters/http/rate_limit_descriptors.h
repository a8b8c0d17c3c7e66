// What requests are like, as rate limits ask it: descriptors, which are entries of a key and a
// value each, made by the actions of routes, virtual hosts or filters. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "plan/plan.gen.h"
#include "route/filter_settings.h"
#include "route/match.h"
#include "route/request_view.h"

namespace fairlead::filters {

// Keys and values, each behind its length: the same text is the same descriptor, and no other is.
void appendEntry(std::string_view key, std::string_view value, std::string* descriptor);

// What actions look at.
struct DescriptorSource {
  const route::RequestView& request;
  // As far as it can be trusted; null: it has no IP address.
  const net::Address* client;
  // Where the request goes; empty: nobody knows.
  std::string_view cluster;
};

class DescriptorAction {
 public:
  static Result<DescriptorAction> build(const plan::RateLimitAction& plan);

  // False: there is no descriptor.
  bool append(const DescriptorSource& source, std::string* descriptor) const;

 private:
  bool appendAddress(const net::Address* client, std::string* descriptor) const;
  bool appendIf(bool fits, std::string* descriptor) const;

  // Without what is built below.
  plan::RateLimitAction plan_;
  route::HeaderName header_;
  // Headers and parameters; the path is not looked at.
  route::Match match_;
  std::vector<net::Cidr> ranges_;
};

// Of a route, a virtual host or a filter.
class RateLimits final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const RateLimits>> build(const plan::RateLimits& plan);
  static const RateLimits* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const RateLimits*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  bool isOfVirtualHost() const { return is_of_virtual_host_; }
  // Appends the descriptors that its limits of a stage make.
  void append(uint32_t stage, const DescriptorSource& source, std::vector<std::string>* out) const;

 private:
  static constexpr char kKind = 0;

  struct Limit {
    uint32_t stage;
    std::vector<DescriptorAction> actions;
  };
  bool is_of_virtual_host_ = false;
  std::vector<Limit> limits_;
};

}  // namespace fairlead::filters
