// What an external processor is told of a request and of its answer.
#include <string>
#include <utility>
#include <vector>

#include "calls/calls.h"
#include "filters/http/ext_proc_filter.h"
#include "filters/http/ext_proc_json.h"
#include "filters/http/forwarded_metadata.h"
#include "log/log.h"

namespace fairlead::filters {

void ExtProc::ask(std::string_view message) {
  if (!speaksHttp()) return call_.send(message);
  // As the real server: one request at a time, the latest.
  call_.cancel();
  calls::Calls& calls = *scope_.calls;
  if (!calls.clusters().find(service_->cluster.id())) {
    log::error(log::Component::ExtProc, "ext_proc cluster ", service_->plan.cluster,
               " does not exist in the config");
    return;
  }
  format::FormatContext context;
  place_.describe(&context);
  calls.arena().reset();
  http::HeaderMap& headers = calls.headers();
  headers.clear();
  headers.set(http::HeaderId::ContentType, "application/json");
  headers.set(http::HeaderId::XRequestId, calls.arena().decimal(scope_.stream_id));
  service_->metadata.apply(headers, context, calls.arena());
  call_.ask(calls, *service_,
            {"POST", settings_.plan.http->path, service_->plan.authority, &headers},
            processingRequestAsJson(message));
}

void ExtProc::tell(ProcessedMessage& message, ProcessedPart part, std::string_view told,
                   format::FormatContext& context) {
  if (!has_begun_) return;
  ProtoWriter metadata;
  addClusterMetadata(context, *of_cluster_, &metadata);
  addMetadata(context, *forwarding_, &metadata);
  addTypedMetadata(context.cluster_typed, *of_cluster_typed_, &metadata);
  addTypedMetadata(context, *forwarding_typed_, &metadata);
  std::string attributes;
  const std::vector<ProcessingAttribute>& instead =
      message.is_request ? attributes_->request : attributes_->response;
  const std::vector<ProcessingAttribute>& wanted = !instead.empty() ? instead
                                                   : message.is_request
                                                       ? settings_.request_attributes
                                                       : settings_.response_attributes;
  const bool has_attributes = !wanted.empty() && !std::exchange(message.has_told_attributes, true);
  if (has_attributes) {
    Arena arena(1024);
    attributes = toldAttributes(wanted, context, arena);
  }
  ToldBeside beside{metadata.view(),
                    has_attributes ? std::string_view(attributes) : std::string_view(), observes(),
                    nullptr, settings_.plan.send_body_without_waiting};
  plan::ProcessingMode mode;
  if (!observes() && !std::exchange(has_told_protocol_, true)) {
    mode.request_body = request_.body_mode;
    mode.response_body = response_.body_mode;
    beside.mode = &mode;
  }
  ask(processingRequest(part, told, beside));
  count(Counter::StreamMsgsSent);
}

void ExtProc::tellBody(ProcessedMessage& message, std::string_view data, bool end, Waits waits) {
  format::FormatContext context;
  place_.describe(&context);
  message.has_told_body = true;
  tell(message, partOf(message, ProcessedPart::RequestBody), toldBody(data, end), context);
  if (!observes()) waitFor(message, waits);
}

void ExtProc::tellTrailers(ProcessedMessage& message) {
  if (std::exchange(message.has_told_trailers, true)) return;
  format::FormatContext context;
  place_.describe(&context);
  http::HeaderMap& trailers = scope_.calls->headers();
  message.trailers.restore(&trailers);
  if (!message.is_request) context.response_trailers = &trailers;
  ToldHeaders told(settings_);
  told.addAll(trailers);
  const std::string bytes = toldTrailers(told);
  tell(message, partOf(message, ProcessedPart::RequestTrailers), bytes, context);
  if (observes()) return;
  waitFor(message, message.waits == Waits::Nothing ? Waits::Trailers : message.waits);
}

ToldHeaders ExtProc::requestHeaders(const http::RequestHead& head, std::string_view scheme) const {
  ToldHeaders told(settings_);
  const auto add = [&told](std::string_view name, std::string_view value) {
    if (!value.empty()) told.add(name, value);
  };
  add(":authority", head.authority);
  add(":path", head.path);
  add(":method", head.method);
  add(":scheme", scheme);
  told.addAll(head.headers);
  return told;
}

}  // namespace fairlead::filters
