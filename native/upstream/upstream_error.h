// How a try of a request failed before its answer began: the one value from which follow whether it
// is tried again, response flags, statistics, the log, and what the client is told.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/response_flags.h"

namespace fairlead::upstream {

class Host;

struct UpstreamError {
  enum class Kind : uint8_t {
    // A limit of the cluster's.
    Overflow,
    ConnectFailure,
    ConnectTimeout,
    // The host ended the connection.
    ConnectionTermination,
    // What the host sent is not the protocol.
    ProtocolError,
    // From here: the try took too long.
    LocalReset,
    // The host gave up this exchange alone.
    RemoteReset,
    // The host has not looked at the request.
    RemoteRefused,
    // The host could not connect to whom a CONNECT asks for.
    ConnectError,
    // The own address could not be taken.
    LocalConnectFailure,
  };
  Kind kind;
  // Whose failure it is; null: no host was asked.
  Host* host = nullptr;
  // The request was on its way to the host.
  bool request_began = false;
  // What is known of the transport's failure; may be empty. Static text.
  std::string_view transport = {};
};

// "connection termination"
inline std::string_view reasonOf(UpstreamError::Kind kind) {
  switch (kind) {
    case UpstreamError::Kind::Overflow:
      return "overflow";
    case UpstreamError::Kind::ConnectFailure:
      return "remote connection failure";
    case UpstreamError::Kind::ConnectTimeout:
      return "connection timeout";
    case UpstreamError::Kind::ConnectionTermination:
      return "connection termination";
    case UpstreamError::Kind::ProtocolError:
      return "protocol error";
    case UpstreamError::Kind::LocalReset:
      return "local reset";
    case UpstreamError::Kind::RemoteReset:
      return "remote reset";
    case UpstreamError::Kind::RemoteRefused:
      return "remote refused stream reset";
    case UpstreamError::Kind::ConnectError:
      return "remote error with CONNECT request";
    case UpstreamError::Kind::LocalConnectFailure:
      return "local connection failure";
  }
  return {};
}

inline format::ResponseFlag flagOf(UpstreamError::Kind kind) {
  using Flag = format::ResponseFlag;
  switch (kind) {
    case UpstreamError::Kind::Overflow:
      return Flag::UpstreamOverflow;
    case UpstreamError::Kind::ConnectFailure:
    case UpstreamError::Kind::ConnectTimeout:
    case UpstreamError::Kind::LocalConnectFailure:
      return Flag::UpstreamConnectionFailure;
    case UpstreamError::Kind::ConnectionTermination:
      return Flag::UpstreamConnectionTermination;
    case UpstreamError::Kind::ProtocolError:
      return Flag::UpstreamProtocolError;
    case UpstreamError::Kind::RemoteReset:
    case UpstreamError::Kind::RemoteRefused:
    case UpstreamError::Kind::ConnectError:
      return Flag::UpstreamRemoteReset;
    case UpstreamError::Kind::LocalReset:
      break;
  }
  return Flag::LocalReset;
}

// There was no connection to begin with.
constexpr bool isOfConnecting(UpstreamError::Kind kind) {
  using Kind = UpstreamError::Kind;
  return kind == Kind::ConnectFailure || kind == Kind::ConnectTimeout ||
         kind == Kind::LocalConnectFailure;
}

}  // namespace fairlead::upstream
