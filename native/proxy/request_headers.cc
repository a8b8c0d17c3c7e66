#include "proxy/request_headers.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "http/request_id.h"
#include "proxy/client_cert_header.h"
#include "route/tree_facts.h"

namespace fairlead::proxy {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

// What only a request without an upgrade must not say to hosts.
bool saysUpgrade(HeaderId id) {
  return id == HeaderId::Connection || id == HeaderId::Upgrade || id == HeaderId::Te;
}

// Said by a peer of ours or by nobody.
constexpr http::HeaderIds kForInternalsOnly = {
    HeaderId::XEnvoyRetriableStatusCodes,
    HeaderId::XEnvoyRetriableHeaderNames,
    HeaderId::XEnvoyRetryOn,
    HeaderId::XEnvoyRetryGrpcOn,
    HeaderId::XEnvoyMaxRetries,
    HeaderId::XEnvoyUpstreamAltStatName,
    HeaderId::XEnvoyUpstreamRqTimeoutMs,
    HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs,
    HeaderId::XEnvoyUpstreamRqTimeoutAltResponse,
    HeaderId::XEnvoyExpectedRqTimeoutMs,
    HeaderId::XEnvoyForceTrace,
    HeaderId::XEnvoyIpTags,
    HeaderId::XEnvoyHedgeOnPerTryTimeout,
    HeaderId::XEnvoyOriginalUrl,
    HeaderId::XEnvoyUpstreamStreamDurationMs,
};

// Said by nobody outside, where this proxy is the edge.
constexpr http::HeaderIds kForEdgeOnly = {
    HeaderId::XEnvoyDecoratorOperation, HeaderId::XEnvoyDownstreamServiceCluster,
    HeaderId::XEnvoyDownstreamServiceNode, HeaderId::XEnvoyOriginalPath,
    HeaderId::XEnvoyOriginalHost};

constexpr http::HeaderIds kLookedAt = {HeaderId::Te, HeaderId::XEnvoyInternal,
                                       HeaderId::XForwardedClientCert};

// Headers that a connection header names end here too.
void removeNominated(HeaderMap& headers, std::string_view connection) {
  forEachToken(connection, [&headers](std::string_view token) {
    if (equalsIgnoreCase(token, "close") || equalsIgnoreCase(token, "keep-alive")) return true;
    for (HeaderEntry& entry : headers) {
      if (entry.name_size == token.size() && equalsIgnoreCase(entry.name(), token) &&
          entry.id != HeaderId::Te) {
        entry.remove();
      }
    }
    return true;
  });
}

// In lower case alone, as the real server has it.
bool wantsTrailers(std::string_view te) {
  bool found = false;
  forEachToken(te, [&found](std::string_view token) {
    found = token == "trailers";
    return !found;
  });
  return found;
}

// As in the real server, an address with a port is none.
bool parseClient(std::string_view text, net::Address* out) {
  const bool has_port = text.starts_with('[') || std::count(text.begin(), text.end(), ':') == 1;
  return !has_port && net::parseIp(text, out);
}

struct Forwarded {
  bool found = false;
  net::Address address;
  // It is the only one.
  bool single = false;
};

// The address that is `skip` entries from the end of x-forwarded-for.
Forwarded forwardedAddress(const HeaderEntry* header, uint32_t skip) {
  Forwarded result;
  if (!header) return result;
  std::string_view list = header->value();
  result.single = list.find(',') == std::string_view::npos;
  for (; skip > 0; --skip) {
    const size_t comma = list.rfind(',');
    if (comma == std::string_view::npos) return result;
    list = list.substr(0, comma);
  }
  const size_t comma = list.rfind(',');
  if (comma != std::string_view::npos) list = list.substr(comma + 1);
  result.found = parseClient(trimmed(list), &result.address);
  return result;
}

// Client addresses are the same text for a whole connection, but making it takes no longer than
// remembering it would.
std::string_view textOf(const net::Address& address, Arena& arena) {
  char* text = arena.allocate(net::Address::kTextBytes);
  const std::string_view written = address.writeIp(text);
  // What the address has itself is longer than it.
  if (written.data() != text) {
    arena.shrink(text);
    return arena.join(written, "", "");
  }
  arena.shrink(text + written.size());
  return written;
}

void appendTo(HeaderMap& headers, HeaderId id, std::string_view value, std::string_view separator,
              Arena& arena) {
  if (HeaderEntry* entry = headers.find(id)) {
    entry->setValue(entry->value_size == 0 ? value : arena.join(entry->value(), separator, value));
  } else {
    headers.add(id, http::headerName(id), value);
  }
}

// True: the client says what certificate somebody has seen.
bool removeOnce(HeaderMap& headers, RequestFacts& facts, bool edge, bool upgrades) {
  const bool internal = facts.internal;
  bool has_client_cert = false;
  if (!headers.mayHave(http::kConnectionHeaders) && !headers.mayHave(kForInternalsOnly) &&
      !headers.mayHave(kForEdgeOnly) && !headers.mayHave(kLookedAt)) {
    return false;
  }
  for (HeaderEntry& entry : headers) {
    if (entry.id == HeaderId::Other || (upgrades && saysUpgrade(entry.id))) continue;
    if (http::kConnectionHeaders.has(entry.id)) {
      if (entry.id == HeaderId::Connection) removeNominated(headers, entry.value());
      entry.remove();
    } else if (entry.id == HeaderId::Te) {
      if (wantsTrailers(entry.value())) {
        entry.setValue("trailers");
      } else {
        entry.remove();
      }
    } else if (!internal &&
               (kForInternalsOnly.has(entry.id) || (edge && kForEdgeOnly.has(entry.id)))) {
      entry.remove();
    } else if (entry.id == HeaderId::XEnvoyInternal) {
      entry.remove();
    } else if (entry.id == HeaderId::XForwardedClientCert) {
      has_client_cert = true;
    } else if (entry.id == HeaderId::XEnvoyForceTrace) {
      facts.is_traced = true;
    }
  }
  return has_client_cert;
}

void appendForwarded(HeaderMap& headers, const HttpConfig& config, const net::Address& remote,
                     Arena& arena) {
  const std::string& local = config.plan.local_address;
  const std::string_view text =
      remote.isLoopback() && !local.empty() ? std::string_view(local) : textOf(remote, arena);
  appendTo(headers, HeaderId::XForwardedFor, text, ",", arena);
}

bool isWithin(const std::vector<net::Cidr>& ranges, const net::Address& address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const net::Cidr& range) { return range.contains(address); });
}

