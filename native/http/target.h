// What a request line's target names (RFC 9112 §3.2), as the real server reads it. Pure; views into
// the target.
#pragma once

#include <string_view>

#include "http/message.h"

namespace fairlead::http {

struct Target {
  enum class Form : unsigned char { Origin, Absolute, Authority, Asterisk };
  Form form = Form::Origin;
  // Absolute: "http" or "https", in the case it came in.
  std::string_view scheme;
  // Absolute (without user information) and authority form.
  std::string_view authority;
  // With its query; what begins with an asterisk for the asterisk form; empty for the authority
  // form. The absolute form may have "?query" alone, which no route matches.
  std::string_view path;
};

// RESPONSE_CODE_DETAILS of a target that no request of this method may have, whose answer is 400;
// empty: `out` is filled. `target` is not empty. `takes_absolute`: else what would be of the
// absolute form is a path, whatever is in it.
std::string_view parseTarget(std::string_view method, std::string_view target, Target* out,
                             bool takes_absolute = true);

// Whether an authority is made of bytes that one may have (RFC 3986 §3.2) without user information,
// which none has in a request (RFC 9110 §4.2.4). An answer to one that is not: 400 with these
// details.
bool isValidAuthority(std::string_view authority);
inline constexpr std::string_view kInvalidAuthorityDetails = "http.invalid_authority";

// Gives the head the path and authority that its target names, and takes its host header out, which
// names the authority where the target does not. Details of a 400 as above: there may be one such
// line at most, and a valid one (RFC 9112 §3.2), but for the absolute form, beside which it is
// ignored (§3.2.2).
std::string_view takeAuthority(const Target& target, RequestHead& head);

}  // namespace fairlead::http
