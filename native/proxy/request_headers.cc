#include "proxy/request_headers.h"

#include "base/text.h"
#include "proxy/client_cert_header.h"
#include "proxy/request_id.h"

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
  result.found = net::parseIp(trimmed(list), &result.address);
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
    entry->setValue(arena.join(entry->value(), separator, value));
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
      if (containsToken(entry.value(), "trailers")) {
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

void identifyClient(HeaderMap& headers, const HttpConfig& config, const net::Address& remote,
                    Context& context, RequestFacts& facts, bool* single) {
  const plan::HttpConnectionManager& plan = config.plan;
  const HeaderEntry* forwarded_for = headers.find(HeaderId::XForwardedFor);
  if (!plan.use_remote_address) {
    const Forwarded forwarded = forwardedAddress(forwarded_for, plan.xff_num_trusted_hops);
    facts.client = forwarded.found ? forwarded.address : remote;
    *single = forwarded.found && forwarded.single;
    return;
  }
  *single = forwarded_for == nullptr;
  facts.client = remote;
  if (plan.xff_num_trusted_hops > 0) {
    const Forwarded forwarded = forwardedAddress(forwarded_for, plan.xff_num_trusted_hops - 1);
    if (forwarded.found) facts.client = forwarded.address;
  }
  if (!plan.skip_xff_append && remote.isIp()) {
    const std::string_view text = remote.isLoopback() && !plan.local_address.empty()
                                      ? std::string_view(plan.local_address)
                                      : textOf(remote, context.arena);
    appendTo(headers, HeaderId::XForwardedFor, text, ",", context.arena);
  }
  const HeaderEntry* proto = headers.find(HeaderId::XForwardedProto);
  if (plan.xff_num_trusted_hops == 0 || !proto) {
    headers.set(HeaderId::XForwardedProto, config.ownScheme());
  }
}

void setRequestId(HeaderMap& headers, const HttpConfig& config, bool edge, Context& context,
                  RequestFacts& facts) {
  const plan::HttpConnectionManager& plan = config.plan;
  HeaderEntry* entry = headers.find(HeaderId::XRequestId);
  if (plan.generate_request_id) {
    const bool force = edge && !plan.preserve_external_request_id;
    if (!entry || entry->value_size == 0 || force) {
      char* text = context.arena.allocate(kRequestIdBytes);
      headers.set(HeaderId::XRequestId, writeRequestId(context.upstream.random, text));
      entry = headers.find(HeaderId::XRequestId);
    }
  }
  if (entry) facts.request_id = entry->value();
}

}  // namespace

bool nominatesForbidden(std::string_view connection) {
  bool found = false;
  forEachToken(connection, [&found](std::string_view token) {
    found = equalsIgnoreCase(token, "host") || equalsIgnoreCase(token, "x-forwarded-for") ||
            equalsIgnoreCase(token, "x-forwarded-host") ||
            equalsIgnoreCase(token, "x-forwarded-proto") ||
            token.find(':') != std::string_view::npos;
    return !found;
  });
  return found;
}

RequestFacts prepareRequestHeaders(http::RequestHead& head, const HttpConfig& config,
                                   const net::Address& remote, const net::TlsInfo* tls,
                                   Context& context) {
  const plan::HttpConnectionManager& plan = config.plan;
  HeaderMap& headers = head.headers;
  RequestFacts facts;
  bool single = false;
  identifyClient(headers, config, remote, context, facts, &single);
  facts.internal = single && config.isInternal(facts.client);
  const bool edge = !facts.internal && plan.use_remote_address;
  const bool has_client_cert = removeOnce(headers, facts, edge, head.upgrades);
  if (has_client_cert || tls) forwardClientCert(headers, plan, tls, context.arena);
  if (!headers.find(HeaderId::XForwardedProto)) {
    headers.add(HeaderId::XForwardedProto, "x-forwarded-proto", config.ownScheme());
  }
  const bool is_tls = headers.find(HeaderId::XForwardedProto)->value() == "https";
  facts.scheme = is_tls ? "https" : "http";
  if (!plan.scheme_overwrite.empty()) facts.scheme = plan.scheme_overwrite;
  if (facts.internal) headers.add(HeaderId::XEnvoyInternal, "x-envoy-internal", "true");
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
