// What the proxy answers itself.
#include "log/log.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderId;
using http::HeaderMap;

namespace {

// What a grpc-message may not have bare (the gRPC protocol's percent-encoding).
std::string percentEncoded(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      result.push_back(c);
    } else {
      result.push_back('%');
      result.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
      result.push_back(kHex[c & 15]);
    }
  }
  return result;
}

// Bytes behind the head of another answer would be taken for the next one's (RFC 9112 §6.3).
bool mayHaveBody(uint16_t status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

void Stream::reply(const LocalReply& answer) {
  // Also a request that was refused before it came to the filters is answered through them.
  if (!filtered_ && !config().filters.empty()) startFilters();
  HeaderMap& headers = context().headers;
  Arena& arena = context().arena;
  headers.clear();
  log::debug(log::Component::Http, tags(), "Sending local reply with details ", answer.details);
  if (answer.flag) flags_.set(*answer.flag);
  details_ = answer.details;
  uint16_t status = answer.status;
  std::string_view body = answer.body;
  const bool grpc = grpc_request_ && answer.location.empty();
  if (answer.degraded) headers.add(HeaderId::XEnvoyDegraded, "x-envoy-degraded", "");
  if (answer.overloaded && !config().router.suppress_envoy_headers) {
    headers.add(HeaderId::XEnvoyOverloaded, "x-envoy-overloaded", "true");
  }
  if (!answer.location.empty()) headers.add(HeaderId::Location, "location", answer.location);
  status_ = grpc ? 200 : status;
  mutateResponse(headers);
  // How this answer is framed is nobody else's to say.
  headers.remove(HeaderId::ContentLength);
  if (grpc) {
    headers.add(HeaderId::ContentType, "content-type", "application/grpc");
    headers.add(HeaderId::GrpcStatus, "grpc-status", filters::grpcStatusOf(status));
    if (!body.empty()) {
      headers.add(HeaderId::Other, "grpc-message", arena.copy(percentEncoded(body)));
    }
    status = 200;
    body = {};
  } else if (!mayHaveBody(status)) {
    body = {};
  } else if (!body.empty()) {
    headers.add(HeaderId::ContentLength, "content-length", arena.decimal(body.size()));
    if (!headers.find(HeaderId::ContentType)) {
      headers.add(HeaderId::ContentType, "content-type", "text/plain");
    }
  }
  close_after_reply_ = answer.close;
  const bool sends_body = !body.empty() && !head_request_;
  if (!sends_body) {
    sendResponseHead(status, headers, true, true);
    return;
  }
  bytes_sent_ = body.size();
  sendResponseHead(status, headers, false, true);
  if (filtered_) chain_->onResponseData(body, true);
  sendResponseEnd(body);
}

}  // namespace fairlead::proxy
