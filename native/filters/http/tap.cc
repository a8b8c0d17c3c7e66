#include "filters/http/tap.h"

#include <time.h>

#include <charconv>

#include "base/proto_writer.h"

namespace fairlead::filters {

namespace {

using TapCounter = stats::HttpTap::Counter;
using Kind = TapMatch::Kind;

// Numbers of fields in envoy.data.tap.v3.
constexpr uint32_t kWrapperBuffered = 1;
constexpr uint32_t kWrapperSegment = 2;
constexpr uint32_t kTraceRequest = 1;
constexpr uint32_t kTraceResponse = 2;
constexpr uint32_t kMessageHeaders = 1;
constexpr uint32_t kMessageBody = 2;
constexpr uint32_t kMessageTrailers = 3;
constexpr uint32_t kMessageReceivedTime = 4;
constexpr uint32_t kSegmentTraceId = 1;
constexpr uint32_t kSegmentRequestHeaders = 2;
constexpr uint32_t kSegmentRequestBody = 3;
constexpr uint32_t kSegmentRequestTrailers = 4;
constexpr uint32_t kSegmentResponseHeaders = 5;
constexpr uint32_t kSegmentResponseBody = 6;
constexpr uint32_t kSegmentResponseTrailers = 7;
constexpr uint32_t kListHeaders = 1;
constexpr uint32_t kBodyBytes = 1;
constexpr uint32_t kBodyTruncated = 3;

// A list of headers, each under the field `field`.
class HeaderList {
 public:
  explicit HeaderList(uint32_t field) : field_(field) {}

  void add(std::string_view name, std::string_view value) {
    ProtoWriter header;
    header.bytes(1, name);
    if (!value.empty()) header.bytes(2, value);
    out_.bytes(field_, header.view());
  }
  void addAll(const http::HeaderMap& headers) {
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name_size > 0) add(entry.name(), entry.value());
    }
  }
  std::string take() { return out_.take(); }

 private:
  const uint32_t field_;
  ProtoWriter out_;
};

std::string statusText(uint16_t status) {
  char text[8];
  const auto end = std::to_chars(text, text + sizeof(text), status).ptr;
  return {text, end};
}

std::string timestampNow() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  ProtoWriter out;
  out.number(1, static_cast<uint64_t>(now.tv_sec));
  out.number(2, static_cast<uint64_t>(now.tv_nsec));
  return out.take();
}

// The first bytes of a body.
class KeptBody {
 public:
  void add(std::string_view data, uint32_t limit_bytes) {
    any_ |= !data.empty();
    const size_t room = limit_bytes - bytes_.size();
    truncated_ |= data.size() > room;
    bytes_.append(data.substr(0, room));
  }
  bool isEmpty() const { return !any_; }
  // envoy.data.tap.v3.Body
  std::string encoded() const {
    ProtoWriter out;
    out.bytes(kBodyBytes, bytes_);
    if (truncated_) out.number(kBodyTruncated, 1);
    return out.take();
  }
  void clear() { *this = {}; }

 private:
  std::string bytes_;
  bool truncated_ = false;
  bool any_ = false;
};

// One of the two directions, as lists under the fields of a whole trace or of segments.
struct Recorded {
  std::string headers;
  std::string trailers;
  std::string received_time;
  KeptBody body;

  // envoy.data.tap.v3.HttpBufferedTrace.Message
  std::string encoded() const {
    ProtoWriter out;
    std::string joined = headers;
    if (!body.isEmpty()) out.bytes(kMessageBody, body.encoded());
    joined.append(out.view()).append(trailers);
    out.clear();
    if (!received_time.empty()) out.bytes(kMessageReceivedTime, received_time);
    return joined.append(out.view());
  }
};

// Of one request.
class TapFilter : public HttpFilter {
 public:
  TapFilter(const TapConfig& config, std::shared_ptr<const TapSettings> settings,
            const FilterScope& scope, stats::Shard<stats::HttpTap>& stats)
      : config_(config),
        settings_(std::move(settings)),
        progress_(settings_->match),
        stats_(stats),
        trace_id_(scope.stream_id) {
    scope.notes.sees_response_body = true;
  }

