#include "filters/http/ext_authz_check.h"

#include <algorithm>

#include "base/utf8.h"
#include "calls/calls.h"
#include "filters/http/forwarded_metadata.h"

namespace fairlead::filters {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using net::TlsValue;

namespace {

constexpr std::string_view kMethod = "/envoy.service.auth.v3.Authorization/Check";

const std::string& partialBodyName() {
  static const std::string& name = *new std::string(http::ownHeader("auth-partial-body"));
  return name;
}

// Text of protobuf is UTF-8: what is none reads as '!', byte for byte.
std::string asUtf8(std::string_view text) {
  std::string made(text);
  if (isUtf8(text)) return made;
  size_t at = 0;
  while (at < made.size()) {
    size_t size = 1;
    const std::string_view rest = std::string_view(made).substr(at);
    while (size <= 4 && size <= rest.size() && !isUtf8(rest.substr(0, size))) ++size;
    if (size > 4 || size > rest.size()) {
      made[at] = '!';
      size = 1;
    }
    at += size;
  }
  return made;
}

void addEntry(uint32_t field, std::string_view key, std::string_view value, ProtoWriter* out) {
  ProtoWriter entry;
  entry.bytes(1, asUtf8(key));
  entry.bytes(2, asUtf8(value));
  out->bytes(field, entry.view());
}

void addAddress(const net::Address* address, ProtoWriter* peer) {
  ProtoWriter inner;
  ProtoWriter made;
  if (!address) return;
  if (address->isIp()) {
    inner.bytes(2, address->ip());
    if (address->port() > 0) inner.number(3, address->port());
    made.bytes(1, inner.view());
  } else {
    inner.bytes(1, address->ip());
    made.bytes(2, inner.view());
  }
  peer->bytes(1, made.view());
}

std::string firstOf(const net::TlsInfo& tls, std::initializer_list<TlsValue> kinds) {
  for (const TlsValue kind : kinds) {
    if (kind == TlsValue::PeerUriNames || kind == TlsValue::PeerDnsNames) {
      std::vector<std::string> names = tls.peerNames(kind);
      if (!names.empty()) return names[0];
      continue;
    }
    std::string text;
    if (!tls.append(kind, &text) || text.empty()) continue;
    const bool is_list = kind == TlsValue::LocalUriNames || kind == TlsValue::LocalDnsNames;
    return is_list ? text.substr(0, text.find(',')) : text;
  }
  return {};
}

// `headers`: null: it is a connection that is asked about.
ProtoWriter sourceOf(const format::FormatContext& context, const net::Address& remote,
                     const HeaderMap* headers, bool with_certificate) {
  ProtoWriter peer;
  addAddress(&remote, &peer);
  const HeaderEntry* const service =
      headers ? headers->find(HeaderId::XEnvoyDownstreamServiceCluster) : nullptr;
  if (service && service->value_size > 0) peer.bytes(2, asUtf8(service->value()));
  if (const net::TlsInfo* const tls = context.downstream_tls) {
    const std::string principal =
        firstOf(*tls, {TlsValue::PeerUriNames, TlsValue::PeerDnsNames, TlsValue::PeerSubject});
    if (!principal.empty()) peer.bytes(4, asUtf8(principal));
    std::string certificate;
    if (with_certificate && tls->append(TlsValue::PeerCertificate, &certificate)) {
      peer.bytes(5, certificate);
    }
  }
  return peer;
}

ProtoWriter destinationOf(const format::FormatContext& context,
                          const std::vector<plan::TextPair>& labels) {
  ProtoWriter peer;
  addAddress(context.downstream_local, &peer);
  for (const plan::TextPair& label : labels) addEntry(3, label.key, label.value, &peer);
  if (const net::TlsInfo* const tls = context.downstream_tls) {
    const std::string principal =
        firstOf(*tls, {TlsValue::LocalUriNames, TlsValue::LocalDnsNames, TlsValue::LocalSubject});
    if (!principal.empty()) peer.bytes(4, asUtf8(principal));
  }
  return peer;
}

// google.protobuf.Timestamp
std::string timestamp(uint64_t us) {
  ProtoWriter time;
  time.number(1, us / 1'000'000);
  if (us % 1'000'000 > 0) time.number(2, us % 1'000'000 * 1000);
  return time.take();
}

}  // namespace

void ExtAuthzCheck::begin(const ExtAuthzSettings& settings, const AuthzService& with,
                          const http::RequestHead& head, const route::RequestView& view,
                          const FilterPlace& place, uint64_t stream_id,
                          const Extensions& extensions) {
  settings_ = &settings;
  service_ = &with;
  if (with.http) {
    beginHttp(head, view);
  } else {
    beginGrpc(head, view, place, stream_id, extensions);
  }
}

// HTTP services are told little unless they are to be told more.
bool ExtAuthzCheck::isTold(std::string_view name) const {
  if (name == partialBodyName() || settings_->disallowed_headers.has(name)) return false;
  // The filter's own service says how it is, whichever is asked.
  if (settings_->service->http) {
    return name == "authorization" || settings_->allowed_headers.has(name) ||
           settings_->service->allowed_headers.has(name);
  }
  return !settings_->allowed_headers.isSet() || settings_->allowed_headers.has(name);
}

// ---- over gRPC ----

void ExtAuthzCheck::addHeader(std::string_view name, std::string_view value) {
  if (settings_->plan.raw_headers) {
    // envoy.config.core.v3.HeaderValue
    ProtoWriter header;
    header.bytes(1, name);
    if (!value.empty()) header.bytes(3, value);
    after_.bytes(1, header.view());
  } else {
    addEntry(3, name, value, &http_);
  }
}

void ExtAuthzCheck::beginGrpc(const http::RequestHead& head, const route::RequestView& view,
                              const FilterPlace& place, uint64_t stream_id,
                              const Extensions& extensions) {
  const plan::ExtAuthz& plan = settings_->plan;
  format::FormatContext context;
  place.describe(&context);
  before_.bytes(
      1, sourceOf(context, place.peer(), &head.headers, plan.include_peer_certificate).view());
  before_.bytes(2, destinationOf(context, plan.labels).view());
  time_ = timestamp(context.start_time_us);
  http_.bytes(1, std::to_string(stream_id));
  http_.bytes(2, asUtf8(head.method));
  for (const auto& [name, value] :
       {std::pair<std::string_view, std::string_view>{":authority", head.authority},
        {":path", head.path},
        {":method", head.method},
        {":scheme", view.scheme}}) {
    if (!value.empty() && isTold(name)) addHeader(name, value);
  }
  // Of lines that repeat each other one is made.
  for (const HeaderEntry& entry : head.headers) {
    if (entry.name_size == 0 || !isTold(entry.name())) continue;
    if (plan.raw_headers) {
      addHeader(entry.name(), entry.value());
      continue;
    }
    std::string joined;
    bool is_first = true;
    for (const HeaderEntry& other : head.headers) {
      if (other.name() != entry.name()) continue;
      if (&other < &entry) is_first = false;
      if (&other != &entry && !joined.empty()) joined.append(",");
      joined.append(other.value());
    }
    if (is_first) addHeader(entry.name(), joined);
  }
  http_.bytes(4, asUtf8(head.path));
  http_.bytes(5, asUtf8(head.authority));
  http_.bytes(6, asUtf8(view.scheme));
  http_.bytes(10, context.protocol);
  if (!after_.empty()) http_.bytes(13, after_.view());
  after_ = {};
  for (const auto& [key, value] : extensions) addEntry(10, key, value, &after_);
  ProtoWriter metadata;
  addMetadata(context, plan.metadata_namespaces, &metadata);
  addTypedMetadata(context, plan.typed_metadata_namespaces, &metadata);
  after_.bytes(11, metadata.view());
  // As the real server, it is there in the clear, too.
  if (plan.include_tls_session) {
    ProtoWriter session;
    std::string name;
    const net::TlsInfo* const tls = context.downstream_tls;
    if (tls && tls->append(TlsValue::ServerName, &name) && !name.empty()) session.bytes(1, name);
    after_.bytes(12, session.view());
  }
  ProtoWriter of_route;
  addRouteMetadata(context, plan.route_metadata_namespaces, &of_route);
  addTypedMetadata(context.route_typed, plan.route_typed_metadata_namespaces, &of_route);
  after_.bytes(13, of_route.view());
}

std::string connectionCheck(const plan::NetworkExtAuthz& plan, const format::FormatContext& context,
                            const net::Address& remote) {
  ProtoWriter attributes;
  attributes.bytes(1, sourceOf(context, remote, nullptr, plan.include_peer_certificate).view());
  attributes.bytes(2, destinationOf(context, plan.labels).view());
  ProtoWriter metadata;
  addMetadata(context, plan.metadata_namespaces, &metadata);
  addTypedMetadata(context, plan.typed_metadata_namespaces, &metadata);
  attributes.bytes(11, metadata.view());
  std::string name;
  const net::TlsInfo* const tls = plan.include_tls_session ? context.downstream_tls : nullptr;
  if (tls && tls->append(TlsValue::ServerName, &name) && !name.empty()) {
    ProtoWriter session;
    session.bytes(1, name);
    attributes.bytes(12, session.view());
  }
  ProtoWriter message;
  message.bytes(1, attributes.view());
  return message.take();
}

// ---- over HTTP ----

void ExtAuthzCheck::beginHttp(const http::RequestHead& head, const route::RequestView&) {
  HeaderMap kept;
  for (const HeaderEntry& entry : head.headers) {
    if (entry.name_size == 0 || !isTold(entry.name())) continue;
    switch (entry.id) {
      case HeaderId::ContentLength:
      case HeaderId::TransferEncoding:
      case HeaderId::Connection:
      case HeaderId::Upgrade:
      case HeaderId::KeepAlive:
        continue;
      default:
        kept.add(entry.id, entry.name(), entry.value());
    }
  }
  head_.save(head.method, head.path, head.authority, kept);
}

void ExtAuthzCheck::ask(calls::Call& call, calls::Calls& calls, const FilterPlace& place,
                        std::string_view body, bool is_partial, bool as_bytes) {
  format::FormatContext context;
  place.describe(&context);
  const bool has_body = body.data() != nullptr;
  const std::string_view partial = is_partial ? "true" : "false";
  if (!service_->http) {
    if (has_body) {
      // The headers' last; of their own list if they are not in a map.
      if (!settings_->plan.raw_headers) addEntry(3, partialBodyName(), partial, &http_);
      if (!body.empty()) {
        if (context.bytes_received > 0) http_.number(9, context.bytes_received);
        http_.bytes(as_bytes ? 12 : 11, as_bytes ? std::string(body) : asUtf8(body));
      }
    }
    ProtoWriter request;
    request.bytes(1, time_);
    request.bytes(2, http_.view());
    ProtoWriter attributes = std::move(before_);
    attributes.bytes(4, request.view());
    std::string all = attributes.take();
    all.append(after_.view());
    ProtoWriter message;
    message.bytes(1, all);
    call.askGrpc(calls, *service_->service, kCheckMethod, message.view(), &context);
    return;
  }
  Arena& arena = calls.arena();
  arena.reset();
  HeaderMap& headers = calls.headers();
  head_.restore(&headers);
  headers.set(HeaderId::ContentLength, arena.decimal(body.size()));
  if (has_body) headers.add(HeaderId::Other, partialBodyName(), partial);
  service_->service->metadata.apply(headers, context, arena);
  const plan::ExtAuthzHttp& http = *service_->http;
  const std::string_view path = http.path_override.empty()
                                    ? arena.join(http.path_prefix, head_.path())
                                    : std::string_view(http.path_override);
  call.ask(calls, *service_->service, {head_.method(), path, head_.authority(), &headers}, body);
}

}  // namespace fairlead::filters
