// Operators that speak of a request's way to its host: moments, connections, ends.
#include <algorithm>
#include <vector>

#include "format/append_number.h"
#include "format/piece.h"

namespace fairlead::format {

namespace {

std::string_view closeTypeName(CloseType type) {
  switch (type) {
    case CloseType::None:
      break;
    case CloseType::Normal:
      return "Normal";
    case CloseType::LocalReset:
      return "LocalReset";
    case CloseType::RemoteReset:
      return "RemoteReset";
  }
  return {};
}

// "host:80", "[::1]:80"; what has no port stays.
std::string_view withoutPortOf(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return host;
  if (host.find(']', colon) != std::string_view::npos) return host;
  // Of IPv6 without brackets there is no telling.
  if (host.front() != '[' && host.find(':') != colon) return host;
  return host.substr(0, colon);
}

}  // namespace

// "DS_RX_BEG:US_TX_END:us": in milliseconds unless it says otherwise.
void Piece::parseDuration(std::string_view argument) {
  const auto next = [&argument] {
    const std::string_view part = argument.substr(0, argument.find(':'));
    argument.remove_prefix(std::min(part.size() + 1, argument.size()));
    return part;
  };
  from_ = parseTimePoint(next()).value_or(TimePoint::kCount);
  to_ = parseTimePoint(next()).value_or(TimePoint::kCount);
  const std::string_view precision = next();
  if (precision == "us") precision_ = Precision::Microseconds;
  if (precision == "ns") precision_ = Precision::Nanoseconds;
  wantExchange();
}

bool Piece::appendBetween(const FormatContext& context, std::string* out) const {
  if (to_ == TimePoint::kCount) return false;
  uint64_t from = context.started_us;
  if (kind_ == Kind::Between) {
    if (from_ == TimePoint::kCount) return false;
    from = context.moment(from_);
  } else if (to_ == TimePoint::PoolReady) {
    from = context.moment(TimePoint::PoolBegin);
  }
  const uint64_t to = context.moment(to_);
  if (from == 0 || to < from) return false;
  const uint64_t micros = to - from;
  appendNumber(precision_ == Precision::Milliseconds   ? micros / 1000
               : precision_ == Precision::Microseconds ? micros
                                                       : micros * 1000,
               out);
  return true;
}

bool Piece::appendHostName(const FormatContext& context, std::string* out) const {
  char text[net::Address::kTextBytes];
  std::string_view name = context.upstream_host_name;
  if (name.empty()) {
    if (!context.upstream_host) return false;
    name = context.upstream_host->writeText(text);
  }
  out->append(is_variant_ ? name : withoutPortOf(name));
  return true;
}

// In the order of their tries.
bool Piece::appendTried(const FormatContext& context, std::string* out) const {
  if (!context.exchange) return false;
  const std::vector<Exchange::Tried>& tried = context.exchange->tried;
  const auto shown = [this](const Exchange::Tried& one) {
    const std::string_view text = text_ && !one.name.empty() ? one.name : one.address;
    return is_variant_ ? text : withoutPortOf(text);
  };
  const size_t start = out->size();
  for (size_t i = 0; i < tried.size(); ++i) {
    if (out->size() > start) out->push_back(',');
    out->append(shown(tried[i]));
  }
  return out->size() > start;
}

bool Piece::appendTriedIds(const FormatContext& context, std::string* out) const {
  if (!context.exchange) return false;
  const size_t start = out->size();
  for (const Exchange::Tried& one : context.exchange->tried) {
    if (one.connection_id == 0) continue;
    if (out->size() > start) out->push_back(',');
    appendNumber(one.connection_id, out);
  }
  return out->size() > start;
}

bool Piece::appendClose(const FormatContext& context, std::string* out) const {
  const std::string_view name = closeTypeName(context.*close_);
  out->append(name);
  return !name.empty();
}

}  // namespace fairlead::format
