#include "format/piece.h"

#include <algorithm>

#include "format/tls_values.h"

namespace fairlead::format {

namespace {

using Operator = plan::FormatPiece::Operator;
using Context = FormatContext;
using Meter = http::ByteMeter;

}  // namespace

// What the operators that only read the context read.
struct Piece::Source {
  Operator op;
  Kind kind;
  std::string_view Context::* text = nullptr;
  uint64_t Context::* number = nullptr;
  const net::Address* Context::* address = nullptr;
  Meter Context::* meter = nullptr;
  uint64_t Meter::* metered = nullptr;
  uint32_t Meter::* lines = nullptr;
  const net::TlsInfo* Context::* tls = nullptr;
  CloseType Context::* close = nullptr;
  TimePoint point = TimePoint::kCount;
  // See is_variant_.
  bool is_variant = false;
};

const Piece::Source* Piece::sourceOf(Operator op) {
  using Op = Operator;
  const auto text = [](Op op, std::string_view Context::* member, Kind kind = Kind::Text) {
    return Source{.op = op, .kind = kind, .text = member};
  };
  const auto number = [](Op op, uint64_t Context::* member, Kind kind = Kind::Number) {
    return Source{.op = op, .kind = kind, .number = member};
  };
  const auto address = [](Op op, Kind kind, const net::Address* Context::* member) {
    return Source{.op = op, .kind = kind, .address = member};
  };
  const auto bytes = [](Op op, Meter Context::* meter, uint64_t Meter::* metered) {
    return Source{.op = op, .kind = Kind::MeteredBytes, .meter = meter, .metered = metered};
  };
  const auto lines = [](Op op, Meter Context::* meter, uint32_t Meter::* lines) {
    return Source{.op = op, .kind = Kind::MeteredBytes, .meter = meter, .lines = lines};
  };
  const auto other = [](Op op, Kind kind, bool is_variant = false) {
    return Source{.op = op, .kind = kind, .is_variant = is_variant};
  };
  const auto moment = [](Op op, TimePoint point) {
    return Source{.op = op, .kind = Kind::Moment, .point = point};
  };
  const auto close = [](Op op, CloseType Context::* member) {
    return Source{.op = op, .kind = Kind::Close, .close = member};
  };
  // By names of hosts, or by addresses.
  const auto tried = [](Op op, bool with_port, bool by_name) {
    return Source{.op = op,
                  .kind = Kind::Tried,
                  .text = by_name ? &Context::upstream_host_name : nullptr,
                  .is_variant = with_port};
  };
  const auto tls = [](Op op, Kind kind, const net::TlsInfo* Context::* member) {
    return Source{.op = op, .kind = kind, .tls = member};
  };
  static const Source kSources[] = {
      other(Op::Literal, Kind::Literal),
      other(Op::Req, Kind::RequestHeader),
      other(Op::Resp, Kind::ResponseHeader),
      other(Op::Trailer, Kind::ResponseTrailer),
      other(Op::StartTime, Kind::StartTime),
      text(Op::Protocol, &Context::protocol),
      other(Op::ResponseCode, Kind::Status),
      text(Op::ResponseCodeDetails, &Context::details, Kind::Details),
      other(Op::ResponseFlags, Kind::Flags),
      other(Op::ResponseFlagsLong, Kind::LongFlags),
      number(Op::BytesReceived, &Context::bytes_received),
      number(Op::BytesSent, &Context::bytes_sent),
      number(Op::Duration, &Context::duration_us, Kind::Duration),
      other(Op::CommonDuration, Kind::Between),
      number(Op::RequestDuration, &Context::request_end_us, Kind::Duration),
      number(Op::ResponseDuration, &Context::response_begin_us, Kind::Duration),
      other(Op::ResponseTxDuration, Kind::ResponseTxDuration),
      address(Op::UpstreamHost, Kind::Address, &Context::upstream_host),
      text(Op::UpstreamCluster, &Context::upstream_cluster),
      text(Op::UpstreamClusterRaw, &Context::upstream_cluster_raw),
      address(Op::UpstreamLocalAddress, Kind::Address, &Context::upstream_local),
      address(Op::UpstreamLocalAddressWithoutPort, Kind::Ip, &Context::upstream_local),
      address(Op::UpstreamLocalPort, Kind::Port, &Context::upstream_local),
      address(Op::UpstreamRemoteAddress, Kind::Address, &Context::upstream_remote),
      address(Op::UpstreamRemoteAddressWithoutPort, Kind::Ip, &Context::upstream_remote),
      address(Op::UpstreamRemotePort, Kind::Port, &Context::upstream_remote),
      text(Op::UpstreamProtocol, &Context::upstream_protocol),
      other(Op::UpstreamRequestAttemptCount, Kind::Attempts),
      text(Op::UpstreamTransportFailureReason, &Context::transport_failure, Kind::Details),
      bytes(Op::UpstreamWireBytesSent, &Context::upstream, &Meter::wire_sent),
      bytes(Op::UpstreamWireBytesReceived, &Context::upstream, &Meter::wire_received),
      lines(Op::UpstreamHeaderBytesSent, &Context::upstream, &Meter::header_sent),
      lines(Op::UpstreamHeaderBytesReceived, &Context::upstream, &Meter::header_received),
      address(Op::DownstreamRemoteAddress, Kind::Address, &Context::downstream_remote),
      address(Op::DownstreamRemoteAddressWithoutPort, Kind::Ip, &Context::downstream_remote),
      address(Op::DownstreamRemotePort, Kind::Port, &Context::downstream_remote),
      address(Op::DownstreamDirectRemoteAddress, Kind::Address, &Context::downstream_direct_remote),
      address(Op::DownstreamDirectRemoteAddressWithoutPort, Kind::Ip,
              &Context::downstream_direct_remote),
      address(Op::DownstreamDirectRemotePort, Kind::Port, &Context::downstream_direct_remote),
      address(Op::DownstreamLocalAddress, Kind::Address, &Context::downstream_local),
      address(Op::DownstreamLocalAddressWithoutPort, Kind::Ip, &Context::downstream_local),
      address(Op::DownstreamLocalPort, Kind::Port, &Context::downstream_local),
      address(Op::DownstreamDirectLocalAddress, Kind::Address, &Context::downstream_direct_local),
      address(Op::DownstreamDirectLocalAddressWithoutPort, Kind::Ip,
              &Context::downstream_direct_local),
      address(Op::DownstreamDirectLocalPort, Kind::Port, &Context::downstream_direct_local),
      bytes(Op::DownstreamWireBytesSent, &Context::downstream, &Meter::wire_sent),
      bytes(Op::DownstreamWireBytesReceived, &Context::downstream, &Meter::wire_received),
      lines(Op::DownstreamHeaderBytesSent, &Context::downstream, &Meter::header_sent),
      lines(Op::DownstreamHeaderBytesReceived, &Context::downstream, &Meter::header_received),
      text(Op::RouteName, &Context::route_name),
      text(Op::VirtualClusterName, &Context::virtual_cluster),
      number(Op::ConnectionId, &Context::connection_id),
      text(Op::StreamId, &Context::stream_id),
      text(Op::TraceId, &Context::trace_id),
      text(Op::SpanId, &Context::span_id),
      text(Op::ConnectionTerminationDetails, &Context::termination_details),
      text(Op::FilterChainName, &Context::filter_chain_name),
      other(Op::LocalReplyBody, Kind::LocalReplyBody),
      other(Op::Path, Kind::Path),
      other(Op::QueryParam, Kind::QueryParameter),
      other(Op::GrpcStatus, Kind::GrpcStatus),
      other(Op::UniqueId, Kind::UniqueId),
      other(Op::RequestHeadersBytes, Kind::RequestHeaderBytes),
      other(Op::ResponseHeadersBytes, Kind::ResponseHeaderBytes),
      other(Op::ResponseTrailersBytes, Kind::ResponseTrailerBytes),
      other(Op::DynamicMetadata, Kind::Metadata),
      other(Op::ProxyProtocolTlv, Kind::Tlv),
      other(Op::FilterState, Kind::FilterState),
      text(Op::TunnelResponseHeaders, &Context::tunnel_headers),
      text(Op::TunnelResponseTrailers, &Context::tunnel_trailers),
      tls(Op::DownstreamTls, Kind::Tls, &Context::downstream_tls),
      tls(Op::UpstreamTls, Kind::Tls, &Context::upstream_tls),
      tls(Op::DownstreamPeerCertVStart, Kind::TlsStart, &Context::downstream_tls),
      tls(Op::DownstreamPeerCertVEnd, Kind::TlsEnd, &Context::downstream_tls),
      tls(Op::UpstreamPeerCertVStart, Kind::TlsStart, &Context::upstream_tls),
      tls(Op::UpstreamPeerCertVEnd, Kind::TlsEnd, &Context::upstream_tls),
      text(Op::DownstreamTransportFailureReason, &Context::downstream_failure, Kind::Details),
      text(Op::RequestedServerName, &Context::requested_server_name),
      text(Op::TlsJa3Fingerprint, &Context::ja3),
      text(Op::TlsJa4Fingerprint, &Context::ja4),
      other(Op::EmitTime, Kind::EmitTime),
      moment(Op::RequestTxDuration, TimePoint::UpstreamTxEnd),
      moment(Op::UpstreamConnectionPoolReadyDuration, TimePoint::PoolReady),
      other(Op::DownstreamHandshakeDuration, Kind::Handshake),
      other(Op::Zero, Kind::Zero),
      other(Op::RouteResolutionTimeUs, Kind::RouteTime),
      other(Op::RouteResolutionCount, Kind::RouteCount),
      other(Op::UpstreamHostName, Kind::HostName, true),
      other(Op::UpstreamHostNameWithoutPort, Kind::HostName),
      other(Op::UpstreamConnectionId, Kind::ConnectionId),
      lines(Op::UpstreamDecompressedHeaderBytesSent, &Context::upstream, &Meter::plain_sent),
      lines(Op::UpstreamDecompressedHeaderBytesReceived, &Context::upstream,
            &Meter::plain_received),
      lines(Op::DownstreamDecompressedHeaderBytesSent, &Context::downstream, &Meter::plain_sent),
      lines(Op::DownstreamDecompressedHeaderBytesReceived, &Context::downstream,
            &Meter::plain_received),
      close(Op::UpstreamDetectedCloseType, &Context::upstream_close),
      close(Op::DownstreamDetectedCloseType, &Context::downstream_close),
      text(Op::UpstreamLocalCloseReason, &Context::upstream_close_reason),
      text(Op::DownstreamLocalCloseReason, &Context::downstream_close_reason),
      tried(Op::UpstreamHostsAttempted, true, false),
      tried(Op::UpstreamHostsAttemptedWithoutPort, false, false),
      tried(Op::UpstreamHostNamesAttempted, true, true),
      tried(Op::UpstreamHostNamesAttemptedWithoutPort, false, true),
      other(Op::UpstreamConnectionIdsAttempted, Kind::TriedIds),
      address(Op::DownstreamLocalAddressEndpointId, Kind::EndpointId, &Context::downstream_local),
      address(Op::DownstreamDirectLocalAddressEndpointId, Kind::EndpointId,
              &Context::downstream_direct_local),
      address(Op::UpstreamRemoteAddressEndpointId, Kind::EndpointId, &Context::upstream_remote),
      other(Op::DownstreamCxRtt, Kind::RoundTrip),
      other(Op::QueryParams, Kind::Query),
      other(Op::Metadata, Kind::Configured),
      other(Op::Coalesce, Kind::Coalesce),
      other(Op::XfccValue, Kind::ClientCertValue),
      other(Op::AccessLogType, Kind::LogType),
      other(Op::ReqWithoutQuery, Kind::WithoutQuery),
      other(Op::LocalReplyOwner, Kind::ReplyOwner),
      other(Op::ServerNameOfRequest, Kind::ServerName),
      other(Op::LiveText, Kind::Live),
  };
  for (const Source& source : kSources) {
    if (source.op == op) return &source;
  }
  // Of virtual clusters, or meant to be absent.
  return nullptr;
}

Piece::Piece(const plan::FormatPiece& plan)
    : metadata_source_(plan.metadata_source),
      max_length_(plan.max_length.value_or(UINT32_MAX)),
      prefix_length_(plan.prefix_length) {
  const Source* source = sourceOf(plan.op);
  if (!source) return;
  kind_ = source->kind;
  is_variant_ = source->is_variant;
  close_ = source->close;
  to_ = source->point;
  text_ = source->text;
  number_ = source->number;
  address_ = source->address;
  tls_ = source->tls;
  meter_ = source->meter;
  metered_ = source->metered;
  metered_lines_ = source->lines;
  switch (kind_) {
    case Kind::RequestHeader:
    case Kind::ResponseHeader:
    case Kind::ResponseTrailer:
    case Kind::WithoutQuery:
      header_ = HeaderName(plan.argument);
      alternative_ = HeaderName(plan.alternative);
      return;
    case Kind::StartTime:
    case Kind::EmitTime:
    case Kind::TlsStart:
    case Kind::TlsEnd:
      time_ = TimeFormat(plan.argument, plan.local_time);
      return;
    case Kind::Between:
      parseDuration(plan.argument);
      return;
    case Kind::Moment:
    case Kind::RouteTime:
    case Kind::RouteCount:
    case Kind::ConnectionId:
    case Kind::Tried:
    case Kind::TriedIds:
      wantExchange();
      return;
    case Kind::Query:
      is_variant_ = plan.argument == "DECODED";
      return;
    case Kind::ReplyOwner:
      is_variant_ = plan.argument == "TYPED";
      return;
    case Kind::Live:
      is_variant_ = plan.argument == "SECRET";
      live_ = LiveText::of(plan.live_text.value_or(plan::LiveText()));
      return;
    case Kind::Coalesce:
      for (const plan::FormatPiece& one : plan.alternatives) alternatives_.emplace_back(one);
      return;
    case Kind::Tls:
      if (const auto value = parseTlsValue(plan.argument)) {
        tls_value_ = *value;
      } else {
        kind_ = Kind::Absent;
      }
      return;
    case Kind::Path:
      parsePath(plan.argument);
      return;
    case Kind::GrpcStatus:
      if (plan.argument == "SNAKE_STRING") grpc_style_ = GrpcStatusStyle::Snake;
      if (plan.argument == "NUMBER") grpc_style_ = GrpcStatusStyle::Number;
      return;
    case Kind::FilterState:
      net::wantFilterState();
      [[fallthrough]];
    case Kind::Metadata:
    case Kind::Configured:
      key_ = plan.alternative;
      [[fallthrough]];
    default:
      argument_ = plan.argument;
  }
}

// "WQ:ORIG": with its query or without ("NQ"); the path before rewrites, after them ("PATH"), or
// the first of the two that is there ("ORIG_OR_PATH").
void Piece::parsePath(std::string_view argument) {
  with_query_ = !argument.starts_with("NQ");
  const std::string_view source = argument.substr(std::min(argument.find(':'), argument.size()));
  if (source == ":ORIG") path_source_ = PathSource::Original;
  if (source == ":PATH") path_source_ = PathSource::Current;
}

bool Piece::isJson(const FormatContext& context) const {
  switch (kind_) {
    case Kind::Number:
    case Kind::MeteredBytes:
    case Kind::Status:
    case Kind::Attempts:
    case Kind::Duration:
    case Kind::ResponseTxDuration:
    case Kind::Port:
    case Kind::RequestHeaderBytes:
    case Kind::ResponseHeaderBytes:
    case Kind::ResponseTrailerBytes:
    case Kind::Between:
    case Kind::Moment:
    case Kind::Handshake:
    case Kind::Zero:
    case Kind::RouteTime:
    case Kind::RouteCount:
    case Kind::ConnectionId:
    case Kind::RoundTrip:
      return true;
    case Kind::GrpcStatus:
      return grpc_style_ == GrpcStatusStyle::Number;
    case Kind::Metadata: {
      const FilterMetadata::Value* value = filterMetadata(context);
      return value ? value->is_json : key_.empty();
    }
    case Kind::Configured: {
      const plan::MetadataValue* value = configured(context);
      return value && value->is_json;
    }
    case Kind::Coalesce: {
      const Piece* piece = chosen(context);
      return piece && piece->isJson(context);
    }
    case Kind::FilterState:
      return key_ == kTypedState &&
             (max_length_ == UINT32_MAX || max_length_ == 0 || stateObject(context));
    case Kind::Tlv:
      return argument_.empty();
    case Kind::ReplyOwner:
      return is_variant_;
    case Kind::Text:
      return text_ == &Context::tunnel_headers || text_ == &Context::tunnel_trailers;
    default:
      return false;
  }
}

bool Piece::readsRequestHead() const {
  switch (kind_) {
    case Kind::RequestHeader:
    case Kind::RequestHeaderBytes:
    case Kind::Path:
    case Kind::QueryParameter:
    case Kind::GrpcStatus:
    case Kind::Query:
    case Kind::ClientCertValue:
    case Kind::WithoutQuery:
    case Kind::ServerName:
      return true;
    case Kind::Coalesce:
      return std::any_of(alternatives_.begin(), alternatives_.end(),
                         [](const Piece& piece) { return piece.readsRequestHead(); });
    default:
      return text_ == &Context::stream_id;
  }
}

bool Piece::readsResponseHead() const {
  if (kind_ == Kind::Coalesce) {
    return std::any_of(alternatives_.begin(), alternatives_.end(),
                       [](const Piece& piece) { return piece.readsResponseHead(); });
  }
  return kind_ == Kind::ResponseHeader || kind_ == Kind::ResponseHeaderBytes ||
         kind_ == Kind::ResponseTrailer || kind_ == Kind::ResponseTrailerBytes ||
         kind_ == Kind::GrpcStatus;
}

}  // namespace fairlead::format
