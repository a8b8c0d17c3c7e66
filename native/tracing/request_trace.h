// The spans of one request: its own, and one for each try at a host where that is configured.
// Begun when the request is routed; each is told of when it ends, if it is sampled. Part of a
// stream, kept from use to use; the worker's thread. Times are of the loop's clock, in µs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/random.h"
#include "format/context.h"
#include "http/message.h"
#include "tracing/call_span.h"
#include "tracing/propagation.h"
#include "tracing/record.h"
#include "tracing/span.h"
#include "tracing/tracing.h"

namespace fairlead::tracing {

// What is known where a span ends.
struct Facts {
  const format::FormatContext& format;
  // The cluster's, and what it is shown as; empty: there is none.
  std::string_view cluster;
  std::string_view cluster_shown;
  // Null: there is nothing that tags speak of.
  const plan::TagMetadata* route = nullptr;
  const plan::TagMetadata* host = nullptr;
  const plan::TagMetadata* of_cluster = nullptr;
  bool is_grpc = false;
  uint64_t now_us = 0;
  unsigned worker = 0;
};

class RequestTrace {
 public:
  struct Start {
    const Tracing& tracing;
    // Null: the route says nothing.
    const RouteTracing* route;
    Reason reason;
    const http::RequestHead& head;
    Random& random;
    uint64_t start_us;
    uint64_t now_us;
    // Its router begins a span for each try.
    bool spawns_upstream;
  };

  // False: there is no span, as what came with the request makes no sense. It is counted all the
  // same, and ended.
  bool begin(const Start& start);
  // As new.
  void clear();

  bool isNull() const { return is_null_; }
  bool isSampled() const { return !is_null_ && ids_.is_sampled; }
  Reason reason() const { return reason_; }
  const Tracing& tracing() const { return *tracing_; }
  // In hexadecimal; empty: there is no span.
  std::string_view traceId() const { return trace_id_; }
  std::string_view spanId() const { return span_id_; }

  // How its own span is called, by a format where one is configured.
  void nameBy(const format::FormatContext& format, Arena& arena);
  bool isNamedByFormat() const { return operation() != nullptr; }
  void setName(std::string_view name) { name_ = name; }
  // Nobody is told of it or of what follows from it.
  void drop() { ids_.is_sampled = false; }

  // What its route calls it, as others are told; empty: they are not. The route's.
  std::string_view told_operation;

  // ---- a try at a host ----
  // `who`: the try; a number from 1.
  void beginTry(const void* who, std::string_view cluster_shown, uint32_t number, uint64_t now_us,
                const format::FormatContext* format, Arena& arena, Random& random);
  // Tells the host. `peer`: its address.
  void tellHost(const void* who, http::HeaderMap& headers, std::string_view path,
                std::string_view peer, uint64_t now_us, Arena& arena);
  void onTryAnswer(const void* who, uint16_t status, const http::HeaderMap& headers,
                   uint64_t now_us);
  void onTryTrailers(const void* who, const http::HeaderMap& trailers);
  // It was given up here.
  void onTryCanceled(const void* who);
  void onTryFailed(const void* who, std::string_view reason);
  void onTryFlag(const void* who, format::ResponseFlag flag);
  bool hasTry(const void* who) { return findTry(who) != nullptr; }
  // The bytes of the request are on their way to whoever is asked.
  void onForwarded(uint64_t now_us) { last_tx_us_ = now_us; }
  void onAnswerEnded(uint64_t now_us) { last_rx_us_ = now_us; }
  void endTry(const void* who, const Facts& facts);
  // `visit` ends each.
  template <typename Visit>
  void forEachTry(Visit visit) {
    while (!tries_.empty()) visit(tries_.front().who);
  }

  // ---- a call that this proxy makes for it ----
  // `is_sampled`: whether it is told of; none: as the request's own. False: there is no span.
  bool beginCall(std::string_view name, uint64_t now_us, Random& random, CallSpan* span,
                 std::optional<bool> is_sampled = {});

  void onAnswerBegun(uint64_t now_us) {
    if (first_downstream_tx_us_ == 0) first_downstream_tx_us_ = now_us;
  }
  // With all that is known.
  void end(const Facts& facts);

 private:
  struct Try {
    const void* who = nullptr;
    SpanIds ids;
    std::string name;
    uint64_t start_us = 0;
    uint64_t tx_us = 0;
    uint64_t first_rx_us = 0;
    uint32_t number = 0;
    uint16_t status = 0;
    bool is_server = false;
    bool is_canceled = false;
    bool is_failed = false;
    std::string_view failure;
    format::ResponseFlags flags;
    std::string grpc_status;
    std::string grpc_message;
  };

  const format::Format* operation() const;
  SpanIds nextChild(Random& random);
  Try* findTry(const void* who);
  uint64_t wall(uint64_t at_us) const { return at_us + wall_offset_us_; }
  void writeSpan(const SpanIds& ids, uint32_t flags, std::string_view name, std::string_view peer,
                 uint64_t start_us, const Facts& facts);
  void writeOwnTags(const Facts& facts);
  void writeTryTags(const Try& one, const Facts& facts);
  void writeCommonTags(const Facts& facts, uint16_t status, format::ResponseFlags flags);
  void writeGrpcAnswer(std::string_view status, std::string_view message);
  void writeCustomTags(const Facts& facts);
  void writeTag(const Tag& tag, const Facts& facts);
  void writeOwnEvents(const Facts& facts);
  void writeTryEvents(const Try& one, const Facts& facts);

  const Tracing* tracing_ = nullptr;
  const RouteTracing* route_ = nullptr;
  SpanIds ids_;
  Baggage baggage_;
  std::string name_;
  Reason reason_ = Reason::NotTraceable;
  bool is_null_ = true;
  bool spawns_ = false;
  // How many have begun.
  uint32_t children_ = 0;
  uint64_t wall_offset_us_ = 0;
  uint64_t start_us_ = 0;
  // Of all tries: 0: not yet.
  uint64_t first_tx_us_ = 0;
  uint64_t last_tx_us_ = 0;
  uint64_t first_rx_us_ = 0;
  uint64_t last_rx_us_ = 0;
  uint64_t first_downstream_tx_us_ = 0;
  std::string trace_id_;
  std::string span_id_;
  std::vector<Try> tries_;
  Record record_;
  std::string scratch_;
  Arena arena_{1024};
};

}  // namespace fairlead::tracing
