#include "filters/http/stateful_session.h"

#include <optional>
#include <string>
#include <utility>

#include "base/base64.h"
#include "base/proto_reader.h"
#include "base/proto_writer.h"
#include "base/wall_clock.h"
#include "filters/http/header_rules.h"
#include "http/cookies.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using SessionCounter = stats::HttpStatefulSession::Counter;
using SessionStats = stats::Block<stats::HttpStatefulSession>;

constexpr std::string_view kOwnValueMark = "UV:";
constexpr uint64_t kMicros = 1'000'000;

// What a cookie holds: envoy.Cookie, of an address (1) and the end of its time in seconds (2).
struct SessionTicket {
  std::string address;
  uint64_t expires_s = 0;

  static std::optional<SessionTicket> parse(std::string_view bytes);
  std::string bytes() const;
};

std::optional<SessionTicket> SessionTicket::parse(std::string_view bytes) {
  constexpr uint32_t kAddress = 1 << 3 | 2;
  constexpr uint32_t kExpires = 2 << 3;
  SessionTicket ticket;
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.tag() == kAddress) ticket.address = reader.bytes();
    if (reader.tag() == kExpires) ticket.expires_s = reader.number();
  }
  return reader.isWhole() ? std::optional(std::move(ticket)) : std::nullopt;
}

std::string SessionTicket::bytes() const {
  ProtoWriter made;
  made.bytes(1, address);
  if (expires_s != 0) made.number(2, expires_s);
  return made.take();
}

// Whether a cookie of that path goes along with the request.
bool isBelow(std::string_view path, const std::string& of) {
  if (of.empty() || of == "/") return true;
  if (!path.starts_with(of)) return false;
  if (of.ends_with('/') || path.size() == of.size()) return true;
  return std::string_view("/?#").find(path[of.size()]) != std::string_view::npos;
}

std::string decoded(std::string_view coded) {
  std::string text;
  return decodeBase64(coded, &text) ? text : std::string();
}

