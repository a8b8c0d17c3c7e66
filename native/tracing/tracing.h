// What a connection manager, or a route, says of tracing, compiled. Immutable; shared by all
// workers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime_slots.h"
#include "format/filter_metadata.h"
#include "format/format.h"
#include "plan/plan.gen.h"
#include "tracing/spans.h"

namespace fairlead::tracing {

// Why a request is traced or is not.
enum class Reason : uint8_t { NotTraceable, Sampled, ServiceForced, ClientForced };

struct Sampling {
  // In millionths.
  RuntimeNumber client{1'000'000, 0, nullptr};
  RuntimeNumber random{1'000'000, 0, nullptr};
  RuntimeNumber overall{1'000'000, 0, nullptr};

  Sampling() = default;
  Sampling(const plan::TraceSampling& plan, RuntimeSlots* slots);
};

struct Tag {
  using Source = plan::TraceTag::Source;
  using Type = plan::TraceTag::Type;

  explicit Tag(const plan::TraceTag& plan)
      : name(plan.name),
        source(plan.source),
        format(plan.format ? format::Format(*plan.format) : format::Format()),
        space(plan.space),
        path(plan.path),
        default_value(plan.default_value),
        type(plan.type) {}

  std::string name;
  Source source;
  format::Format format;
  std::string space;
  std::string path;
  std::string default_value;
  Type type;
};

// Metadata of a route, a cluster or a host: what tags name of it. Null: nothing.
using TagMetadata = Boxed<plan::TagMetadata>;

// The text that a path has; null: none.
const std::string* findTagValue(const plan::TagMetadata* metadata, std::string_view space,
                                std::string_view path);

struct RouteTracing {
  RouteTracing(const plan::RouteTracing& plan, RuntimeSlots* slots);

  Sampling sampling;
  std::vector<Tag> tags;
  std::optional<format::Format> operation;
  std::optional<format::Format> upstream_operation;
};

struct Tracing {
  Tracing(const plan::Tracing& plan, bool is_egress, RuntimeSlots* slots, Spans& spans);

  // What kind of span a request's own is: only Zipkin's have an egress that is a client's.
  bool isServer() const {
    return plan.kind != plan::Tracing::Kind::Zipkin || !is_egress || hasOwnTries();
  }
  // The same of a try: as the real server's Zipkin, which takes all that follows on a span for a
  // server's unless it is told that servers are apart.
  bool areTriesServers() const {
    return plan.kind == plan::Tracing::Kind::Zipkin && !is_egress && !hasOwnTries();
  }

  const plan::Tracing plan;
  const bool is_egress;
  const Sampling sampling;
  const std::vector<Tag> tags;
  const std::optional<format::Format> operation;
  const std::optional<format::Format> upstream_operation;
  // A tag or a name speaks of the answer's head.
  bool reads_response_head = false;
  // The data plane's.
  Spans& spans;

 private:
  bool hasOwnTries() const {
    return plan.spawns_upstream || (plan.zipkin && plan.zipkin->splits_spans);
  }
};

}  // namespace fairlead::tracing
