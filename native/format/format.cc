#include "format/format.h"

#include <charconv>
#include <ctime>

namespace fairlead::format {

namespace {

using Operator = plan::FormatPiece::Operator;

void appendNumber(uint64_t value, std::string* out) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void appendMillis(uint64_t micros, std::string* out) {
  if (micros != kUnknown) appendNumber(micros / 1000, out);
}

void appendAddress(const net::Address* address, bool with_port, std::string* out) {
  if (!address) return;
  char text[net::Address::kTextBytes];
  out->append(with_port ? address->writeText(text) : address->writeIp(text));
}

void appendPort(const net::Address* address, std::string* out) {
  if (address && address->isIp()) appendNumber(address->port(), out);
}

std::string_view queryParameter(std::string_view path, std::string_view name) {
  const size_t query = path.find('?');
  if (query == std::string_view::npos) return {};
  std::string_view rest = path.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name) {
      return equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    }
    if (pair.size() == rest.size()) break;
    rest.remove_prefix(pair.size() + 1);
  }
  return {};
}

// Appends nothing when there is no value.
void appendValue(const plan::FormatPiece& piece, const FormatContext& context, std::string* out) {
  switch (piece.op) {
    case Operator::Literal:
      out->append(piece.argument);
      return;
    case Operator::Req: {
      std::string_view value = context.requestHeader(piece.argument);
      if (value.empty() && !piece.alternative.empty()) value = context.requestHeader(piece.alternative);
      out->append(value);
      return;
    }
    case Operator::Resp:
    case Operator::Trailer: {
      const http::HeaderMap* headers =
          piece.op == Operator::Resp ? context.response_headers : context.response_trailers;
      if (piece.op == Operator::Resp && piece.argument == ":status") {
        if (context.status > 0) appendNumber(context.status, out);
        return;
      }
      std::string_view value = FormatContext::valueOf(headers, piece.argument);
      if (value.empty()) value = FormatContext::valueOf(headers, piece.alternative);
      out->append(value);
      return;
    }
    case Operator::StartTime:
      return appendTime(context.start_time_us, piece.argument, out);
    case Operator::Protocol:
      out->append(context.protocol);
      return;
    case Operator::UpstreamProtocol:
      out->append(context.upstream_protocol);
      return;
    case Operator::ResponseCode:
      return appendNumber(context.status, out);
    case Operator::ResponseCodeDetails:
      for (const char c : context.details) out->push_back(c == ' ' ? '_' : c);
      return;
    case Operator::ConnectionTerminationDetails:
      out->append(context.termination_details);
      return;
    case Operator::ResponseFlags:
    case Operator::ResponseFlagsLong:
      return context.flags.appendTo(out, piece.op == Operator::ResponseFlagsLong);
    case Operator::BytesReceived:
      return appendNumber(context.bytes_received, out);
    case Operator::BytesSent:
      return appendNumber(context.bytes_sent, out);
    case Operator::Duration:
    case Operator::CommonDuration:
      return appendMillis(context.duration_us, out);
    case Operator::RequestDuration:
      return appendMillis(context.request_end_us, out);
    case Operator::ResponseDuration:
      return appendMillis(context.response_begin_us, out);
    case Operator::ResponseTxDuration:
      if (context.response_begin_us == kUnknown || context.duration_us == kUnknown) return;
      return appendMillis(context.duration_us - context.response_begin_us, out);
    case Operator::UpstreamHost:
    case Operator::UpstreamRemoteAddress:
      return appendAddress(context.upstream_remote, true, out);
    case Operator::UpstreamRemoteAddressWithoutPort:
      return appendAddress(context.upstream_remote, false, out);
    case Operator::UpstreamRemotePort:
      return appendPort(context.upstream_remote, out);
    case Operator::UpstreamLocalAddress:
      return appendAddress(context.upstream_local, true, out);
    case Operator::UpstreamLocalAddressWithoutPort:
      return appendAddress(context.upstream_local, false, out);
    case Operator::UpstreamLocalPort:
      return appendPort(context.upstream_local, out);
    case Operator::DownstreamRemoteAddress:
      return appendAddress(context.downstream_remote, true, out);
    case Operator::DownstreamRemoteAddressWithoutPort:
      return appendAddress(context.downstream_remote, false, out);
    case Operator::DownstreamRemotePort:
      return appendPort(context.downstream_remote, out);
    case Operator::DownstreamDirectRemoteAddress:
      return appendAddress(context.downstream_direct_remote, true, out);
    case Operator::DownstreamDirectRemoteAddressWithoutPort:
      return appendAddress(context.downstream_direct_remote, false, out);
    case Operator::DownstreamDirectRemotePort:
      return appendPort(context.downstream_direct_remote, out);
    case Operator::DownstreamLocalAddress:
      return appendAddress(context.downstream_local, true, out);
    case Operator::DownstreamLocalAddressWithoutPort:
      return appendAddress(context.downstream_local, false, out);
    case Operator::DownstreamLocalPort:
      return appendPort(context.downstream_local, out);
    case Operator::UpstreamCluster:
      out->append(context.upstream_cluster);
      return;
    case Operator::UpstreamClusterRaw:
      out->append(context.upstream_cluster_raw);
      return;
    case Operator::UpstreamRequestAttemptCount:
      return appendNumber(context.attempts, out);
    case Operator::UpstreamTransportFailureReason:
      for (const char c : context.transport_failure) out->push_back(c == ' ' ? '_' : c);
      return;
    case Operator::UpstreamWireBytesSent:
      return appendNumber(context.upstream_wire_sent, out);
    case Operator::UpstreamWireBytesReceived:
      return appendNumber(context.upstream_wire_received, out);
    case Operator::UpstreamHeaderBytesSent:
      return appendNumber(context.upstream_header_sent, out);
    case Operator::UpstreamHeaderBytesReceived:
      return appendNumber(context.upstream_header_received, out);
    case Operator::DownstreamWireBytesSent:
      return appendNumber(context.downstream_wire_sent, out);
    case Operator::DownstreamWireBytesReceived:
      return appendNumber(context.downstream_wire_received, out);
    case Operator::DownstreamHeaderBytesSent:
      return appendNumber(context.downstream_header_sent, out);
    case Operator::DownstreamHeaderBytesReceived:
      return appendNumber(context.downstream_header_received, out);
    case Operator::RouteName:
      out->append(context.route_name);
      return;
    case Operator::FilterChainName:
      out->append(context.filter_chain_name);
      return;
    case Operator::ConnectionId:
      return appendNumber(context.connection_id, out);
    case Operator::StreamId:
      out->append(context.stream_id);
      return;
    case Operator::LocalReplyBody:
      out->append(context.local_reply_body);
      return;
    case Operator::Path:
      out->append(context.path);
      return;
    case Operator::QueryParam:
      out->append(queryParameter(context.path, piece.argument));
      return;
    case Operator::GrpcStatus:
      out->append(FormatContext::valueOf(context.response_trailers, "grpc-status"));
      return;
    case Operator::Absent:
    case Operator::RequestedServerName:
    case Operator::VirtualClusterName:
    case Operator::UniqueId:
    case Operator::RequestHeadersBytes:
    case Operator::ResponseHeadersBytes:
    case Operator::ResponseTrailersBytes:
      return;
  }
}

}  // namespace

