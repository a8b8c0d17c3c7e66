// A connection to a host of which TLS decides what it speaks: waits for the handshake, and is that
// codec from then on. Owned by its callbacks; the worker's thread.
#pragma once

#include <memory>

#include "http/client_loans.h"
#include "http/codec.h"
#include "http/codec_settings.h"
#include "net/connection.h"

namespace fairlead::http {

class AlpnClient final : public ClientCodec, private net::ConnectionHandler, private net::Timer {
 public:
  AlpnClient(net::Connection& connection, const ClientSettings& settings, const ClientLoans& loans,
             ClientCodecCallbacks& callbacks);
  ~AlpnClient() override;

  // ClientCodec
  uint32_t freeStreams() const override { return codec_ ? codec_->freeStreams() : 0; }
  ClientStream& newStream(ResponseSink& sink) override { return codec_->newStream(sink); }
  bool isActive() const override { return codec_ && codec_->isActive(); }
  bool isMultiplexed() const override { return codec_ && codec_->isMultiplexed(); }
  void drain() override;
  void abort(ClientCodecCallbacks::CloseReason reason) override;
  net::Connection& connection() override { return connection_; }
  std::string_view protocol() const override;

 private:
  // net::ConnectionHandler
  void onReady(int error) override;
  void onReadable() override {}
  void onWriteFailed() override {}
  // net::Timer
  void onTimer() override { fail(ClientCodecCallbacks::Failure::Timeout, 0); }

  void fail(ClientCodecCallbacks::Failure failure, int error);

  net::Connection& connection_;  // Open unless is_over_; gone with the turn of that.
  const ClientSettings& settings_;
  const ClientLoans loans_;
  ClientCodecCallbacks& callbacks_;
  // Null: the handshake goes on.
  std::unique_ptr<ClientCodec> codec_;
  bool is_over_ = false;
};

}  // namespace fairlead::http
