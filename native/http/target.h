// What a request line's target names (RFC 9112 §3.2). Pure; views into the target.
#pragma once

#include <string_view>

namespace fairlead::http {

struct Target {
  enum class Form : unsigned char { Origin, Absolute, Authority, Asterisk };
  Form form = Form::Origin;
  // Absolute: "http" or "https".
  std::string_view scheme;
  // Absolute and authority form.
  std::string_view authority;
  // With its query; "*" for the asterisk form; empty for the authority form.
  std::string_view path;
};

// False: no form that this method may have.
bool parseTarget(std::string_view method, std::string_view target, Target* out);

// Whether a Host header's value is made of bytes that an authority may have (RFC 3986 §3.2).
bool isValidAuthority(std::string_view authority);

}  // namespace fairlead::http
