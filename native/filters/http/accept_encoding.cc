#include "filters/http/accept_encoding.h"

#include <charconv>
#include <optional>

#include "base/check.h"
#include "base/text.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kWildcard = "*";

struct Wanted {
  std::string_view name;
  float quality;
};

// Nothing: it cannot be read, and counts for nothing.
std::optional<float> qualityOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  float quality = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return quality;
}

// "gzip;q=0.5"
std::optional<Wanted> readToken(std::string_view token) {
  const size_t semicolon = token.find(';');
  Wanted wanted{trimmed(token.substr(0, semicolon)), 1};
  if (semicolon == std::string_view::npos) return wanted;
  const std::string_view parameters = token.substr(semicolon + 1);
  const size_t equals = parameters.find('=');
  if (equals == std::string_view::npos) return wanted;
  const std::string_view name = trimmed(parameters.substr(0, equals));
  if (name != "q" && name != "Q") return wanted;
  const auto quality = qualityOf(trimmed(parameters.substr(equals + 1)));
  if (!quality) return std::nullopt;
  wanted.quality = *quality;
  return wanted;
}

// Calls it with each of the list.
template <typename Visit>
void forEachWanted(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view token = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (token.empty()) continue;
    if (const auto wanted = readToken(token)) visit(*wanted);
  }
}

}  // namespace

CodingChoice chooseCoding(std::string_view accept_encoding, std::span<const OfferedCoding> offers) {
  FL_DCHECK(offers.size() <= kMaxOffers);
  // By their places; those that are refused by name are taken out first, wherever that stands.
  uint64_t refused = 0;
  const auto find = [&](std::string_view name) {
    for (size_t i = 0; i < offers.size(); ++i) {
      if (offers[i].name == name && (refused >> i & 1) == 0) return static_cast<int>(i);
    }
    return -1;
  };
  forEachWanted(accept_encoding, [&](const Wanted& wanted) {
    if (const int at = find(wanted.name); wanted.quality == 0 && at >= 0) refused |= 1ULL << at;
  });
  if (refused + 1 == 1ULL << offers.size()) return {};
  Wanted best{kIdentity, 0};
  forEachWanted(accept_encoding, [&](const Wanted& wanted) {
    const int at = find(wanted.name);
    if (at < 0 && wanted.name != kIdentity && wanted.name != kWildcard) return;
    const bool is_first_choice = at >= 0 && offers[static_cast<size_t>(at)].is_first_choice;
    if (wanted.quality > best.quality || (wanted.quality == best.quality && is_first_choice)) {
      best = wanted;
    }
  });
  if (best.quality == 0) return {};
  if (best.name == kIdentity) return {CodingChoice::By::Identity, kIdentity};
  if (best.name != kWildcard) return {CodingChoice::By::Name, best.name};
  size_t first = 0;
  while ((refused >> first & 1) != 0) ++first;
  return {CodingChoice::By::Wildcard, offers[first].name};
}

}  // namespace fairlead::filters
