// What cache-control and pragma say (RFC 9111 §5.2, §5.4). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "http/message.h"

namespace fairlead::caches {

struct RequestDirectives {
  // What is stored may be used after its host has said so.
  bool must_validate = false;
  // The answer is not to be stored.
  bool no_store = false;
  std::optional<int64_t> max_age_s;
  std::optional<int64_t> min_fresh_s;
  // INT64_MAX: however old.
  std::optional<int64_t> max_stale_s;

  // pragma counts where there is no cache-control.
  static RequestDirectives of(const http::HeaderMap& headers);
};

struct ResponseDirectives {
  bool must_validate = false;
  // Not to be used once it is old, whatever a request says.
  bool no_stale = false;
  // no-store, or private: this cache is everybody's.
  bool no_store = false;
  // s-maxage before max-age.
  std::optional<int64_t> max_age_s;

  static ResponseDirectives of(const http::HeaderMap& headers);
};

}  // namespace fairlead::caches
