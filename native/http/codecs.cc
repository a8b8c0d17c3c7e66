#include "http/codecs.h"

#include "http/alpn_client.h"
#include "http/http1/client_connection.h"
#include "http/http1/server_connection.h"
#include "http/http2/client_session.h"
#include "http/http2/server_session.h"
#include "http/tunnel_client.h"

namespace fairlead::http {

std::unique_ptr<ServerCodec> makeServerCodec(Protocol protocol, net::Connection& connection,
                                             const ServerSettings& settings,
                                             const CodecScratch& scratch,
                                             ServerCodecCallbacks& callbacks) {
  if (protocol == Protocol::Http2) {
    return std::make_unique<http2::ServerSession>(connection, settings, scratch, callbacks);
  }
  return std::make_unique<http1::ServerConnection>(connection, settings, scratch, callbacks);
}

std::unique_ptr<ClientCodec> makeClientCodec(ClientProtocol protocol, net::Connection& connection,
                                             const ClientSettings& settings,
                                             const ClientLoans& loans,
                                             ClientCodecCallbacks& callbacks) {
  switch (protocol) {
    case ClientProtocol::Http1:
      break;
    case ClientProtocol::Http2:
      return std::make_unique<http2::ClientSession>(connection, settings, loans, callbacks);
    case ClientProtocol::ByAlpn:
      return std::make_unique<AlpnClient>(connection, settings, loans, callbacks);
  }
  return std::make_unique<http1::ClientConnection>(connection, settings, loans.scratch.batch,
                                                   loans.scratch.response, callbacks);
}

std::unique_ptr<ClientCodec> makeTunnelCodec(net::Connection& connection,
                                             const ClientSettings& settings,
                                             const CodecScratch& scratch,
                                             ClientCodecCallbacks& callbacks) {
  return std::make_unique<TunnelClient>(connection, settings, scratch, callbacks);
}

}  // namespace fairlead::http
