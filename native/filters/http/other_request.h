// A request that a filter makes in the place of the one whose answer it holds: of the same client,
// with another host and path, as GET, without a body.
#pragma once

#include <cstdint>
#include <memory>

#include "http/message.h"
#include "route/header_mutations.h"
#include "route/redirect.h"

namespace fairlead::filters {

struct OtherRequest {
  // Of what the request is by now.
  const route::Redirect& to;
  const route::MutationList& request_add;
  // Of the answer that is given up.
  uint16_t status;
  const http::HeaderMap& headers;
  // What the filter finds with the answer to come.
  std::shared_ptr<const void> memo;

  enum class Outcome : uint8_t {
    // It is under way in the next turn, which the filter does not see: the answer waits until then.
    Begun,
    // The answer is the request's: there is no such address,
    BadAddress,
    // nobody to ask,
    NoRoute,
    // or no request any more that it could be made of.
    Impossible,
  };
};

}  // namespace fairlead::filters
