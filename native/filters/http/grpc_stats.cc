#include "filters/http/grpc_stats.h"

#include <algorithm>

#include "format/append_number.h"
#include "format/grpc_status.h"
#include "http/grpc_frames.h"
#include "net/filter_state.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

bool isGrpc(const HeaderMap& headers) {
  const HeaderEntry* type = headers.find(HeaderId::ContentType);
  return type && format::isGrpcContentType(type->value());
}

// What logs may ask of a request's messages.
class MessageFigures final : public net::StateObject {
 public:
  const void* kind() const override { return &kKind; }
  bool appendText(std::string* out) const override {
    format::appendNumber(requests, out);
    out->append(",");
    format::appendNumber(responses, out);
    return true;
  }
  // As protobuf's JSON has numbers of 64 bits; those that are 0 it leaves out.
  bool appendJson(std::string* out) const override {
    out->append("{");
    if (requests > 0) append("requestMessageCount", requests, out);
    if (requests > 0 && responses > 0) out->append(",");
    if (responses > 0) append("responseMessageCount", responses, out);
    out->append("}");
    return true;
  }

  uint64_t requests = 0;
  uint64_t responses = 0;

 private:
  static constexpr char kKind = 0;

  static void append(std::string_view name, uint64_t number, std::string* out) {
    out->append("\"").append(name).append("\":\"");
    format::appendNumber(number, out);
    out->append("\"");
  }
};

constexpr std::string_view kMessageFigures = "envoy.filters.http.grpc_stats";

// Of one request.
class GrpcStats final : public HttpFilter {
 public:
  GrpcStats(const GrpcStatsConfig& config, FilterMemory& memory, const FilterScope& scope,
            FilterPlace& place)
      : config_(config),
        memory_(memory),
        worker_(scope.worker),
        notes_(scope.notes),
        place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    tells_figures_ = config_.plan().has_filter_state && net::isFilterStateWanted();
    is_grpc_ = isGrpc(head.headers);
    if (!is_grpc_) return FilterStatus::Continue;
    const std::string_view path = head.path.substr(0, head.path.find('?'));
    method_ = GrpcMethod::of(path);
    is_counted_ = !method_.isEmpty();
    if (!is_counted_) return FilterStatus::Continue;
    if (!config_.isNamed(path)) method_ = {};
    notes_.sees_response_body = true;
    method_.method = memory_.keep(method_.method);
    if (config_.plan().replaces_dots) {
      const std::string_view dotted = method_.service;
      char* const service = memory_.allocate(dotted.size());
      std::replace_copy(dotted.begin(), dotted.end(), service, '.', '_');
      method_.service = {service, dotted.size()};
    } else {
      method_.service = memory_.keep(method_.service);
    }
    return FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (is_grpc_) addMessages(requests_, data);
    if (end) noteRequestEnd();
    return FilterStatus::Continue;
  }

  FilterStatus onRequestTrailers(HeaderMap&) override {
    noteRequestEnd();
    return FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end, Arena&) override {
    is_grpc_response_ = !end && status == 200 && isGrpc(headers);
    if (is_grpc_response_ && tells_figures_) notes_.sees_response_body = true;
    if (is_counted_) countStatus(headers);
    return FilterStatus::Continue;
  }

  FilterStatus onResponseData(std::string_view data, bool) override {
    if (is_grpc_response_) addMessages(responses_, data);
    return FilterStatus::Continue;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (is_counted_) countStatus(trailers);
    if (is_counted_ && sent_at_us_ > 0) {
      const std::string_view cluster = place_.clusterName();
      const uint64_t ms = (place_.loop().nowMicros() - sent_at_us_) / 1000;
      if (!cluster.empty()) config_.calls().addTime(worker_, cluster, method_, ms);
    }
    return FilterStatus::Continue;
  }

  void onEnd() override {
    if (is_counted_) countMessages();
  }

 private:
  void noteRequestEnd() {
    if (is_counted_ && config_.plan().records_times) sent_at_us_ = place_.loop().nowMicros();
  }

  void addMessages(http::GrpcFrames& frames, std::string_view data) {
    const uint64_t before = frames.count();
    frames.add(data);
    if (is_counted_) countMessages();
    if (!tells_figures_ || frames.count() == before) return;
    if (!figures_) {
      figures_ = std::make_shared<MessageFigures>();
      net::ensureFilterState(notes_.filter_state).put(kMessageFigures, figures_);
    }
    figures_->requests = requests_.count();
    figures_->responses = responses_.count();
  }

  // What was seen before the cluster was known is counted with what comes next.
  void countMessages() {
    const std::string_view cluster = place_.clusterName();
    const uint64_t requests = requests_.count() - counted_requests_;
    const uint64_t responses = responses_.count() - counted_responses_;
    if (cluster.empty() || requests + responses == 0) return;
    counted_requests_ += requests;
    counted_responses_ += responses;
    config_.calls().addMessages(worker_, cluster, method_, requests, responses);
  }

  void countStatus(const HeaderMap& headers) {
    countMessages();
    const HeaderEntry* const status = headers.find(HeaderId::GrpcStatus);
    const std::string_view cluster = place_.clusterName();
    if (!status || cluster.empty()) return;
    config_.calls().addStatus(worker_, cluster, method_, status->value());
  }

  const GrpcStatsConfig& config_;
  FilterMemory& memory_;
  const unsigned worker_;
  FilterNotes& notes_;
  FilterPlace& place_;
  GrpcMethod method_;
  http::GrpcFrames requests_;
  http::GrpcFrames responses_;
  uint64_t counted_requests_ = 0;
  uint64_t counted_responses_ = 0;
  // Null: there were no messages, or nobody asks.
  std::shared_ptr<MessageFigures> figures_;
  // 0: it is not recorded, or has not ended.
  uint64_t sent_at_us_ = 0;
  bool tells_figures_ = false;
  bool is_grpc_ = false;
  bool is_counted_ = false;
  bool is_grpc_response_ = false;
};

}  // namespace

BuiltFilter GrpcStatsConfig::build(const plan::GrpcStatsFilter& plan, const ConfigScope& scope) {
  auto config = std::make_shared<GrpcStatsConfig>();
  config->plan_ = plan;
  config->paths_.insert(plan.paths.begin(), plan.paths.end());
  config->calls_ = std::make_shared<GrpcCalls>(scope.workers, "grpc");
  scope.late_counts.add(config->calls_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* GrpcStatsConfig::make(FilterMemory& memory, const FilterScope& scope,
                                  FilterPlace& place) const {
  return memory.make<GrpcStats>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