 protected:
  const TapConfig& config_;
  // Held: the tap may be taken off while the request is under way.
  const std::shared_ptr<const TapSettings> settings_;
  TapMatch::Progress progress_;
  stats::Shard<stats::HttpTap>& stats_;
  const uint64_t trace_id_;

  void submit(std::string trace) {
    config_.sink().onTrace(config_.plan().id, trace_id_, std::move(trace));
  }
  std::string headersOf(const http::RequestHead& head, std::string_view scheme, uint32_t field) {
    HeaderList list(field);
    list.add(":authority", head.authority);
    list.add(":path", head.path);
    list.add(":method", head.method);
    list.add(":scheme", scheme);
    list.addAll(head.headers);
    return list.take();
  }
  std::string headersOf(uint16_t status, const http::HeaderMap& headers, uint32_t field) {
    HeaderList list(field);
    list.add(":status", statusText(status));
    list.addAll(headers);
    return list.take();
  }
  std::string trailersOf(const http::HeaderMap& trailers, uint32_t field) {
    HeaderList list(field);
    list.addAll(trailers);
    return list.take();
  }
};

// A whole trace, at the end, with heads as they went on.
class BufferedTap final : public TapFilter {
 public:
  using TapFilter::TapFilter;

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    scheme_ = view.scheme;
    request_.headers = headersOf(head, scheme_, kMessageHeaders);
    if (config_.plan().records_headers_received_time) request_.received_time = timestampNow();
    has_request_ = true;
    progress_.onRequestHead(view);
    return FilterStatus::Continue;
  }
  void onRequestForwarded(const http::RequestHead& head) override {
    request_.headers = headersOf(head, scheme_, kMessageHeaders);
  }
  FilterStatus onRequestData(std::string_view data, bool) override {
    has_request_ = true;
    request_.body.add(data, settings_->plan.max_request_body_bytes);
    progress_.onBody(Kind::RequestBody, data);
    return FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    request_.trailers = trailersOf(trailers, kMessageTrailers);
    progress_.onHeaders(Kind::RequestTrailers, trailers);
    return FilterStatus::Continue;
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool, Arena&) override {
    if (config_.plan().records_headers_received_time) response_.received_time = timestampNow();
    progress_.onHeaders(Kind::ResponseHeaders, headers, statusText(status));
    return FilterStatus::Continue;
  }
  void onResponseSent(uint16_t status, const http::HeaderMap& headers) override {
    has_response_ = true;
    response_.headers = headersOf(status, headers, kMessageHeaders);
  }
  FilterStatus onResponseData(std::string_view data, bool) override {
    response_.body.add(data, settings_->plan.max_response_body_bytes);
    progress_.onBody(Kind::ResponseBody, data);
    return FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    response_.trailers = trailersOf(trailers, kMessageTrailers);
    progress_.onHeaders(Kind::ResponseTrailers, trailers);
    return FilterStatus::Continue;
  }
  void onEnd() override {
    if (!progress_.matches()) return;
    stats_.add(TapCounter::RqTapped);
    ProtoWriter trace;
    if (has_request_) trace.bytes(kTraceRequest, request_.encoded());
    if (has_response_) trace.bytes(kTraceResponse, response_.encoded());
    ProtoWriter wrapper;
    wrapper.bytes(kWrapperBuffered, trace.view());
    submit(wrapper.take());
  }

 private:
  std::string scheme_;
  Recorded request_;
  Recorded response_;
  bool has_request_ = false;
  bool has_response_ = false;
};

