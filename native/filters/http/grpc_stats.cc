#include "filters/http/grpc_stats.h"

#include <algorithm>

#include "format/grpc_status.h"
#include "http/grpc_frames.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

bool isGrpc(const HeaderMap& headers) {
  const HeaderEntry* type = headers.find(HeaderId::ContentType);
  return type && format::isGrpcContentType(type->value());
}

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
    if (!isGrpc(head.headers)) return FilterStatus::Continue;
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

  FilterStatus onRequestData(std::string_view data, bool) override {
    if (is_counted_) {
      requests_.add(data);
      countMessages();
    }
    return FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end, Arena&) override {
    if (!is_counted_) return FilterStatus::Continue;
    is_grpc_response_ = !end && status == 200 && isGrpc(headers);
    countStatus(headers);
    return FilterStatus::Continue;
  }

  FilterStatus onResponseData(std::string_view data, bool) override {
    if (is_counted_ && is_grpc_response_) {
      responses_.add(data);
      countMessages();
    }
    return FilterStatus::Continue;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (is_counted_) countStatus(trailers);
    return FilterStatus::Continue;
  }

  void onEnd() override {
    if (is_counted_) countMessages();
  }

 private:
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
