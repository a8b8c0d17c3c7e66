#include "filters/http/grpc_stats.h"

#include <algorithm>

#include "filters/http/connect_frames.h"
#include "format/append_number.h"
#include "format/context.h"
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

// Of Connect, with a body that is framed.
bool isConnectStream(const HeaderMap& headers) {
  const HeaderEntry* type = headers.find(HeaderId::ContentType);
  return type && type->value().starts_with("application/connect+");
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

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    tells_figures_ = config_.plan().has_filter_state && net::isFilterStateWanted();
    is_grpc_ = isGrpc(head.headers);
    is_connect_stream_ = isConnectStream(head.headers);
    is_connect_unary_ = head.headers.find(std::string_view("connect-protocol-version")) != nullptr;
    if (!isCall()) return FilterStatus::Continue;
    if (is_connect_stream_ || is_connect_unary_) notes_.sees_response_body = true;
    method_ = GrpcMethod::of(head.path);
    is_counted_ = !method_.isEmpty();
    if (!is_counted_) return FilterStatus::Continue;
    if (!config_.isNamed(method_)) method_ = {};
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
    if (end) noteRequestEnd();
    return FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (is_grpc_ || is_connect_stream_) {
      frames_.add(data);
      noteRequests(frames_.count());
    } else if (is_connect_unary_ && end) {
      noteRequests(1);
    }
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
    if (!is_counted_) return FilterStatus::Continue;
    if (is_connect_unary_) {
      countOutcome(status == 200);
    } else if (status != 200 || !isConnectStream(headers)) {
      countStatus(headers);
    }
    if (end) countTime();
    return FilterStatus::Continue;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (is_grpc_response_ || is_connect_stream_) {
      answer_frames_.add(data);
      noteResponses(answer_frames_.count());
      if (!is_grpc_response_ && end) countOutcome(answer_frames_.hasSucceeded());
    } else if (is_connect_unary_ && end) {
      noteResponses(1);
    } else {
      return FilterStatus::Continue;
    }
    if (!is_grpc_response_ && end) countTime();
    return FilterStatus::Continue;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (is_counted_ && is_grpc_) {
      countStatus(trailers);
      countTime();
    }
    return FilterStatus::Continue;
  }

  void onEnd() override { countMessages(); }

 private:
  bool isCall() const { return is_grpc_ || is_connect_stream_ || is_connect_unary_; }
  // Streams of Connect count where their paths name no method, too.
  bool countsMessages() const { return is_counted_ || is_connect_stream_ || is_connect_unary_; }

  void noteRequestEnd() {
    if (isCall() && config_.plan().records_times) sent_at_us_ = place_.loop().nowMicros();
  }

  void noteRequests(uint64_t count) {
    if (count == requests_) return;
    requests_ = count;
    noteMessages();
  }

  void noteResponses(uint64_t count) {
    if (count == responses_) return;
    responses_ = count;
    noteMessages();
  }

  void noteMessages() {
    countMessages();
    if (!tells_figures_) return;
    if (!figures_) {
      figures_ = std::make_shared<MessageFigures>();
      net::ensureFilterState(notes_.filter_state).put(kMessageFigures, figures_);
    }
    // A call of one message has one or none, whatever its body looks like.
    const bool is_request_framed = is_grpc_ || is_connect_stream_;
    const bool is_answer_framed = is_grpc_response_ || is_connect_stream_;
    figures_->requests = is_connect_unary_ && is_request_framed ? 0 : requests_;
    figures_->responses = is_connect_unary_ && is_answer_framed ? 0 : responses_;
  }

  // What was seen before the cluster was known is counted with what comes next.
  void countMessages() {
    const uint64_t requests = requests_ - counted_requests_;
    const uint64_t responses = responses_ - counted_responses_;
    if (requests + responses == 0 || !countsMessages()) return;
    const std::string_view cluster = place_.clusterName();
    if (cluster.empty()) return;
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

  void countOutcome(bool succeeded) {
    countMessages();
    const std::string_view cluster = place_.clusterName();
    if (!cluster.empty()) config_.calls().addOutcome(worker_, cluster, method_, succeeded);
  }

  void countTime() {
    const std::string_view cluster = place_.clusterName();
    if (sent_at_us_ == 0 || cluster.empty()) return;
    format::FormatContext context;
    place_.describe(&context);
    // An answer of the proxy's own took no host any time.
    if (!context.upstream_remote) return;
    const uint64_t ms = (place_.loop().nowMicros() - sent_at_us_) / 1000;
    config_.calls().addTime(worker_, cluster, method_, ms);
  }

  const GrpcStatsConfig& config_;
  FilterMemory& memory_;
  const unsigned worker_;
  FilterNotes& notes_;
  FilterPlace& place_;
  GrpcMethod method_;
  http::GrpcFrames frames_;
  ConnectFrames answer_frames_;
  // Messages that were seen, and those of them that are counted.
  uint64_t requests_ = 0;
  uint64_t responses_ = 0;
  uint64_t counted_requests_ = 0;
  uint64_t counted_responses_ = 0;
  // Null: there were no messages, or nobody asks.
  std::shared_ptr<MessageFigures> figures_;
  // 0: it is not recorded, or has not ended.
  uint64_t sent_at_us_ = 0;
  bool tells_figures_ = false;
  bool is_grpc_ = false;
  // Of Connect. A request may say that it is of both kinds, and of gRPC.
  bool is_connect_stream_ = false;
  bool is_connect_unary_ = false;
  // Its path names a method.
  bool is_counted_ = false;
  bool is_grpc_response_ = false;
};

}  // namespace

BuiltFilter GrpcStatsConfig::build(const plan::GrpcStatsFilter& plan, const ConfigScope& scope) {
  auto config = std::make_shared<GrpcStatsConfig>();
  config->plan_ = plan;
  for (const std::string& path : plan.paths) {
    const size_t slash = path.rfind('/');
    config->methods_.insert({path.substr(1, slash - 1), path.substr(slash + 1)});
  }
  config->calls_ = std::make_shared<GrpcCalls>(scope.workers, "grpc");
  scope.late_counts.add(config->calls_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* GrpcStatsConfig::make(FilterMemory& memory, const FilterScope& scope,
                                  FilterPlace& place) const {
  return memory.make<GrpcStats>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
