// Whether a request was here as a whole before its head came to a filter.
#pragma once

#include "filters/http/filter_place.h"
#include "format/context.h"

namespace fairlead::filters {

// For inside of onRequestHead(). As in the real server, what has waited for another filter comes as
// one piece then, whatever its size.
inline bool hasRequestWaited(const FilterPlace& place) {
  format::FormatContext context;
  place.describe(&context);
  return context.request_end_us != format::kUnknown;
}

}  // namespace fairlead::filters
