// Which of the codings that a proxy has a client wants most, as the real server reads its
// Accept-Encoding. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::filters {

struct OfferedCoding {
  std::string_view name;
  // Of two that are wanted alike.
  bool is_first_choice = false;
};

struct CodingChoice {
  enum class By : uint8_t {
    // Nothing that is on offer is wanted.
    NotValid,
    Identity,
    Wildcard,
    Name,
  };
  By by = By::NotValid;
  // "identity": as it is. Of what was on offer, or of the client's.
  std::string_view name = "identity";
};

constexpr size_t kMaxOffers = 63;

// `offers`: in the order of the filters, each name once.
CodingChoice chooseCoding(std::string_view accept_encoding, std::span<const OfferedCoding> offers);

}  // namespace fairlead::filters
