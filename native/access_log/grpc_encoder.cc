// Entries of envoy.data.accesslog.v3, field by field.
#include <algorithm>
#include <map>
#include <utility>

#include "access_log/entry_encoder.h"
#include "access_log/struct_writer.h"
#include "base/proto_writer.h"
#include "format/head_bytes.h"

namespace fairlead::access_log {

namespace {

using format::FormatContext;
using format::ResponseFlag;
using format::TimePoint;
using net::TlsValue;

constexpr uint64_t kMicrosPerSecond = 1'000'000;

// Seconds and nanoseconds: a Timestamp, or a Duration.
void writeTime(uint32_t field, uint64_t micros, ProtoWriter* out) {
  ProtoWriter time;
  if (micros >= kMicrosPerSecond) time.number(1, micros / kMicrosPerSecond);
  if (micros % kMicrosPerSecond > 0) time.number(2, micros % kMicrosPerSecond * 1000);
  out->bytes(field, time.view());
}

void writeNumber(uint32_t field, uint64_t number, ProtoWriter* out) {
  if (number > 0) out->number(field, number);
}

void writeText(uint32_t field, std::string_view text, ProtoWriter* out) {
  if (!text.empty()) out->bytes(field, text);
}

// A UInt32Value.
void writeWrapped(uint32_t field, uint64_t number, ProtoWriter* out) {
  ProtoWriter value;
  writeNumber(1, number, &value);
  out->bytes(field, value.view());
}

void writeEntry(uint32_t field, std::string_view key, std::string_view value, ProtoWriter* out) {
  ProtoWriter entry;
  entry.bytes(1, key);
  entry.bytes(2, value);
  out->bytes(field, entry.view());
}

void writeAddress(uint32_t field, const net::Address* address, ProtoWriter* out) {
  if (!address) return;
  ProtoWriter inner;
  ProtoWriter whole;
  if (address->isIp()) {
    inner.bytes(2, address->ip());
    inner.number(3, address->port());
    whole.bytes(1, inner.view());
  } else if (address->isInternal()) {
    writeText(1, address->internalListener(), &inner);
    writeText(2, address->endpointId(), &inner);
    whole.bytes(3, inner.view());
  } else {
    writeText(1, address->ip(), &inner);
    whole.bytes(2, inner.view());
  }
  out->bytes(field, whole.view());
}

std::string tlsText(const net::TlsInfo& tls, TlsValue value) {
  std::string text;
  tls.append(value, &text);
  return text;
}

void writeNames(uint32_t kind, std::string_view names, ProtoWriter* out) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    ProtoWriter san;
    san.bytes(kind, name);
    out->bytes(1, san.view());
  }
}

// A CertificateProperties.
void writeCertificate(uint32_t field, const net::TlsInfo& tls, TlsValue uris, TlsValue dns,
                      TlsValue subject, std::string_view issuer, ProtoWriter* out) {
  ProtoWriter certificate;
  writeNames(1, tlsText(tls, uris), &certificate);
  writeNames(2, tlsText(tls, dns), &certificate);
  writeText(2, tlsText(tls, subject), &certificate);
  writeText(3, issuer, &certificate);
  out->bytes(field, certificate.view());
}

uint32_t tlsVersionNumber(std::string_view version) {
  if (version == "TLSv1") return 1;
  if (version == "TLSv1.1") return 2;
  if (version == "TLSv1.2") return 3;
  return version == "TLSv1.3" ? 4 : 0;
}

void writeTls(const FormatContext& context, ProtoWriter* out) {
  ProtoWriter tls;
  const net::TlsInfo* const info = context.downstream_tls;
  if (info) {
    writeNumber(1, tlsVersionNumber(tlsText(*info, TlsValue::Version)), &tls);
    writeWrapped(2, info->cipherNumber(), &tls);
  }
  writeText(3, context.requested_server_name, &tls);
  if (info) {
    writeCertificate(4, *info, TlsValue::LocalUriNames, TlsValue::LocalDnsNames,
                     TlsValue::LocalSubject, {}, &tls);
    writeCertificate(5, *info, TlsValue::PeerUriNames, TlsValue::PeerDnsNames,
                     TlsValue::PeerSubject, tlsText(*info, TlsValue::PeerIssuer), &tls);
    writeText(6, tlsText(*info, TlsValue::SessionId), &tls);
  }
  writeText(7, context.ja3, &tls);
  if (!tls.empty()) out->bytes(4, tls.view());
}

