// One host's reports of its load, out of band: a stream of
// xds.service.orca.v3.OpenRcaService/StreamCoreMetrics on a connection of its own, asked for anew
// when it breaks, unless the host knows no such thing. The checker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "health/check.h"
#include "health/load_config.h"

namespace fairlead::health {

class LoadSession : private net::Timer {
 public:
  LoadSession(CheckContext& context, std::shared_ptr<const LoadConfig> config,
              std::shared_ptr<upstream::Host> host);
  ~LoadSession();
  LoadSession(const LoadSession&) = delete;
  LoadSession& operator=(const LoadSession&) = delete;

  // The host does not know what it is asked: nobody asks again.
  bool hasGivenUp() const { return has_given_up_; }

 private:
  // A connection to the host, with the stream on it. Frees itself with the turn in which it closes.
  class Link;

  // Its pause is over, or its patience.
  void onTimer() override;
  void begin();
  // What the link tells.
  void onReady();
  // False: it makes no sense.
  bool onReport(std::string_view message);
  // `grpc_status`: -1: nobody knows.
  void onEnd(int64_t grpc_status, std::string_view why);
  void onBroken(std::string_view why);

  void giveUp(int64_t grpc_status, std::string_view why);
  void retryLater();
  void abandon();
  std::string authority() const;

  CheckContext& context_;
  const std::shared_ptr<const LoadConfig> config_;
  const std::shared_ptr<upstream::Host> host_;
  // Where it is asked, if not at its own address.
  std::unique_ptr<const net::Address> address_;
  // Null: there is none.
  Link* link_ = nullptr;
  // The next pause is shorter than this.
  uint64_t pause_ms_;
  bool has_given_up_ = false;
};

}  // namespace fairlead::health