// The last address of x-forwarded-for that is nobody's whom we trust, or the first of all.
Forwarded lastUntrusted(const HeaderEntry* header, const std::vector<net::Cidr>& trusted,
                        const net::Address& remote) {
  Forwarded result;
  if (!header || !isWithin(trusted, remote)) return result;
  std::string_view list = header->value();
  result.single = list.find(',') == std::string_view::npos;
  for (;;) {
    const size_t comma = list.rfind(',');
    const std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
    result.found = parseClient(trimmed(last), &result.address);
    if (!result.found || comma == std::string_view::npos) return result;
    if (!isWithin(trusted, result.address)) return result;
    list = list.substr(0, comma);
  }
}

Forwarded detect(const HttpConfig::IpDetection& how, const HeaderMap& headers,
                 const net::Address& remote) {
  const HeaderEntry* const forwarded_for = headers.find(HeaderId::XForwardedFor);
  if (!how.plan.header.empty()) {
    const HeaderEntry* const header = how.header.find(headers);
    Forwarded result{.found = false, .address = {}, .single = how.plan.is_trusted};
    if (header) result.found = parseClient(header->value(), &result.address);
    return result;
  }
  if (!how.trusted.empty()) return lastUntrusted(forwarded_for, how.trusted, remote);
  return forwardedAddress(forwarded_for, how.plan.trusted_hops);
}

