// Checks by TCP: a host is well that can be connected to, or that says what is expected. The
// checker's thread.
#pragma once

#include <string>

#include "health/check.h"
#include "net/connection.h"

namespace fairlead::health {

class TcpCheck final : public Check, private net::ConnectionHandler {
 public:
  using Check::Check;
  ~TcpCheck() override { close(); }

 private:
  // Check
  void begin() override;
  void giveUp() override { close(); }

  // net::ConnectionHandler
  void onReady(int error) override;
  void onReadable() override;
  void onWriteFailed() override;

  // Tells the host whom the connection is for, where that is wanted.
  void introduce();
  void send();
  // The host has ended the connection, or cannot be reached.
  void lose();
  void close();

  // More than any answer that says something.
  static constexpr size_t kMostBytes = 1024 * 1024;

  // Null: there is none.
  net::Connection* connection_ = nullptr;
  // What has come and does not say enough yet.
  std::string received_;
};

}  // namespace fairlead::health
