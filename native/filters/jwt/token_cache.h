// Tokens that were found to be good, by their text: a worker's, the latest used first.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "filters/jwt/token.h"

namespace fairlead::filters {

// With the memory that it stands in.
struct KeptToken {
  std::string text;
  Arena arena{1024};
  JwtToken token;
};

class JwtTokenCache {
 public:
  // `max_tokens`: 0: none is kept.
  JwtTokenCache(size_t max_tokens, size_t max_bytes)
      : max_tokens_(max_tokens), max_bytes_(max_bytes) {}

  // Null: it is not there, or has expired.
  std::shared_ptr<const KeptToken> find(std::string_view text, uint64_t now_s);
  void keep(std::string_view text);

 private:
  // As long after its end as the real server gives by default.
  static constexpr uint64_t kSkewSeconds = 60;
  using Order = std::list<std::shared_ptr<const KeptToken>>;

  const size_t max_tokens_;
  const size_t max_bytes_;
  Order order_;
  // Keys are of the tokens.
  std::unordered_map<std::string_view, Order::iterator> by_text_;
};

}  // namespace fairlead::filters
