// Makes codecs: the only place that knows which there are.
#pragma once

#include <memory>

#include "http/client_loans.h"
#include "http/codec.h"
#include "http/codec_settings.h"

namespace fairlead::http {

// The codec becomes the connection's handler, which is there or is being made, and closes it.
// `settings`, `scratch` and `callbacks` outlive the codec.
enum class Protocol : uint8_t { Http1, Http2 };
std::unique_ptr<ServerCodec> makeServerCodec(Protocol protocol, net::Connection& connection,
                                             const ServerSettings& settings,
                                             const CodecScratch& scratch,
                                             ServerCodecCallbacks& callbacks);

enum class ClientProtocol : uint8_t {
  Http1,
  Http2,
  // What is agreed on with the host by TLS.
  ByAlpn,
};

std::unique_ptr<ClientCodec> makeClientCodec(ClientProtocol protocol, net::Connection& connection,
                                             const ClientSettings& settings,
                                             const ClientLoans& loans,
                                             ClientCodecCallbacks& callbacks);

// The same of a connection that is one tunnel, on which no HTTP is spoken.
std::unique_ptr<ClientCodec> makeTunnelCodec(net::Connection& connection,
                                             const ClientSettings& settings,
                                             const CodecScratch& scratch,
                                             ClientCodecCallbacks& callbacks);

}  // namespace fairlead::http
