#include "upstream/connect.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "http/connect_transport.h"
#include "upstream/address_race.h"
#include "upstream/connect_socket.h"

namespace fairlead::upstream {

namespace {

// To a listener of this process.
net::FileDescriptor connectWithin(const Host& host, const net::Address& to,
                                  const net::SharedTransport& way, unsigned worker,
                                  const ConnectionUse& use, int* error) {
  errno = EINVAL;
  net::FileDescriptor fd;
  if (use.internal_listeners) {
    fd = use.internal_listeners->connect(to,
                                         way ? way->metadataFor(host.settings(), worker) : nullptr,
                                         way && way->tellsStates() ? use.states : nullptr);
  }
  if (!fd.valid()) *error = errno;
  return fd;
}

}  // namespace

std::string refusalText(const Host& host, const Cluster& cluster, const net::OriginalSource* from,
                        int error) {
  if (error == kOptionRefused) return {};
  if (error < 0) {
    std::string text = "failed to bind to ";
    return text.append(sourceText(host.address(), cluster.settings(), from))
        .append(": ")
        .append(std::strerror(-error));
  }
  std::string text = "immediate connect error: ";
  return text.append(std::strerror(error)).append("|remote address:").append(host.text());
}

net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 unsigned worker, int* error, const ConnectionUse& use) {
  const plan::Host& settings = host.settings();
  const net::Address& to = use.address ? *use.address : cluster.connectsTo(host);
  const net::SharedTransport& way = use.transport ? *use.transport : cluster.transport(settings);
  const bool is_race = !settings.tried_addresses.empty() && &to == &host.address();
  std::unique_ptr<AddressRace> race;
  net::FileDescriptor fd;
  if (to.isInternal()) {
    fd = connectWithin(host, to, way, worker, use, error);
  } else if (is_race) {
    race = AddressRace::begin(settings.tried_addresses, cluster.settings(), use, &fd, error);
  } else {
    fd = beginConnect(to, cluster.settings(), use.source, error);
  }
  if (!fd.valid()) return nullptr;
  std::unique_ptr<net::Transport> transport =
      makeTransport(way, {.worker = worker,
                          .host_name = settings.hostname,
                          .server_name = use.asked_name,
                          .wanted_names = use.wanted_names,
                          .chosen_protocols = use.chosen_protocols,
                          .client = use.client,
                          .protocols = use.protocols,
                          .address = &host.address(),
                          .proxy = host.proxy()});
  if (use.tunnel_answer) {
    transport =
        http::makeConnectTransport(use.tunnel_head, std::move(transport), use.tunnel_answer);
  }
  if (race) {
    race->wrap(std::move(transport));
    transport = std::move(race);
  }
  auto connection = std::make_unique<net::Connection>(
      loop, std::move(fd), cluster.settings().per_connection_buffer_limit_bytes,
      net::Connection::Start::Connecting, std::move(transport));
  connection->limitSlowness(cluster.settings().buffer_high_watermark_timeout_ms);
  if (connection->start()) return connection.release();
  *error = errno;
  return nullptr;
}

}  // namespace fairlead::upstream
