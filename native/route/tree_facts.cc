#include "route/tree_facts.h"

#include <charconv>

#include "http/query.h"

namespace fairlead::route {

namespace {

using InputKind = plan::MatchInput::Kind;

std::optional<std::string_view> orNone(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Lines of one name together.
std::optional<std::string_view> joinedLines(const http::HeaderMap& headers, std::string_view name,
                                            std::string* room) {
  const http::HeaderEntry* first = nullptr;
  room->clear();
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name() != name) continue;
    if (!first) {
      first = &entry;
      continue;
    }
    if (room->empty()) room->assign(first->value());
    room->append(",").append(entry.value());
  }
  if (!first) return std::nullopt;
  return room->empty() ? first->value() : std::string_view(*room);
}

std::string_view asText(uint32_t number, std::string* room) {
  char digits[16];
  room->assign(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
  return *room;
}

}  // namespace

std::optional<match::MetadataText> metadataOf(const format::FormatContext& context,
                                              const match::MetadataCondition& condition) {
  // The last that was set under the name counts.
  for (size_t i = context.filter_metadata.size(); i > 0; --i) {
    const format::SetMetadata& set = context.filter_metadata[i - 1];
    if (set.space != condition.space()) continue;
    if (const auto* value = set.metadata->find(condition.path())) {
      return match::MetadataText{value->text, value->is_json};
    }
  }
  // Of a connection, whose metadata has one level of keys.
  if (!context.metadata) return std::nullopt;
  const auto space = context.metadata->find(condition.space());
  if (space == context.metadata->end()) return std::nullopt;
  const auto value = space->second.find(condition.path());
  if (value == space->second.end()) return std::nullopt;
  return match::MetadataText{value->second, false};
}

std::optional<match::MetadataText> routeMetadataOf(const format::FormatContext& context,
                                                   const match::MetadataCondition& condition) {
  constexpr auto kRoute = static_cast<size_t>(plan::FormatPiece::MetadataSource::Route);
  const std::vector<plan::MetadataSpace>* const spaces = context.configured_metadata[kRoute];
  if (!spaces) return std::nullopt;
  for (const plan::MetadataSpace& space : *spaces) {
    if (space.name != condition.space()) continue;
    for (const plan::MetadataValue& value : space.values) {
      if (value.path == condition.path()) return match::MetadataText{value.text, value.is_json};
    }
  }
  return std::nullopt;
}

const format::FormatContext& TreeFacts::context() const {
  if (!context_) request_.describe(&context_.emplace());
  return *context_;
}

std::optional<match::MetadataText> TreeFacts::metadata(
    const match::MetadataCondition& condition) const {
  return metadataOf(context(), condition);
}

std::optional<std::string_view> TreeFacts::text(const plan::MatchInput& input,
                                                std::string* room) const {
  switch (input.kind) {
    case InputKind::RequestHeader:
      return requestHeader(input.name, room);
    case InputKind::RequestTrailer:
      return headerOf(request_trailers, input.name, room);
    case InputKind::ResponseHeader:
      if (response_headers && input.name == ":status") return asText(status, room);
      return headerOf(response_headers, input.name, room);
    case InputKind::ResponseTrailer:
      return headerOf(response_trailers, input.name, room);
    case InputKind::QueryParameter:
      return http::queryParameter(request_.query(), input.name, room);
    case InputKind::StatusCode:
      return status == 0 ? later() : asText(status, room);
    case InputKind::StatusClass:
      if (status == 0) return later();
      room->assign(1, static_cast<char>('0' + status / 100)).append("xx");
      return *room;
    case InputKind::LocalReply:
      return status == 0 ? later() : std::string_view(is_local_reply ? "true" : "false");
    case InputKind::Constant:
      return input.name;
    case InputKind::TlsSubject:
    case InputKind::TlsUriNames:
    case InputKind::TlsDnsNames: {
      const net::TlsInfo* const tls = context().downstream_tls;
      room->clear();
      if (!tls) return std::nullopt;
      tls->append(input.kind == InputKind::TlsSubject    ? net::TlsValue::PeerSubject
                  : input.kind == InputKind::TlsUriNames ? net::TlsValue::PeerUriNames
                                                         : net::TlsValue::PeerDnsNames,
                  room);
      return orNone(*room);
    }
    case InputKind::DynamicMetadata: {
      std::string path;
      for (const std::string& key : input.path) {
        if (&key != &input.path.front()) path.push_back('\0');
        path.append(key);
      }
      for (size_t i = context().filter_metadata.size(); i > 0; --i) {
        const format::SetMetadata& set = context().filter_metadata[i - 1];
        if (set.space != input.metadata_namespace) continue;
        if (const auto* value = set.metadata->find(path)) return std::string_view(value->text);
      }
      return std::nullopt;
    }
    default:
      return connectionText(input, room);
  }
}

std::optional<std::string_view> TreeFacts::connectionText(const plan::MatchInput& input,
                                                          std::string* room) const {
  switch (input.kind) {
    case InputKind::DestinationIp:
    case InputKind::SourceIp:
    case InputKind::DirectSourceIp: {
      const net::Address* const address = addressOf(input);
      if (!address || !address->isIp()) return std::nullopt;
      char text[net::Address::kTextBytes];
      room->assign(address->writeIp(text));
      return orNone(*room);
    }
    case InputKind::DestinationPort:
    case InputKind::SourcePort: {
      const net::Address* const address = addressOf(input);
      if (!address || !address->isIp()) return std::nullopt;
      return asText(address->port(), room);
    }
    case InputKind::SourceType: {
      const net::Address* const remote = context().downstream_remote;
      const net::Address* const local = context().downstream_local;
      const bool is_near =
          !remote || remote->isLoopback() || !remote->isIp() || (local && remote->sameIp(*local));
      return is_near ? std::optional<std::string_view>("local") : std::nullopt;
    }
    case InputKind::ServerName:
      return orNone(context().requested_server_name);
    case InputKind::TransportProtocol:
      return std::string_view(context().downstream_tls ? "tls" : "raw_buffer");
    case InputKind::ApplicationProtocol: {
      const net::TlsInfo* const tls = context().downstream_tls;
      if (!tls || tls->protocol().empty()) return std::nullopt;
      room->assign("'").append(tls->protocol()).append("'");
      return *room;
    }
    default:
      return std::nullopt;
  }
}

const net::Address* TreeFacts::addressOf(const plan::MatchInput& input) const {
  switch (input.kind) {
    case InputKind::DestinationIp:
    case InputKind::DestinationPort:
      return context().downstream_local;
    case InputKind::SourceIp:
    case InputKind::SourcePort:
      return context().downstream_remote;
    case InputKind::DirectSourceIp:
      return context().downstream_direct_remote;
    default:
      return nullptr;
  }
}

std::string_view TreeFacts::address(const plan::MatchInput& input) const {
  const net::Address* const address = addressOf(input);
  return address ? address->ipBytes() : std::string_view();
}

std::optional<std::string_view> TreeFacts::requestHeader(const std::string& name,
                                                         std::string* room) const {
  if (name == "host") return request_.authority;
  if (!name.starts_with(':')) return joinedLines(*request_.headers, name, room);
  std::string_view value;
  if (!request_.header(HeaderName(name), &value) || value.data() == nullptr) return std::nullopt;
  return value;
}

std::optional<std::string_view> TreeFacts::headerOf(const http::HeaderMap* headers,
                                                    const std::string& name,
                                                    std::string* room) const {
  return headers ? joinedLines(*headers, name, room) : later();
}

}  // namespace fairlead::route
