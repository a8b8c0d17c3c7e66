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

// What became of what was to be changed; as ExtProcLoggingInfo counts them.
enum class EditEffect : uint8_t { None, Applied, Invalid, TooLarge, Failed };

struct EditTally {
  // How often something was not done.
  uint32_t rejected = 0;
  EditEffect effect = EditEffect::None;
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

  // What response code details say of it; empty: it was done.
  std::string_view apply(const EditedHead& head, Arena& arena, EditTally* tally) const;
};

}  // namespace fairlead::filters
