// What requests are like, as rate limits ask it: descriptors, which are entries of a key and a
// value each, made by the actions of routes, virtual hosts or filters. Immutable; any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "format/format.h"
#include "net/address.h"
#include "plan/plan.gen.h"
#include "route/filter_settings.h"
#include "route/match.h"
#include "route/request_view.h"

namespace fairlead::filters {

// Keys and values, each behind its length: the same text is the same descriptor, and no other is.
void appendEntry(std::string_view key, std::string_view value, std::string* descriptor);

// Calls visit(key, value) for each entry of a descriptor.
template <typename Visit>
void forEachEntry(std::string_view descriptor, Visit visit) {
  const auto take = [&descriptor] {
    uint32_t size = 0;
    std::memcpy(&size, descriptor.data(), sizeof(size));
    const std::string_view text = descriptor.substr(sizeof(size), size);
    descriptor.remove_prefix(sizeof(size) + size);
    return text;
  };
  while (!descriptor.empty()) {
    const std::string_view key = take();
    visit(key, take());
  }
}

// What actions look at.
struct DescriptorSource {
  const route::RequestView& request;
  const format::FormatContext& context;
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
  bool appendIf(bool fits, const DescriptorSource& source, std::string* descriptor) const;
  bool appendMetadata(const format::FormatContext& context, std::string* descriptor) const;

  // Without what is built below.
  plan::RateLimitAction plan_;
  route::HeaderName header_;
  // Headers and parameters; the path is not looked at.
  route::Match match_;
  std::vector<net::Cidr> ranges_;
  // Of the value, where it has one.
  std::optional<format::Format> format_;
  format::FilterMetadata route_metadata_;
};

// As a service is asked about it.
struct Descriptor {
  struct Limit {
    uint32_t requests_per_unit;
    uint32_t unit;
  };
  // As appendEntry() has it.
  std::string entries;
  std::optional<Limit> limit;
  std::optional<uint64_t> hits;
  bool is_negative = false;
  plan::RateLimit::XRateLimit tells_limit = plan::RateLimit::XRateLimit::Unspecified;
};

// Of a route, a virtual host or a filter.
class RateLimits final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const RateLimits>> build(const plan::RateLimits& plan,
                                                         RuntimeSlots& slots);
  static const RateLimits* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const RateLimits*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  bool isOfVirtualHost() const { return is_of_virtual_host_; }
  // Appends the descriptors that its limits of a stage make.
  void append(uint32_t stage, const DescriptorSource& source, std::vector<Descriptor>* out) const;
  // The same as services are asked; `stage`: nothing: all. `at_end`: those that are counted then.
  void describe(std::optional<uint32_t> stage, bool at_end, const DescriptorSource& source,
                Random& random, std::vector<Descriptor>* out) const;
  // Some are counted at the end.
  bool hasLate() const { return has_late_; }
  bool isEmpty() const { return limits_.empty(); }

 private:
  static constexpr char kKind = 0;

  struct Limit {
    // Without its actions.
    plan::RateLimit plan;
    std::vector<DescriptorAction> actions;
    // In millionths.
    RuntimeNumber enabled;
    // Of its hits, where they have one.
    std::optional<format::Format> hits;
  };
  static bool readOverride(const plan::LimitOverride& plan, const format::FormatContext& context,
                           Descriptor* out);
  static bool readHits(const Limit& limit, const format::FormatContext& context, Descriptor* out);

  bool is_of_virtual_host_ = false;
  bool has_late_ = false;
  std::vector<Limit> limits_;
};

}  // namespace fairlead::filters
