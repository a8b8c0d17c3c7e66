// Why a line is logged (envoy.data.accesslog.v3.AccessLogType), with its numbers there.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::format {

enum class LogType : uint8_t {
  NotSet = 0,
  TcpUpstreamConnected = 1,
  TcpPeriodic = 2,
  TcpConnectionEnd = 3,
  DownstreamStart = 4,
  DownstreamPeriodic = 5,
  DownstreamEnd = 6,
  UpstreamPoolReady = 7,
  UpstreamPeriodic = 8,
  UpstreamEnd = 9,
  DownstreamTunnelSuccessfullyEstablished = 10,
  TcpConnectionStart = 14,
};

inline std::string_view logTypeName(LogType type) {
  switch (type) {
    case LogType::NotSet:
      break;
    case LogType::TcpUpstreamConnected:
      return "TcpUpstreamConnected";
    case LogType::TcpPeriodic:
      return "TcpPeriodic";
    case LogType::TcpConnectionEnd:
      return "TcpConnectionEnd";
    case LogType::DownstreamStart:
      return "DownstreamStart";
    case LogType::DownstreamPeriodic:
      return "DownstreamPeriodic";
    case LogType::DownstreamEnd:
      return "DownstreamEnd";
    case LogType::UpstreamPoolReady:
      return "UpstreamPoolReady";
    case LogType::UpstreamPeriodic:
      return "UpstreamPeriodic";
    case LogType::UpstreamEnd:
      return "UpstreamEnd";
    case LogType::DownstreamTunnelSuccessfullyEstablished:
      return "DownstreamTunnelSuccessfullyEstablished";
    case LogType::TcpConnectionStart:
      return "TcpConnectionStart";
  }
  return "NotSet";
}

}  // namespace fairlead::format
