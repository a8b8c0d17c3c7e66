// Which hosts a request may go to, where filters say so beside what is configured. Pure.
#pragma once

#include <optional>
#include <span>

#include "format/filter_metadata.h"
#include "net/findings.h"
#include "plan/subset_criteria.h"

namespace fairlead::proxy {

// What the metadata of the connection asks for stands before what is configured, and that of the
// request before either. `configured`, `findings`: null: there is none. Absent: neither asks for
// any.
std::optional<plan::SubsetCriteria> subsetOf(const plan::SubsetCriteria* configured,
                                             const net::Findings* findings,
                                             std::span<const format::SetMetadata> request);

}  // namespace fairlead::proxy
