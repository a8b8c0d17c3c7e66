// A JSON Web Token (RFC 7519) in its compact form, taken apart as the real server does. Views and
// nodes live in the arena that it was parsed with, or in the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/json_tree.h"
#include "filters/jwt/status.h"

namespace fairlead::filters {

struct JwtToken {
  // Ok, or the first that is wrong.
  static JwtStatus parse(std::string_view text, Arena& arena, JwtToken* out);

  // Whether it is good at that second of the Unix time, give or take.
  JwtStatus checkTime(uint64_t now_s, uint64_t skew_s) const;

  // What the signature is of.
  std::string_view signed_text;
  // As it was sent.
  std::string_view payload_text;
  const JsonNode* header = nullptr;
  const JsonNode* payload = nullptr;
  std::string_view alg;
  std::string_view kid;
  std::string_view iss;
  std::string_view sub;
  // 0: it does not say.
  uint64_t iat = 0;
  uint64_t nbf = 0;
  uint64_t exp = 0;
  std::vector<std::string_view> audiences;
  std::string_view signature;
};

}  // namespace fairlead::filters
