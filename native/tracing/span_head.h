// What the records of all spans begin with. Plain data.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing/record.h"
#include "tracing/span.h"
#include "tracing/tracing.h"

namespace fairlead::tracing {

struct SpanHead {
  const Tracing& tracing;
  const SpanIds& ids;
  const Baggage& baggage;
  // Of Record::Flag, beside what the others say.
  uint32_t flags;
  std::string_view name;
  // The address of who was asked; empty: nobody was.
  std::string_view peer;
  // Since 1970.
  uint64_t start_us;
  uint64_t duration_us;
  unsigned worker;
};

// Tags and events follow.
inline void beginRecord(const SpanHead& head, Record* record) {
  uint32_t flags = head.flags;
  if (head.ids.has_parent) flags |= Record::kHasParent;
  if (head.ids.is_remote) flags |= Record::kRemoteParent;
  if (head.baggage.has_priority) flags |= Record::kForced;
  if (head.baggage.has_priority && head.baggage.priority <= 0) flags |= Record::kDropped;
  record->begin();
  record->number32(head.tracing.plan.tracer);
  record->number32(head.worker);
  record->number32(flags);
  record->number64(head.ids.trace_high);
  record->number64(head.ids.trace_low);
  record->number64(head.ids.span);
  record->number64(head.ids.parent);
  record->number64(head.start_us);
  record->number64(head.duration_us);
  record->text(head.name);
  record->text(head.baggage.state);
  record->text(head.peer);
  record->text(head.baggage.trace);
  record->text(head.baggage.segment);
  record->text(head.baggage.origin);
}

}  // namespace fairlead::tracing
