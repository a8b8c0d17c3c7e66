// A running data plane on loopback, with one listener and one cluster named "origin", and what
// tests ask of it: its port, its numbers, and that nothing is left when all is done.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "test/native/support/socket.h"
#include "worker/data_plane.h"

namespace fairlead::test {

// A cluster, its hosts and an HTTP listener that sends everything there; short names:
// "http.in.", "cluster.origin.", "listener.in.".
plan::Update httpPlan(const std::vector<uint16_t>& hosts);
// The same with a TCP relay: "tcp.in.".
plan::Update tcpPlan(const std::vector<uint16_t>& hosts);
// Hosts of "origin" on loopback.
plan::Assignment hostsOn(const std::vector<uint16_t>& ports);

class Proxy {
 public:
  explicit Proxy(const plan::Update& plan, unsigned workers = 1,
                 std::shared_ptr<filters::TapSink> tap_sink = nullptr);
  Proxy(const plan::Update& plan, worker::DataPlane::Options options);
  // Expects that nothing is left: no active connection or request, no budget in use.
  ~Proxy();

  uint16_t port() const { return port_; }
  Socket connect(int receive_bytes = 0) const { return Socket::connect(port_, receive_bytes); }
  worker::DataPlane& dataPlane() { return data_plane_; }
  // 0 when nobody wrote to it yet.
  uint64_t stat(std::string_view name);
  // False: it took too long to become so.
  bool waitFor(std::string_view stat, uint64_t value);
  // The same, of one that comes to be when statistics are wanted.
  bool waitForRefreshed(std::string_view stat, uint64_t value);
  bool waitUntil(const std::function<bool()>& holds);
  // Waits until no connection of clients and no request is left.
  void expectQuiet();
  // Everything that comes to `point` is shed from now on.
  void shed(plan::OverloadLevel::Subject point);
  // Ends workers; connections may be active.
  void stop();

 private:
  void expectNothingHeld();

  worker::DataPlane data_plane_;
  uint16_t port_ = 0;
  bool stopped_ = false;
};

}  // namespace fairlead::test
