#include "http/alpn_client.h"

#include "http/http1/client_connection.h"
#include "http/http2/client_session.h"

namespace fairlead::http {

AlpnClient::AlpnClient(net::Connection& connection, const ClientSettings& settings,
                       const ClientLoans& loans, ClientCodecCallbacks& callbacks)
    : connection_(connection), settings_(settings), loans_(loans), callbacks_(callbacks) {
  connection_.setHandler(*this);
  net::Loop& loop = connection_.loop();
  loop.timers().arm(this, loop.now() + settings_.connect_timeout_ms);
}

AlpnClient::~AlpnClient() {
  if (!codec_ && !is_over_) connection_.close();
}

void AlpnClient::onReady(int error) {
  if (error != 0) {
    fail(ClientCodecCallbacks::Failure::Refused, error);
    return;
  }
  Timer::disarm();
  const net::SharedTlsInfo tls = connection_.tls();
  if (tls && tls->protocol() == "h2") {
    auto codec = std::make_unique<http2::ClientSession>(connection_, settings_, loans_, callbacks_);
    codec->beginSession();
    codec_ = std::move(codec);
  } else {
    auto codec = std::make_unique<http1::ClientConnection>(
        connection_, settings_, loans_.scratch.batch, loans_.scratch.response, callbacks_);
    codec->beginSession();
    codec_ = std::move(codec);
  }
  callbacks_.onConnected();
}

void AlpnClient::fail(ClientCodecCallbacks::Failure failure, int error) {
  is_over_ = true;
  Timer::disarm();
  connection_.close();
  callbacks_.onConnectFailed(failure, error);
}

void AlpnClient::drain() {
  if (codec_) codec_->drain();
}

void AlpnClient::abort(ClientCodecCallbacks::CloseReason reason) {
  if (codec_) {
    codec_->abort(reason);
    return;
  }
  if (is_over_) return;
  is_over_ = true;
  Timer::disarm();
  connection_.close();
  callbacks_.onClosed(reason, false);
}

std::string_view AlpnClient::protocol() const {
  return codec_ ? codec_->protocol() : std::string_view("HTTP/1.1");
}

}  // namespace fairlead::http