void writeFlags(const format::ResponseFlags& flags, ProtoWriter* out) {
  // Their numbers are those of the flags, in the order in which these came to be.
  constexpr uint32_t kDownstreamRemoteReset = 28;
  ProtoWriter message;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(ResponseFlag::DnsResolutionFailed); ++i) {
    const ResponseFlag flag = static_cast<ResponseFlag>(i);
    if (!flags.has(flag)) continue;
    if (flag == ResponseFlag::UnauthorizedExternalService) {
      ProtoWriter reason;
      reason.number(1, 1);
      message.bytes(i + 1, reason.view());
    } else {
      message.number(i + 1, 1);
    }
  }
  if (flags.has(ResponseFlag::DownstreamRemoteReset)) message.number(kDownstreamRemoteReset, 1);
  if (!message.empty()) out->bytes(16, message.view());
}

// What filters and listener filters have set: a Metadata.
void writeMetadata(const FormatContext& context, ProtoWriter* out) {
  std::map<std::string_view, std::string> spaces;
  if (context.metadata) {
    for (const auto& [name, values] : *context.metadata) {
      ProtoWriter fields;
      for (const auto& [key, value] : values) writeEntry(1, key, textValue(value), &fields);
      spaces[name] = fields.take();
    }
  }
  for (const format::SetMetadata& set : context.filter_metadata) {
    const format::FilterMetadata::Value* const all = set.metadata->find({});
    ProtoWriter fields;
    if (all && writeStruct(all->text, &fields)) spaces[set.space] = fields.take();
  }
  if (spaces.empty()) return;
  ProtoWriter metadata;
  for (const auto& [name, fields] : spaces) writeEntry(1, name, fields, &metadata);
  out->bytes(17, metadata.view());
}

// A StringValue within an Any.
void writeFilterState(std::string_view key, std::string_view text, ProtoWriter* out) {
  ProtoWriter value;
  value.bytes(1, text);
  ProtoWriter any;
  any.bytes(1, "type.googleapis.com/google.protobuf.StringValue");
  any.bytes(2, value.view());
  writeEntry(21, key, any.view(), out);
}

class GrpcEncoder final : public EntryEncoder {
 public:
  explicit GrpcEncoder(const plan::GrpcAccessLog& plan) : plan_(plan), tags_(plan.tags) {
    format::wantExchange();
  }

  void append(const FormatContext& context, std::string* out) const override {
    ProtoWriter entry;
    writeCommon(context, &entry);
    if (plan_.is_tcp) {
      ProtoWriter connection;
      writeNumber(1, context.bytes_received, &connection);
      writeNumber(2, context.bytes_sent, &connection);
      entry.bytes(2, connection.view());
    } else {
      writeNumber(2, versionOf(context.protocol), &entry);
      writeRequest(context, &entry);
      writeResponse(context, &entry);
    }
    appendVarint(out, 1 << 3 | 2);
    appendVarint(out, entry.view().size());
    out->append(entry.view());
  }

 private:
  static uint32_t versionOf(std::string_view protocol) {
    if (protocol == "HTTP/1.0") return 1;
    if (protocol == "HTTP/1.1") return 2;
    return protocol == "HTTP/2" ? 3 : 0;
  }
  static uint32_t methodOf(std::string_view method) {
    constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                             "CONNECT", "OPTIONS", "TRACE", "PATCH"};
    for (uint32_t i = 0; i < std::size(kMethods); ++i) {
      if (kMethods[i] == method) return i + 1;
    }
    return 0;
  }

  void writeCommon(const FormatContext& context, ProtoWriter* out) const;
  void writeRequest(const FormatContext& context, ProtoWriter* out) const;
  void writeResponse(const FormatContext& context, ProtoWriter* out) const;
  static void writeHeaders(uint32_t field, const std::vector<std::string>& names,
                           const http::HeaderMap* headers, ProtoWriter* out);

  const plan::GrpcAccessLog plan_;
  const LogTags tags_;
};

