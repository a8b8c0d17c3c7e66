// Texts of the filter state that are read as more than that: numbers, addresses, whether something
// is so. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/address.h"
#include "net/filter_state.h"
#include "plan/plan.gen.h"

namespace fairlead::net {

// Writes the text as it is kept. False: it is none of that kind, and nothing is kept.
bool readStateValue(plan::FilterStateValue::Kind kind, std::string* text, FilterState::Form* form);

// "10.0.0.1:80" or "[::1]:80": an address needs its port.
std::optional<Address> parseAddressWithPort(std::string_view text);

// "ip" and "port" of what was read as an address. False: there is no such field.
bool appendAddressField(std::string_view text, std::string_view field, std::string* out);

// Where hosts by their original destinations are. Absent: nothing is kept, or no address.
std::optional<Address> destinationKept(const FilterState* request, const FilterState* connection);

}  // namespace fairlead::net
