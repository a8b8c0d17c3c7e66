#include "format/piece.h"

#include <algorithm>
#include <charconv>
#include <ranges>

#include "base/random.h"
#include "format/connection_values.h"
#include "format/tls_values.h"
#include "proxy/request_id.h"

namespace fairlead::format {

namespace {

using Operator = plan::FormatPiece::Operator;
using Context = FormatContext;
using Meter = http::ByteMeter;

constexpr std::string_view kOriginalPath = "x-envoy-original-path";

void appendNumber(int64_t value, std::string* out) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void appendNumber(uint64_t value, std::string* out) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

bool appendMillis(uint64_t micros, std::string* out) {
  if (micros == kUnknown) return false;
  appendNumber(micros / 1000, out);
  return true;
}

bool appendText(std::string_view text, std::string* out) {
  out->append(text);
  return !text.empty();
}

uint64_t bytesOf(const http::HeaderMap* headers) {
  uint64_t bytes = 0;
  if (!headers) return 0;
  for (const http::HeaderEntry& entry : *headers) {
    if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
  }
  return bytes;
}

// With the pseudo headers that are not in the map.
uint64_t requestBytes(const Context& context) {
  if (!context.request_headers) return 0;
  uint64_t bytes = bytesOf(context.request_headers);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) bytes += name.size() + value.size();
  };
  add(":method", context.method);
  add(":path", context.path);
  add(":authority", context.authority);
  add(":scheme", context.scheme);
  return bytes;
}

uint64_t responseBytes(const Context& context) {
  if (!context.response_headers) return 0;
  return bytesOf(context.response_headers) + std::string_view(":status").size() + 3;
}

void appendUniqueId(std::string* out) {
  thread_local Random random;
  char text[proxy::kRequestIdBytes];
  out->append(proxy::writeRequestId(random, text));
}

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
  const net::TlsInfo* Context::* tls = nullptr;
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
  const auto other = [](Op op, Kind kind) { return Source{.op = op, .kind = kind}; };
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
      number(Op::CommonDuration, &Context::duration_us, Kind::Duration),
      number(Op::RequestDuration, &Context::request_end_us, Kind::Duration),
      number(Op::ResponseDuration, &Context::response_begin_us, Kind::Duration),
      other(Op::ResponseTxDuration, Kind::ResponseTxDuration),
      address(Op::UpstreamHost, Kind::Address, &Context::upstream_remote),
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
      bytes(Op::UpstreamHeaderBytesSent, &Context::upstream, &Meter::header_sent),
      bytes(Op::UpstreamHeaderBytesReceived, &Context::upstream, &Meter::header_received),
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
      bytes(Op::DownstreamHeaderBytesSent, &Context::downstream, &Meter::header_sent),
      bytes(Op::DownstreamHeaderBytesReceived, &Context::downstream, &Meter::header_received),
      text(Op::RouteName, &Context::route_name),
      number(Op::ConnectionId, &Context::connection_id),
      text(Op::StreamId, &Context::stream_id),
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
  };
  for (const Source& source : kSources) {
    if (source.op == op) return &source;
  }
  // Of virtual clusters, or meant to be absent.
  return nullptr;
}

Piece::Piece(const plan::FormatPiece& plan) : max_length_(plan.max_length) {
  const Source* source = sourceOf(plan.op);
  if (!source) return;
  kind_ = source->kind;
  text_ = source->text;
  number_ = source->number;
  address_ = source->address;
  tls_ = source->tls;
  meter_ = source->meter;
  metered_ = source->metered;
  switch (kind_) {
    case Kind::RequestHeader:
    case Kind::ResponseHeader:
    case Kind::ResponseTrailer:
      header_ = HeaderName(plan.argument);
      alternative_ = HeaderName(plan.alternative);
      return;
    case Kind::StartTime:
    case Kind::TlsStart:
    case Kind::TlsEnd:
      time_ = TimeFormat(plan.argument);
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
    case Kind::Metadata:
      key_ = plan.alternative;
      [[fallthrough]];
    default:
      argument_ = plan.argument;
  }
}

// Null: no HTTP filter has set any.
const FilterMetadata::Value* Piece::filterMetadata(const FormatContext& context) const {
  for (const SetMetadata& set : std::views::reverse(context.filter_metadata)) {
    if (set.space == argument_) return set.metadata->find(key_);
  }
  return nullptr;
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
      return true;
    case Kind::GrpcStatus:
      return grpc_style_ == GrpcStatusStyle::Number;
    case Kind::Metadata: {
      const FilterMetadata::Value* value = filterMetadata(context);
      return max_length_ == 0 && (value ? value->is_json : key_.empty());
    }
    case Kind::Tlv:
      return argument_.empty() && max_length_ == 0;
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
      return true;
    default:
      return text_ == &Context::stream_id;
  }
}

bool Piece::readsResponseHead() const {
  return kind_ == Kind::ResponseHeader || kind_ == Kind::ResponseHeaderBytes ||
         kind_ == Kind::GrpcStatus;
}

bool Piece::append(const Context& context, std::string* out) const {
  const size_t start = out->size();
  if (!appendValue(context, out)) return false;
  if (max_length_ > 0 && out->size() - start > max_length_) out->resize(start + max_length_);
  return true;
}

