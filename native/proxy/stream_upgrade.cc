// A stream and tunnels: who may ask for one. Its bytes are a body without an end; who opens it is
// the host's answer, and its codecs see to the rest.
#include "base/text.h"
#include "http/upgrade.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;
using Gauge = stats::Http::Gauge;

// Filters, routes and hosts hear of it what they hear of one in HTTP/1.
void Stream::adoptProtocol(http::RequestHead& head) {
  info_.is_extended_connect = head.upgrades = true;
  head.method = "GET";
  head.headers.set(http::HeaderId::Upgrade, head.protocol);
  head.headers.set(http::HeaderId::Connection, "upgrade");
  head.protocol = {};
}

bool Stream::grantTunnel(const http::RequestHead& head, const route::RequestView& view) {
  const std::string_view name =
      info_.is_upgrade ? http::findUpgrade(head.headers)->value() : std::string_view("CONNECT");
  info_.is_websocket = equalsIgnoreCase(name, "websocket");
  if (info_.is_upgrade) info_.touchUncommon().upgrade_name = name;
  info_.upgrade = config().findUpgrade(name);
  const bool is_forwarded = info_.route && info_.route->cluster;
  const plan::RouteUpgrade* const own =
      is_forwarded ? info_.route->cluster->findUpgrade(name) : nullptr;
  if (own ? own->enabled : info_.upgrade && info_.upgrade->is_enabled) {
    info_.is_granted = true;
    stats().add(Counter::DownstreamCxUpgradesTotal);
    stats().up(Gauge::DownstreamCxUpgradesActive);
    return true;
  }
  // It passes the filters that all other requests pass.
  info_.upgrade = nullptr;
  // What no route is for is answered as any other request.
  if (!info_.route && !(info_.virtual_host && requiresTls(view))) return true;
  nameCluster(view);
  stats().add(Counter::DownstreamRqWsOnNonWsRoute);
  answer({403, {}, "upgrade_failed", std::nullopt, false, true});
  return false;
}

bool Stream::isSwitching(uint16_t status, const http::HeaderMap& headers) const {
  return info_.is_upgrade && status == 101 && http::findUpgrade(headers);
}

}  // namespace fairlead::proxy
