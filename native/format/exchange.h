// What few formats and loggers ask of a request's or a connection's way to its host: moments, the
// connections that were tried. Noted only where somebody asks (isExchangeWanted). The worker's
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::format {

// As COMMON_DURATION spells them.
enum class TimePoint : uint8_t {
  DownstreamRxBegin,
  DownstreamRxEnd,
  UpstreamConnectBegin,
  UpstreamConnectEnd,
  UpstreamHandshakeEnd,
  UpstreamTxBegin,
  UpstreamTxEnd,
  UpstreamRxBegin,
  UpstreamRxBodyBegin,
  UpstreamRxEnd,
  DownstreamTxBegin,
  DownstreamTxEnd,
  // A connection was asked for; it was found, or none.
  PoolBegin,
  PoolReady,
  kCount,
};

// How a connection ended, as far as the socket tells; None: nothing is known of any.
enum class CloseType : uint8_t { None, Normal, LocalReset, RemoteReset };

struct Exchange {
  struct Tried {
    std::string address;
    // Empty: it has none.
    std::string name;
    // 0: there was no connection.
    uint64_t connection_id = 0;
  };

  // Of the loop's clock; 0: it has not come.
  std::array<uint64_t, static_cast<size_t>(TimePoint::kCount)> at_us{};
  std::vector<Tried> tried;
  // How long the request's route was looked for, and how often.
  uint64_t route_us = 0;
  uint32_t routes = 0;

  uint64_t& at(TimePoint point) { return at_us[static_cast<size_t>(point)]; }
  uint64_t at(TimePoint point) const { return at_us[static_cast<size_t>(point)]; }
  void markFirst(TimePoint point, uint64_t now_us) {
    if (at(point) == 0) at(point) = now_us;
  }
  // Of the host and its answer: another try begins.
  void forgetUpstream() {
    for (size_t i = static_cast<size_t>(TimePoint::UpstreamConnectBegin);
         i <= static_cast<size_t>(TimePoint::UpstreamRxEnd); ++i) {
      at_us[i] = 0;
    }
    at(TimePoint::PoolBegin) = at(TimePoint::PoolReady) = 0;
  }
  uint64_t connectionId() const { return tried.empty() ? 0 : tried.back().connection_id; }
  void clear() {
    at_us = {};
    tried.clear();
    route_us = routes = 0;
  }
};

// Whether anything that was ever built asks for an Exchange. For good, once it is so; any thread.
inline std::atomic<bool> exchange_wanted{false};
inline bool isExchangeWanted() { return exchange_wanted.load(std::memory_order_relaxed); }
inline void wantExchange() { exchange_wanted.store(true, std::memory_order_relaxed); }

inline std::optional<TimePoint> parseTimePoint(std::string_view name) {
  constexpr std::pair<std::string_view, TimePoint> kNames[] = {
      {"DS_RX_BEG", TimePoint::DownstreamRxBegin},
      {"DS_RX_END", TimePoint::DownstreamRxEnd},
      {"US_CX_BEG", TimePoint::UpstreamConnectBegin},
      {"US_CX_END", TimePoint::UpstreamConnectEnd},
      {"US_HS_END", TimePoint::UpstreamHandshakeEnd},
      {"US_TX_BEG", TimePoint::UpstreamTxBegin},
      {"US_TX_END", TimePoint::UpstreamTxEnd},
      {"US_RX_BEG", TimePoint::UpstreamRxBegin},
      {"US_RX_BODY_BEG", TimePoint::UpstreamRxBodyBegin},
      {"US_RX_END", TimePoint::UpstreamRxEnd},
      {"DS_TX_BEG", TimePoint::DownstreamTxBegin},
      {"DS_TX_END", TimePoint::DownstreamTxEnd},
  };
  for (const auto& [known, point] : kNames) {
    if (known == name) return point;
  }
  return std::nullopt;
}

}  // namespace fairlead::format
