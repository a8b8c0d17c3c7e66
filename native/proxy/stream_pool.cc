// What becomes of a request that has asked a pool for a connection.
#include "log/log.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderMap;

void Stream::onPoolReady(http::ClientStream& stream, upstream::Host& host,
                         upstream::PooledConnection& connection) {
  waiting_pool_ = nullptr;
  upstream_ = &stream;
  upstream_protocol_ = connection.codec().protocol();
  host_ = &host;
  if (!config().access_logs.empty()) upstream_local_ = connection.localAddress();
  if (upstream_duration_ms_ > 0) {
    upstream_deadline_ = loop().now() + upstream_duration_ms_;
    watch(upstream_deadline_);
  }
  if (live_head_) {
    sendRequestHead(live_head_->method, live_head_->path, live_head_->authority,
                    live_head_->headers);
    return;
  }
  sendWaitingRequest();
  if (client_paused_) onUpstreamWritable();
}

// The head, and what came of the rest, each as it was kept.
void Stream::sendWaitingRequest() {
  HeaderMap& headers = context().headers;
  upstream_request_.restore(&headers);
  sendRequestHead(upstream_request_.method(), upstream_request_.path(),
                  upstream_request_.authority(), headers);
  const bool has_trailers = waiting_trailers_.isSet();
  if (request_has_body_ && (request_complete_ || !waiting_body_.empty())) {
    upstream_->sendData(waiting_body_, request_complete_ && !has_trailers);
  }
  if (has_trailers) {
    waiting_trailers_.restore(&headers);
    upstream_->sendTrailers(&headers);
  }
  // Before what is sent is cleared.
  upstream_->flush();
  waiting_body_.clear();
}

void Stream::sendRequestHead(std::string_view method, std::string_view path,
                             std::string_view authority, HeaderMap& headers) {
  // A CONNECT asks for its authority.
  upstream_->sendHead({method, connect_request_ ? authority : path, authority, &headers},
                      !request_has_body_);
}

void Stream::onPoolFailure(upstream::PoolFailure failure, upstream::Host* host,
                           std::string_view details) {
  waiting_pool_ = nullptr;
  transport_failure_ = details;
  std::string_view reason;
  LocalReply answer{503, {}, {}};
  switch (failure) {
    case upstream::PoolFailure::Overflow:
      reason = "overflow";
      answer.flag = Flag::UpstreamOverflow;
      answer.overloaded = true;
      break;
    case upstream::PoolFailure::ConnectFailure:
      reason = "remote connection failure";
      answer.flag = Flag::UpstreamConnectionFailure;
      break;
    case upstream::PoolFailure::ConnectTimeout:
      reason = "connection timeout";
      answer.flag = Flag::UpstreamConnectionFailure;
      break;
    case upstream::PoolFailure::ConnectionTermination:
      reason = "connection termination";
      answer.flag = Flag::UpstreamConnectionTermination;
      break;
  }
  if (host) {
    host->counters(context().upstream.worker).rq_error.add();
  }
  failUpstream(answer, reason);
}

void Stream::failUpstream(LocalReply answer, std::string_view reason) {
  upstream_ = nullptr;
  log::debug(log::Component::Router, tags(), "upstream reset: reset reason: ", reason,
             ", transport failure reason: ", transport_failure_);
  std::string details = "upstream_reset_before_response_started{";
  details.append(reason);
  if (!transport_failure_.empty()) details.append("|").append(transport_failure_);
  details.append("}");
  std::string body = "upstream connect error or disconnect/reset before headers. reset reason: ";
  body.append(reason);
  answer.details = details;
  answer.body = body;
  chargeUpstream(answer.status, nullptr);
  reply(answer);
}

}  // namespace fairlead::proxy