const std::string* Format::literal() const {
  static const std::string kEmpty;
  if (pieces_.empty()) return &kEmpty;
  return pieces_.size() == 1 && pieces_[0].op == Operator::Literal ? &pieces_[0].argument : nullptr;
}

void Format::append(const FormatContext& context, bool dash, std::string* out) const {
  for (const plan::FormatPiece& piece : pieces_) {
    const size_t start = out->size();
    appendValue(piece, context, out);
    if (dash && out->size() == start && piece.op != Operator::Literal &&
        piece.op != Operator::LocalReplyBody) {
      out->push_back('-');
    }
    if (piece.max_length > 0 && out->size() - start > piece.max_length) {
      out->resize(start + piece.max_length);
    }
  }
}

void appendTime(uint64_t wall_us, std::string_view format, std::string* out) {
  const std::time_t seconds = static_cast<std::time_t>(wall_us / 1'000'000);
  std::tm utc;
  ::gmtime_r(&seconds, &utc);
  const auto fraction = [&](int digits) {
    char text[16];
    const int length = std::snprintf(text, sizeof(text), "%09llu",
                                     static_cast<unsigned long long>(wall_us % 1'000'000) * 1000);
    out->append(text, static_cast<size_t>(std::min(length, digits)));
  };
  if (format.empty()) {
    char text[64];
    out->append(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.", &utc));
    fraction(3);
    out->push_back('Z');
    return;
  }
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out->push_back(format[i]);
      continue;
    }
    const char c = format[++i];
    if (c >= '1' && c <= '9' && i + 1 < format.size() && format[i + 1] == 'f') {
      fraction(c - '0');
      ++i;
    } else if (c == 'f') {
      fraction(9);
    } else if (c == 's') {
      out->append(std::to_string(seconds));
    } else {
      const char piece[] = {'%', c, '\0'};
      char text[128];
      out->append(text, std::strftime(text, sizeof(text), piece, &utc));
    }
  }
}

}  // namespace fairlead::format
