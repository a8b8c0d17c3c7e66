// Makes equal paths look equal (RFC 3986 §6.2.2), as far as a listener asks for it: escaped slashes
// first, then parameters of dot segments, unreserved bytes and dot segments, then doubled slashes.
// The query stays as it is. Pure; a path that stays the same costs one look at its bytes and no
// memory.
#pragma once

#include <string_view>

#include "base/arena.h"

namespace fairlead::http {

enum class EscapedSlashes : unsigned char { Keep, Reject, UnescapeAndRedirect, UnescapeAndForward };

struct PathRules {
  bool normalize = false;
  bool merge_slashes = false;
  EscapedSlashes escaped_slashes = EscapedSlashes::Keep;
};

struct NormalizedPath {
  enum class Result : unsigned char { Unchanged, Changed, Redirect, Rejected };
  Result result;
  // With its query; in the arena when it changed.
  std::string_view path;
};

// `path` begins with a slash.
NormalizedPath normalizePath(std::string_view path, const PathRules& rules, Arena& arena);

}  // namespace fairlead::http
