// What operators put out: their values in what is known of a connection or a request.
#include <algorithm>

#include "base/json.h"
#include "base/random.h"
#include "base/wall_clock.h"
#include "format/append_number.h"
#include "format/connection_values.h"
#include "format/details.h"
#include "format/head_bytes.h"
#include "format/piece.h"
#include "http/query.h"
#include "http/request_id.h"
#include "net/downstream_connection.h"

namespace fairlead::format {

namespace {

using Context = FormatContext;

bool appendMillis(uint64_t micros, std::string* out) {
  if (micros == kUnknown) return false;
  appendNumber(micros / 1000, out);
  return true;
}

bool appendText(std::string_view text, std::string* out) {
  out->append(text);
  return !text.empty();
}

void appendUniqueId(std::string* out) {
  thread_local Random random;
  char text[http::kRequestIdBytes];
  out->append(http::writeRequestId(random, text));
}

}  // namespace

bool Piece::append(const Context& context, std::string* out) const {
  const size_t start = out->size();
  if (!appendValue(context, out)) return false;
  if (out->size() - start > max_length_) out->resize(start + max_length_);
  return true;
}

bool Piece::appendJson(const Context& context, std::string* out) const {
  if (kind_ == Kind::Coalesce) {
    const Piece* piece = chosen(context);
    return piece && piece->appendJson(context, out);
  }
  return appendValue(context, out);
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
    case Kind::Live:
      return appendText(live_->read(), out) || !is_variant_;
    case Kind::Details:
      if (!argument_.empty()) return appendText(context.*text_, out);
      if (context.*text_ == kEmptyDetails) return true;
      for (const char c : context.*text_) out->push_back(c == ' ' ? '_' : c);
      return !(context.*text_).empty();
    case Kind::LocalReplyBody:
      out->append(context.local_reply_body);
      return true;
    case Kind::Number:
      appendNumber(context.*number_, out);
      return true;
    case Kind::MeteredBytes:
      if (metered_lines_) {
        appendNumber((context.*meter_).*metered_lines_, out);
      } else {
        appendNumber((context.*meter_).*metered_, out);
      }
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
      if (context.response_begin_us == kUnknown || context.response_end_us == kUnknown) {
        return false;
      }
      return appendMillis(context.response_end_us - context.response_begin_us, out);
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
    case Kind::Configured:
      return appendMetadata(context, out);
    case Kind::FilterState:
      return appendFilterState(context, out);
    case Kind::Tlv:
      return appendConnectionValue(context.tlvs, argument_, out);
    case Kind::Tls:
    case Kind::TlsStart:
    case Kind::TlsEnd:
      return appendTls(context, out);
    case Kind::EmitTime:
      time_.append(wallClockMicros(), out);
      return true;
    case Kind::Zero:
      out->push_back('0');
      return true;
    case Kind::RouteTime:
    case Kind::RouteCount: {
      const Exchange* const noted = context.exchange;
      if (!noted || noted->routes == 0) return false;
      appendNumber(kind_ == Kind::RouteTime ? noted->route_us : noted->routes, out);
      return true;
    }
    case Kind::LogType:
      out->append(logTypeName(context.log_type));
      return true;
    case Kind::ConnectionId:
      appendNumber(context.exchange ? context.exchange->connectionId() : 0, out);
      return true;
    case Kind::RoundTrip:
      appendNumber(context.connection ? context.connection->roundTripMs() : 0, out);
      return true;
    case Kind::ReplyOwner:
      if (!is_variant_) return appendText(context.local_reply_owner, out);
      if (!context.local_reply_owner.empty()) appendJsonString(out, context.local_reply_owner);
      return !context.local_reply_owner.empty();
    case Kind::Between:
    case Kind::Moment:
      return appendBetween(context, out);
    case Kind::Handshake:
      // Most often it was before the request.
      if (context.handshake_at_us == 0 || context.started_us == 0) return false;
      appendNumber(static_cast<int64_t>(context.handshake_at_us - context.started_us) / 1000, out);
      return true;
    case Kind::HostName:
      return appendHostName(context, out);
    case Kind::Tried:
      return appendTried(context, out);
    case Kind::TriedIds:
      return appendTriedIds(context, out);
    case Kind::Close:
      return appendClose(context, out);
    case Kind::EndpointId:
      if (const net::Address* address = context.*address_) out->append(address->endpointId());
      return context.*address_ != nullptr;
    case Kind::Query:
      return appendQuery(context, out);
    case Kind::ClientCertValue:
      return appendClientCertValue(context, out);
    case Kind::ServerName:
      return appendServerName(context, out);
    case Kind::WithoutQuery: {
      const size_t start = out->size();
      if (!appendHeader(context, out)) return false;
      out->resize(std::min(out->find('?', start), out->size()));
      return true;
    }
    case Kind::Coalesce: {
      const Piece* piece = chosen(context);
      return piece && piece->append(context, out);
    }
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
    if (kind_ == Kind::RequestHeader || kind_ == Kind::WithoutQuery) {
      if (context.requestHeader(name, &value)) return true;
      // A host may be there and be empty.
      return name.kind() == HeaderName::Kind::Authority && value.data() != nullptr;
    }
    const bool of_response = kind_ == Kind::ResponseHeader;
    return Context::find(of_response ? context.response_headers : context.response_trailers, name,
                         &value);
  };
  const uint16_t status = context.status > 0 ? context.status : context.head_status;
  if (kind_ == Kind::ResponseHeader && header_.text() == ":status" && status > 0 &&
      !context.is_head_new) {
    appendNumber(uint64_t{status}, out);
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
    // As the real server: those of pipes and internal ones have a port, which is nothing.
    return true;
  }
  if (kind_ == Kind::Ip && prefix_length_) return appendNetwork(*address, out);
  char text[net::Address::kTextBytes];
  return appendText(kind_ == Kind::Ip ? address->writeIp(text) : address->writeText(text), out);
}

bool Piece::appendPath(const Context& context, std::string* out) const {
  static const HeaderName kOriginal{
      std::string(http::headerName(http::HeaderId::XEnvoyOriginalPath))};
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
  thread_local std::string room;
  const auto value = http::queryParameter(context.path.substr(query + 1), argument_, &room);
  if (value) out->append(*value);
  return value.has_value();
}

std::optional<int64_t> FormatContext::grpcStatus() const {
  static const HeaderName kGrpcStatus{"grpc-status"};
  std::string_view text;
  const bool is_said =
      find(response_trailers, kGrpcStatus, &text) || find(response_headers, kGrpcStatus, &text);
  if (is_said && !text.empty()) return parseGrpcStatus(text);
  if (status > 0) return grpcStatusOfHttp(status);
  return std::nullopt;
}

// Only of gRPC requests.
bool Piece::appendGrpcStatus(const Context& context, std::string* out) const {
  static const HeaderName kContentType{"content-type"};
  std::string_view type;
  if (!Context::find(context.request_headers, kContentType, &type) || !isGrpcContentType(type)) {
    return false;
  }
  const std::optional<int64_t> status = context.grpcStatus();
  if (!status) return false;
  const std::string_view name = grpcStatusName(*status, grpc_style_);
  if (name.empty()) {
    appendNumber(*status, out);
  } else {
    out->append(name);
  }
  return true;
}

}  // namespace fairlead::format
