// What an external processor changes of a head or of trailers (HeaderMutation). Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "filters/http/filter_place.h"
#include "filters/http/header_rules.h"
#include "http/message.h"

namespace fairlead::filters {

// A message's own; null: it is none of these.
struct EditedHead {
  http::RequestHead* request = nullptr;
  uint16_t* status = nullptr;
  http::HeaderMap& headers;
};

struct ProcessorEdits {
  // HeaderMutation. Values that are set are views of it.
  std::string_view mutation;
  const HeaderRules& rules;
  HeadLimits limits;
  // The message is another one from here on: its method may be, too.
  bool replaces = false;
  // content-length is not the service's to say.
  bool keeps_length_out = false;

  // What response code details say of it; empty: it was done. `rejected`: how often something was
  // not.
  std::string_view apply(const EditedHead& head, Arena& arena, uint32_t* rejected) const;
};

}  // namespace fairlead::filters
