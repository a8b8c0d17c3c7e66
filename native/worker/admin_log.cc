#include "worker/admin_log.h"

#include <string>

namespace fairlead::worker {

namespace {

// Names and values by turns.
std::unique_ptr<http::HeaderMap> headersOf(const std::vector<std::string>& lines) {
  auto headers = std::make_unique<http::HeaderMap>();
  for (size_t i = 0; i + 1 < lines.size(); i += 2) {
    headers->add(http::internHeader(lines[i]), lines[i], lines[i + 1]);
  }
  return headers;
}

// False: the text is no IP address.
bool readAddress(const std::string& text, net::Address* address) {
  return !text.empty() && net::parseIp(text, address);
}

}  // namespace

void AdminLog::write(const plan::AdminRequest& request) {
  const auto request_headers = headersOf(request.headers);
  const auto response_headers = headersOf(request.response_headers);
  net::Address remote;
  net::Address local;
  format::FormatContext context;
  context.start_time_us = request.start_us;
  context.duration_us = request.duration_us;
  if (request.is_cut) context.flags.set(format::ResponseFlag::DownstreamConnectionTermination);
  if (request.is_malformed) context.flags.set(format::ResponseFlag::DownstreamProtocolError);
  context.status = static_cast<uint16_t>(request.status);
  context.protocol = "HTTP/1.1";
  context.log_type = format::LogType::DownstreamEnd;
  context.is_complete = true;
  context.method = request.method;
  context.path = request.path;
  context.authority = request.authority;
  context.scheme = request.scheme;
  context.request_headers = request_headers.get();
  context.response_headers = response_headers.get();
  context.details = request.details;
  context.bytes_received = request.bytes_received;
  context.bytes_sent = request.bytes_sent;
  context.downstream.wire_received = request.wire_received;
  context.downstream.wire_sent = request.wire_sent;
  context.downstream.header_received = request.header_received;
  context.downstream.header_sent = request.header_sent;
  if (readAddress(request.remote_address, &remote)) {
    context.downstream_remote = &remote;
    context.downstream_direct_remote = &remote;
  }
  if (readAddress(request.local_address, &local)) context.downstream_local = &local;
  context.connection_id = request.connection_id;
  if (const auto* id = request_headers->find(http::HeaderId::XRequestId)) {
    context.stream_id = id->value();
  }
  for (const auto& log : logs_) log->writeAtOnce(context, random_.next());
}

}  // namespace fairlead::worker