// As the configuration's own ways to find it out say.
void detectClient(HeaderMap& headers, const HttpConfig& config, const net::Address& remote,
                  Context& context, RequestFacts& facts, bool* single) {
  facts.client = remote;
  bool appends = false;
  for (const HttpConfig::IpDetection& how : config.ip_detections) {
    const Forwarded detected = detect(how, headers, remote);
    appends = appends || (how.plan.header.empty() && !how.plan.skips_append);
    if (detected.found) {
      facts.client = detected.address;
      *single = detected.single;
      break;
    }
    if (how.plan.reject_status != 0) {
      facts.refusal = static_cast<uint16_t>(how.plan.reject_status);
      return;
    }
  }
  if (appends && remote.isIp()) appendForwarded(headers, config, remote, context.arena);
}

// By the port that a client came to, where the configuration says what is spoken there.
std::string_view protoOf(const HttpConfig& config, const net::Address& local) {
  const plan::HttpConnectionManager& plan = config.plan;
  const auto has = [&](const std::vector<uint32_t>& ports) {
    return std::find(ports.begin(), ports.end(), local.port()) != ports.end();
  };
  if (!plan.https_ports.empty() && has(plan.https_ports)) return "https";
  if (!plan.http_ports.empty() && has(plan.http_ports)) return "http";
  return config.ownScheme();
}

void tellPort(HeaderMap& headers, const HttpConfig& config, const net::Address& local,
              Context& context) {
  if (!config.plan.append_x_forwarded_port || !local.isIp()) return;
  headers.set(HeaderId::XForwardedPort, context.arena.decimal(local.port()));
}

void identifyClient(HeaderMap& headers, const HttpConfig& config,
                    const net::DownstreamConnection& connection, Context& context,
                    RequestFacts& facts, bool* single) {
  const plan::HttpConnectionManager& plan = config.plan;
  const net::Address& remote = connection.remote();
  if (!config.ip_detections.empty()) {
    detectClient(headers, config, remote, context, facts, single);
    if (!headers.find(HeaderId::XForwardedPort)) {
      tellPort(headers, config, connection.local(), context);
    }
    return;
  }
  const HeaderEntry* forwarded_for = headers.find(HeaderId::XForwardedFor);
  if (!plan.use_remote_address) {
    const Forwarded forwarded = forwardedAddress(forwarded_for, plan.xff_num_trusted_hops);
    facts.client = forwarded.found ? forwarded.address : remote;
    *single = forwarded.found && forwarded.single;
    if (!headers.find(HeaderId::XForwardedPort)) {
      tellPort(headers, config, connection.local(), context);
    }
    return;
  }
  *single = forwarded_for == nullptr;
  facts.client = remote;
  if (plan.xff_num_trusted_hops > 0) {
    const Forwarded forwarded = forwardedAddress(forwarded_for, plan.xff_num_trusted_hops - 1);
    if (forwarded.found) facts.client = forwarded.address;
  }
  if (!plan.skip_xff_append && remote.isIp()) {
    appendForwarded(headers, config, remote, context.arena);
  }
  const HeaderEntry* proto = headers.find(HeaderId::XForwardedProto);
  if (plan.xff_num_trusted_hops == 0 || !proto) {
    headers.set(HeaderId::XForwardedProto, protoOf(config, connection.local()));
  }
  if (plan.xff_num_trusted_hops == 0 || !headers.find(HeaderId::XForwardedPort)) {
    tellPort(headers, config, connection.local(), context);
  }
}

