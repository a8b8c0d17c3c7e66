// Where a redirect sends its client. Immutable; results live in the caller's arena.
#pragma once

#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/match.h"
#include "route/rewrite.h"

namespace fairlead::route {

struct Redirect {
  // Without its regular expressions.
  plan::Redirect plan;
  Rewrite path_rewrite;

  static Result<Redirect> build(const plan::Redirect& plan);
  // The value of `location`. `match` took the request.
  std::string_view location(const RequestView& request, const Match& match, Arena& arena) const;

 private:
  std::string_view path(const RequestView& request, const Match& match, Arena& arena) const;
};

// The request's own address: what a direct response of 201 or 3xx says in `location`.
std::string_view ownLocation(const RequestView& request, Arena& arena);

// The same over https: what a virtual host answers that requires TLS.
std::string_view tlsLocation(const RequestView& request, Arena& arena);

}  // namespace fairlead::route