void GrpcEncoder::writeCommon(const FormatContext& context, ProtoWriter* entry) const {
  ProtoWriter out;
  writeAddress(2, context.downstream_remote, &out);
  writeAddress(3, context.downstream_local, &out);
  writeTls(context, &out);
  writeTime(5, context.start_time_us, &out);
  const auto moment = [&](uint32_t field, TimePoint point) {
    const uint64_t at = context.moment(point);
    if (at > 0 && at >= context.started_us) writeTime(field, at - context.started_us, &out);
  };
  moment(6, TimePoint::DownstreamRxEnd);
  moment(7, TimePoint::UpstreamTxBegin);
  moment(8, TimePoint::UpstreamTxEnd);
  moment(9, TimePoint::UpstreamRxBegin);
  moment(10, TimePoint::UpstreamRxEnd);
  moment(11, TimePoint::DownstreamTxBegin);
  moment(12, TimePoint::DownstreamTxEnd);
  writeAddress(13, context.upstream_host, &out);
  writeAddress(14, context.upstream_local, &out);
  writeText(15, context.upstream_host ? context.upstream_cluster_raw : std::string_view(), &out);
  writeFlags(context.flags, &out);
  writeMetadata(context, &out);
  writeText(18, context.transport_failure, &out);
  writeText(19, context.route_name, &out);
  writeAddress(20, context.downstream_direct_remote, &out);
  for (const std::string& key : plan_.filter_state_objects) {
    if (key == "envoy.filters.network.http_connection_manager.local_reply_owner" &&
        !context.local_reply_owner.empty()) {
      writeFilterState(key, context.local_reply_owner, &out);
    }
  }
  tags_.forEach(context, [&](std::string_view name, std::string_view value) {
    writeEntry(22, name, value, &out);
  });
  if (context.is_complete) writeTime(23, context.duration_us, &out);
  writeNumber(24, context.attempts, &out);
  writeText(25, context.termination_details, &out);
  writeText(26, context.stream_id, &out);
  if (!context.is_complete) out.number(27, 1);
  writeText(28, context.downstream_failure, &out);
  writeNumber(29, context.downstream.wire_sent, &out);
  writeNumber(30, context.downstream.wire_received, &out);
  writeNumber(31, context.upstream.wire_sent, &out);
  writeNumber(32, context.upstream.wire_received, &out);
  writeNumber(33, static_cast<uint32_t>(context.log_type), &out);
  entry->bytes(1, out.view());
}

void GrpcEncoder::writeHeaders(uint32_t field, const std::vector<std::string>& names,
                               const http::HeaderMap* headers, ProtoWriter* out) {
  if (!headers) return;
  for (const std::string& name : names) {
    std::string value;
    bool is_there = false;
    for (const http::HeaderEntry& entry : *headers) {
      if (entry.name() != name) continue;
      if (std::exchange(is_there, true)) value.push_back(',');
      value.append(entry.value());
    }
    if (is_there) writeEntry(field, name, value, out);
  }
}

void GrpcEncoder::writeRequest(const FormatContext& context, ProtoWriter* entry) const {
  ProtoWriter out;
  writeNumber(1, methodOf(context.method), &out);
  writeText(2, context.scheme, &out);
  writeText(3, context.authority, &out);
  writeText(5, context.path, &out);
  const auto header = [&](uint32_t field, std::string_view name) {
    writeText(field, context.requestHeader(name), &out);
  };
  header(6, "user-agent");
  header(7, "referer");
  header(8, "x-forwarded-for");
  header(9, "x-request-id");
  header(10, http::headerName(http::HeaderId::XEnvoyOriginalPath));
  writeNumber(11, format::requestBytes(context), &out);
  writeNumber(12, context.bytes_received, &out);
  for (const std::string& name : plan_.request_headers) {
    if (name.starts_with(':')) {
      const std::string_view value = context.requestHeader(name);
      if (!value.empty()) writeEntry(13, name, value, &out);
    } else {
      writeHeaders(13, {name}, context.request_headers, &out);
    }
  }
  writeNumber(14, context.upstream.header_sent, &out);
  writeNumber(15, context.downstream.header_received, &out);
  entry->bytes(3, out.view());
}

void GrpcEncoder::writeResponse(const FormatContext& context, ProtoWriter* entry) const {
  ProtoWriter out;
  if (context.status > 0) writeWrapped(1, context.status, &out);
  writeNumber(2, format::responseBytes(context), &out);
  writeNumber(3, context.bytes_sent, &out);
  for (const std::string& name : plan_.response_headers) {
    if (name == ":status") {
      if (context.status > 0) writeEntry(4, name, std::to_string(context.status), &out);
    } else {
      writeHeaders(4, {name}, context.response_headers, &out);
    }
  }
  writeHeaders(5, plan_.response_trailers, context.response_trailers, &out);
  writeText(6, context.details, &out);
  writeNumber(7, context.upstream.header_received, &out);
  writeNumber(8, context.downstream.header_sent, &out);
  entry->bytes(4, out.view());
}

}  // namespace

std::unique_ptr<const EntryEncoder> makeGrpcEncoder(const plan::GrpcAccessLog& plan) {
  return std::make_unique<GrpcEncoder>(plan);
}

}  // namespace fairlead::access_log