// Of one request.
class StatefulSession final : public HttpFilter {
 public:
  StatefulSession(const SessionSettings& settings, SessionStats* stats, FilterMemory& memory,
                  const FilterScope& scope, FilterPlace& place)
      : settings_(settings), stats_(stats), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    address_ = memory_.keep(find(head));
    if (address_.empty()) return FilterStatus::Continue;
    FilterNotes::OverrideHost& wanted = scope_.notes.override_host;
    wanted.address = address_;
    wanted.is_strict = settings_.plan.strict;
    if (settings_.plan.strict_status != 0) {
      wanted.strict_status = static_cast<uint16_t>(settings_.plan.strict_status);
    }
    return FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena&) override {
    format::FormatContext context;
    place_.describe(&context);
    if (!context.upstream_host) {
      const bool has_none = context.flags.has(format::ResponseFlag::NoHealthyUpstream);
      if (has_session_ && has_none && settings_.plan.strict) count(SessionCounter::FailedClosed);
      return FilterStatus::Continue;
    }
    if (!has_session_) {
      count(SessionCounter::NoSession);
      return FilterStatus::Continue;
    }
    const std::string host = context.upstream_host->text();
    const bool has_changed = host != address_;
    tell(host, has_changed, headers);
    if (!has_changed) {
      count(SessionCounter::Routed);
    } else if (!settings_.plan.strict) {
      count(SessionCounter::FailedOpen);
    }
    return FilterStatus::Continue;
  }

 private:
  void count(SessionCounter counter) {
    if (stats_) stats_->shard(scope_.worker + 1)->add(counter);
  }

  // Empty: none is named.
  std::string find(http::RequestHead& head) {
    if (settings_.plan.cookie) return findInCookie(*settings_.plan.cookie, head);
    if (!settings_.header.empty()) {
      has_session_ = true;
      const http::HeaderEntry* const entry = settings_.header.find(head.headers);
      return entry ? decoded(entry->value()) : std::string();
    }
    if (settings_.envelope.empty()) return {};
    has_session_ = true;
    return openEnvelope(head.headers);
  }

  std::string findInCookie(const plan::SessionCookie& cookie, const http::RequestHead& head) {
    if (!isBelow(head.path, cookie.path)) return {};
    has_session_ = true;
    const std::string bytes = decoded(http::cookieOf(head.headers, cookie.name));
    if (bytes.empty()) return {};
    const std::optional<SessionTicket> ticket = SessionTicket::parse(bytes);
    // As cookies were once: the address alone.
    if (!ticket) return bytes;
    if (cookie.ttl_s > 0 && ticket->expires_s == 0) return {};
    if (ticket->expires_s > 0 && ticket->expires_s < wallClockMicros() / kMicros) return {};
    return ticket->address;
  }

  // The host's own value goes on to it, if it can.
  std::string openEnvelope(http::HeaderMap& headers) {
    const http::HeaderEntry* const entry = settings_.envelope.find(headers);
    if (!entry) return {};
    const std::string_view value = entry->value();
    const size_t end = std::min(value.find(';'), value.size());
    std::string address = decoded(value.substr(0, end));
    if (address.empty()) return {};
    std::string_view rest = value.substr(end);
    while (!rest.empty()) {
      rest.remove_prefix(1);
      const std::string_view part = rest.substr(0, rest.find(';'));
      rest.remove_prefix(part.size());
      if (!part.starts_with(kOwnValueMark)) continue;
      const std::string own = decoded(part.substr(kOwnValueMark.size()));
      // Whoever sends it may have made it.
      if (!isHeaderValue(own)) return {};
      const_cast<http::HeaderEntry*>(entry)->setValue(memory_.keep(own));
      break;
    }
    return address;
  }

  void tell(const std::string& host, bool has_changed, http::HeaderMap& headers) {
    if (!settings_.envelope.empty()) return sealEnvelope(host, headers);
    if (!has_changed) return;
    if (settings_.plan.cookie) {
      headers.add(http::internHeader("set-cookie"), "set-cookie",
                  memory_.keep(setCookie(*settings_.plan.cookie, host)));
      return;
    }
    const std::string& name = settings_.header.text();
    for (http::HeaderEntry& entry : headers) {
      if (settings_.header.names(entry)) entry.remove();
    }
    headers.add(http::internHeader(name), name, memory_.keep(encodeBase64(host)));
  }

  static std::string setCookie(const plan::SessionCookie& cookie, const std::string& host) {
    SessionTicket ticket{host};
    if (cookie.ttl_s > 0) ticket.expires_s = wallClockMicros() / kMicros + cookie.ttl_s;
    std::string text = cookie.name + "=\"" + encodeBase64(ticket.bytes()) + '"';
    if (cookie.ttl_s > 0) text.append("; Max-Age=").append(std::to_string(cookie.ttl_s));
    if (!cookie.path.empty()) text.append("; Path=").append(cookie.path);
    return text.append(cookie.attributes).append("; HttpOnly");
  }

  void sealEnvelope(const std::string& host, http::HeaderMap& headers) {
    const http::HeaderEntry* const entry = settings_.envelope.find(headers);
    // Of several nobody knows which is meant.
    if (!entry || settings_.envelope.find(headers, entry)) return;
    std::string sealed = encodeBase64(host);
    sealed.append(";").append(kOwnValueMark).append(encodeBase64(entry->value()));
    const_cast<http::HeaderEntry*>(entry)->setValue(memory_.keep(sealed));
  }

  const SessionSettings& settings_;
  // Null: nothing is counted.
  SessionStats* const stats_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // The request may belong to a session.
  bool has_session_ = false;
  // Empty: it names no host.
  std::string_view address_;
};

}  // namespace

StatefulSessionConfig::StatefulSessionConfig(const plan::StatefulSession& plan,
                                             const ConfigScope& scope)
    : settings_(plan) {
  if (plan.stat_prefix.empty()) return;
  stats_ = scope.registry.create<stats::HttpStatefulSession>(
      innerScope(scope.stats, "stateful_session." + plan.stat_prefix + "."));
}

HttpFilter* StatefulSessionConfig::make(FilterMemory& memory, const FilterScope& scope,
                                        FilterPlace& place) const {
  const route::FilterConfigList own = place.routeConfigs();
  const SessionSettings* route = own.empty() ? nullptr : SessionSettings::of(own.front());
  if (route && route->plan.disabled) return nullptr;
  return memory.make<StatefulSession>(route ? *route : settings_, route ? nullptr : stats_.get(),
                                      memory, scope, place);
}

}  // namespace fairlead::filters