// Segments as they pass, from the moment that the conditions are met. What came before is kept
// until they are, bodies up to their limits.
class StreamedTap final : public TapFilter {
 public:
  using TapFilter::TapFilter;

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    add(kSegmentRequestHeaders, headersOf(head, view.scheme, kListHeaders));
    progress_.onRequestHead(view);
    settle();
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool) override {
    addBody(kSegmentRequestBody, data);
    progress_.onBody(Kind::RequestBody, data);
    settle();
    return FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    add(kSegmentRequestTrailers, trailersOf(trailers, kListHeaders));
    progress_.onHeaders(Kind::RequestTrailers, trailers);
    settle();
    return FilterStatus::Continue;
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool, Arena&) override {
    add(kSegmentResponseHeaders, headersOf(status, headers, kListHeaders));
    progress_.onHeaders(Kind::ResponseHeaders, headers, statusText(status));
    settle();
    return FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view data, bool) override {
    addBody(kSegmentResponseBody, data);
    progress_.onBody(Kind::ResponseBody, data);
    settle();
    return FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    add(kSegmentResponseTrailers, trailersOf(trailers, kListHeaders));
    progress_.onHeaders(Kind::ResponseTrailers, trailers);
    settle();
    return FilterStatus::Continue;
  }
  void onEnd() override {
    if (progress_.matches()) stats_.add(TapCounter::RqTapped);
  }

 private:
  struct Segment {
    uint32_t field;
    std::string bytes;
    KeptBody body;
  };

  void add(uint32_t field, std::string bytes) { waiting_.push_back({field, std::move(bytes), {}}); }
  // Parts that wait are one segment.
  void addBody(uint32_t field, std::string_view data) {
    if (data.empty()) return;
    if (waiting_.empty() || waiting_.back().field != field) add(field, {});
    const plan::Tap& plan = settings_->plan;
    waiting_.back().body.add(data, field == kSegmentRequestBody ? plan.max_request_body_bytes
                                                                : plan.max_response_body_bytes);
  }
  void settle() {
    if (!progress_.matches()) {
      if (!progress_.mayChange()) waiting_.clear();
      return;
    }
    for (const Segment& segment : waiting_) {
      ProtoWriter out;
      out.number(kSegmentTraceId, trace_id_);
      out.bytes(segment.field, segment.body.isEmpty() ? segment.bytes : segment.body.encoded());
      ProtoWriter wrapper;
      wrapper.bytes(kWrapperSegment, out.view());
      submit(wrapper.take());
    }
    waiting_.clear();
  }

  std::vector<Segment> waiting_;
};

}  // namespace

Result<std::shared_ptr<const TapSettings>> TapSettings::build(const plan::Tap& plan,
                                                              RuntimeSlots* slots) {
  Result<TapMatch> match = TapMatch::build(plan.match.value_or(plan::TapMatch()));
  if (!match) return match.error();
  const RuntimeNumber share(plan.share_millionths, plan.share_slot, slots);
  return std::make_shared<const TapSettings>(TapSettings{plan, std::move(match.value()), share});
}

BuiltFilter TapConfig::build(const plan::TapFilter& plan, const ConfigScope& scope) {
  if (!scope.taps.sink()) return Error{"nobody takes what a tap records"};
  auto config = std::make_shared<TapConfig>();
  config->plan_ = plan;
  config->stats_ = scope.registry.create<stats::HttpTap>(innerScope(scope.stats, "tap."));
  config->sink_ = scope.taps.sink();
  config->settings_.resize(scope.workers);
  if (plan.tap) {
    auto settings = TapSettings::build(*plan.tap, &scope.slots);
    if (!settings) return settings.error();
    for (auto& of_worker : config->settings_) of_worker = settings.value();
  }
  scope.taps.add(config);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* TapConfig::make(FilterMemory& memory, const FilterScope& scope, FilterPlace&) const {
  const std::shared_ptr<const TapSettings>& settings = settings_[scope.worker];
  if (!settings) return nullptr;
  stats::Shard<stats::HttpTap>& stats = *stats_->shard(scope.worker + 1);
  Random& random = scope.clusters.context().random;
  if (random.below(1'000'000) >= settings->share_millionths.value()) {
    stats.add(TapCounter::RqSampledOut);
    return nullptr;
  }
  if (settings->plan.streaming) return memory.make<StreamedTap>(*this, settings, scope, stats);
  return memory.make<BufferedTap>(*this, settings, scope, stats);
}

}  // namespace fairlead::filters