void setRequestId(HeaderMap& headers, const HttpConfig& config, bool edge, Context& context,
                  RequestFacts& facts) {
  const plan::HttpConnectionManager& plan = config.plan;
  HeaderEntry* entry = headers.find(HeaderId::XRequestId);
  if (plan.generate_request_id) {
    const bool force = edge && !plan.preserve_external_request_id;
    if (!entry || entry->value_size == 0 || force) {
      char* text = context.arena.allocate(http::kRequestIdBytes);
      headers.set(HeaderId::XRequestId, http::writeRequestId(context.upstream.random, text));
      entry = headers.find(HeaderId::XRequestId);
    } else if (edge && !plan.keeps_request_ids && entry->value_size == http::kRequestIdBytes) {
      // Nobody outside says that a request is to be traced.
      char* const fresh = context.arena.allocate(http::kRequestIdBytes);
      std::memcpy(fresh, entry->value().data(), http::kRequestIdBytes);
      fresh[http::kTraceReasonAt] = http::kNoTraceReason;
      entry->setValue({fresh, http::kRequestIdBytes});
    }
  }
  if (entry) facts.request_id = entry->value();
}

}  // namespace

Nomination nominates(std::string_view connection) {
  Nomination found = Nomination::Nothing;
  forEachToken(connection, [&found](std::string_view token) {
    if (equalsIgnoreCase(token, "host")) found = Nomination::Host;
    const bool is_forbidden =
        equalsIgnoreCase(token, "x-forwarded-for") || equalsIgnoreCase(token, "x-forwarded-host") ||
        equalsIgnoreCase(token, "x-forwarded-proto") || token.find(':') != std::string_view::npos;
    if (is_forbidden) found = Nomination::Forbidden;
    return !is_forbidden;
  });
  return found;
}

RequestFacts prepareRequestHeaders(http::RequestHead& head, const HttpConfig& config,
                                   const net::DownstreamConnection& connection,
                                   const route::RequestView& view, Context& context) {
  const plan::HttpConnectionManager& plan = config.plan;
  HeaderMap& headers = head.headers;
  RequestFacts facts;
  bool single = false;
  identifyClient(headers, config, connection, context, facts, &single);
  if (facts.refusal != 0) return facts;
  facts.internal = single && config.isInternal(facts.client);
  const bool edge = !facts.internal && plan.use_remote_address;
  const bool has_client_cert = removeOnce(headers, facts, edge, head.upgrades);
  if (has_client_cert || connection.tls()) {
    ClientCertForwarding forwarding{plan.forward_client_cert, plan.client_cert_details.get()};
    if (config.client_cert_tree) {
      forwarding = config.client_cert_tree->find(route::TreeFacts(view), forwarding);
    }
    forwardClientCert(headers, forwarding, connection.tls(), context.arena);
  }
  const HeaderEntry* const proto = headers.find(HeaderId::XForwardedProto);
  const std::string_view scheme = proto ? proto->value() : config.ownScheme();
  if (!proto) headers.add(HeaderId::XForwardedProto, "x-forwarded-proto", scheme);
  facts.scheme = equalsIgnoreCase(scheme, "https") ? "https" : "http";
  facts.lacks_scheme = scheme.empty() && plan.scheme_overwrite.empty();
  if (!plan.scheme_overwrite.empty()) {
    facts.scheme = plan.scheme_overwrite;
    headers.set(HeaderId::XForwardedProto, plan.scheme_overwrite);
  }
  if (facts.internal)
    headers.add(HeaderId::XEnvoyInternal, http::headerName(HeaderId::XEnvoyInternal), "true");
  if (plan.add_user_agent) {
    headers.set(HeaderId::XEnvoyDownstreamServiceCluster, plan.local_cluster);
    const HeaderEntry* agent = headers.find(HeaderId::UserAgent);
    if (!agent || agent->value_size == 0) headers.set(HeaderId::UserAgent, plan.local_cluster);
    if (!plan.local_node.empty()) {
      headers.set(HeaderId::XEnvoyDownstreamServiceNode, plan.local_node);
    }
  }
  if (!plan.via.empty()) appendTo(headers, HeaderId::Via, plan.via, ", ", context.arena);
  if (edge && facts.client.isIp()) {
    headers.set(HeaderId::XEnvoyExternalAddress, textOf(facts.client, context.arena));
  }
  setRequestId(headers, config, edge, context, facts);
  return facts;
}

}  // namespace fairlead::proxy