bool Piece::appendValue(const Context& context, std::string* out) const {
  switch (kind_) {
    case Kind::Absent:
      return false;
    case Kind::Literal:
      out->append(argument_);
      return true;
    case Kind::Text:
      return appendText(context.*text_, out);
    case Kind::Details:
      for (const char c : context.*text_) out->push_back(c == ' ' ? '_' : c);
      return !(context.*text_).empty();
    case Kind::LocalReplyBody:
      return true;
    case Kind::Number:
      appendNumber(context.*number_, out);
      return true;
    case Kind::MeteredBytes:
      appendNumber((context.*meter_).*metered_, out);
      return true;
    case Kind::Status:
      appendNumber(uint64_t{context.status}, out);
      return true;
    case Kind::Attempts:
      appendNumber(uint64_t{context.attempts}, out);
      return true;
    case Kind::Duration:
      return appendMillis(context.*number_, out);
    case Kind::ResponseTxDuration:
      if (context.response_begin_us == kUnknown || context.duration_us == kUnknown) return false;
      return appendMillis(context.duration_us - context.response_begin_us, out);
    case Kind::Address:
    case Kind::Ip:
    case Kind::Port:
      return appendAddress(context, out);
    case Kind::RequestHeader:
    case Kind::ResponseHeader:
    case Kind::ResponseTrailer:
      return appendHeader(context, out);
    case Kind::RequestHeaderBytes:
      appendNumber(requestBytes(context), out);
      return true;
    case Kind::ResponseHeaderBytes:
      appendNumber(responseBytes(context), out);
      return true;
    case Kind::ResponseTrailerBytes:
      appendNumber(bytesOf(context.response_trailers), out);
      return true;
    case Kind::StartTime:
      time_.append(context.start_time_us, out);
      return true;
    case Kind::Flags:
    case Kind::LongFlags:
      context.flags.appendTo(out, kind_ == Kind::LongFlags);
      return true;
    case Kind::Path:
      return appendPath(context, out);
    case Kind::QueryParameter:
      return appendQueryParameter(context, out);
    case Kind::GrpcStatus:
      return appendGrpcStatus(context, out);
    case Kind::UniqueId:
      appendUniqueId(out);
      return true;
    case Kind::Metadata:
      if (const FilterMetadata::Value* value = filterMetadata(context)) {
        out->append(value->text);
        return true;
      }
      return appendConnectionValue(valuesOf(context.metadata, argument_), key_, out);
    case Kind::Tlv:
      return appendConnectionValue(context.tlvs, argument_, out);
    case Kind::Tls:
    case Kind::TlsStart:
    case Kind::TlsEnd:
      return appendTls(context, out);
  }
  return false;
}

bool Piece::appendTls(const Context& context, std::string* out) const {
  const net::TlsInfo* tls = context.*tls_;
  if (!tls) return false;
  if (kind_ == Kind::Tls) return tls->append(tls_value_, out);
  const auto seconds = kind_ == Kind::TlsStart ? tls->peerValidFrom() : tls->peerValidTo();
  if (!seconds || *seconds < 0) return false;
  time_.append(static_cast<uint64_t>(*seconds) * 1'000'000, out);
  return true;
}

bool Piece::appendHeader(const Context& context, std::string* out) const {
  std::string_view value;
  const auto look = [&](const HeaderName& name) {
    if (name.empty()) return false;
    if (kind_ == Kind::RequestHeader) return context.requestHeader(name, &value);
    const bool of_response = kind_ == Kind::ResponseHeader;
    return Context::find(of_response ? context.response_headers : context.response_trailers, name,
                         &value);
  };
  if (kind_ == Kind::ResponseHeader && header_.text() == ":status" && context.status > 0) {
    appendNumber(uint64_t{context.status}, out);
    return true;
  }
  if (!look(header_) && !look(alternative_)) return false;
  out->append(value);
  return true;
}

bool Piece::appendAddress(const Context& context, std::string* out) const {
  const net::Address* address = context.*address_;
  if (!address) return false;
  if (kind_ == Kind::Port) {
    if (address->isIp()) appendNumber(uint64_t{address->port()}, out);
    return address->isIp();
  }
  char text[net::Address::kTextBytes];
  return appendText(kind_ == Kind::Ip ? address->writeIp(text) : address->writeText(text), out);
}

bool Piece::appendPath(const Context& context, std::string* out) const {
  static const HeaderName kOriginal{std::string(kOriginalPath)};
  std::string_view path;
  const bool has_original = path_source_ != PathSource::Current &&
                            Context::find(context.request_headers, kOriginal, &path);
  if (!has_original) {
    if (path_source_ == PathSource::Original) return false;
    path = context.path;
  }
  return appendText(with_query_ ? path : path.substr(0, path.find('?')), out);
}

bool Piece::appendQueryParameter(const Context& context, std::string* out) const {
  const size_t query = context.path.find('?');
  if (query == std::string_view::npos) return false;
  std::string_view rest = context.path.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == argument_) {
      if (equals != std::string_view::npos) out->append(pair.substr(equals + 1));
      return true;
    }
    rest.remove_prefix(pair.size() == rest.size() ? pair.size() : pair.size() + 1);
  }
  return false;
}

// Only of gRPC requests. A response may have its status in the trailers, or have no body and then
// in the headers; else HTTP's tells.
bool Piece::appendGrpcStatus(const Context& context, std::string* out) const {
  static const HeaderName kContentType{"content-type"};
  static const HeaderName kGrpcStatus{"grpc-status"};
  std::string_view type;
  if (!Context::find(context.request_headers, kContentType, &type) || !isGrpcContentType(type)) {
    return false;
  }
  std::string_view text;
  int64_t status = 0;
  if (Context::find(context.response_trailers, kGrpcStatus, &text) ||
      Context::find(context.response_headers, kGrpcStatus, &text)) {
    status = parseGrpcStatus(text);
  } else if (context.status > 0) {
    status = grpcStatusOfHttp(context.status);
  } else {
    return false;
  }
  const std::string_view name = grpcStatusName(status, grpc_style_);
  if (name.empty()) {
    appendNumber(status, out);
  } else {
    out->append(name);
  }
  return true;
}

}  // namespace fairlead::format
