// What a filter stopped of a request or an answer, until it goes on. Owned by a filter chain, which
// uses it again; the worker's thread.
#pragma once

#include <cstdint>

#include "base/slab.h"
#include "http/saved_head.h"

namespace fairlead::proxy {

struct HeldMessage {
  http::SavedHead head;
  // An answer's.
  uint16_t status = 0;
  SlabChain body;
  http::SavedHead trailers;
  // The message is whole; without trailers, the last of the body says so.
  bool is_complete = false;
  // Who holds it would have it whole: what is more than may be held is too much.
  bool is_wanted_whole = false;
  // Whoever sends it waits.
  bool pauses_sender = false;

  // As new; the body is empty already. Heads that were restored stay valid until they are trimmed.
  void clear() {
    head.unset();
    trailers.unset();
    is_complete = is_wanted_whole = pauses_sender = false;
  }
  void trim() {
    head.clear();
    trailers.clear();
  }
};

}  // namespace fairlead::proxy
