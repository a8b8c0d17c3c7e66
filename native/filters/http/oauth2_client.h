// What envoy.filters.http.oauth2 asks a token endpoint (RFC 6749 §4.1.3, §6; RFC 7523), and what it
// makes of the answer. Pure but for the clock and chance.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "calls/call.h"
#include "calls/calls.h"
#include "filters/http/oauth2_session.h"
#include "filters/http/oauth2_settings.h"

namespace fairlead::filters {

class OAuth2Client {
 public:
  OAuth2Client(const OAuth2Settings& settings, unsigned worker)
      : settings_(settings), plan_(settings.plan), worker_(worker) {}

  // What tells who asks: the secret, or a signed assertion. Otherwise why there is none.
  Result<std::string> credential() const;
  void askByCode(calls::Call& call, calls::Calls& calls, std::string_view credential,
                 std::string_view code, std::string_view redirect_uri,
                 std::string_view verifier) const;
  void askByRefreshToken(calls::Call& call, calls::Calls& calls, std::string_view credential,
                         std::string_view token) const;

  struct Answer {
    enum class Kind : uint8_t {
      Tokens,
      // It gives none.
      Refused,
      // It makes no sense.
      Wrong,
    };
    Kind kind = Kind::Wrong;
    OAuth2Tokens tokens;
    std::string reason;
    // What is known besides; empty: nothing is.
    std::string more;
  };
  Answer read(const calls::CallAnswer& answer) const;

 private:
  void post(calls::Call& call, calls::Calls& calls, std::string_view credential,
            std::string body) const;
  std::string identity(std::string_view credential) const;
  Result<std::string> assertion() const;

  const OAuth2Settings& settings_;
  const plan::OAuth2& plan_;
  const unsigned worker_;
};

}  // namespace fairlead::filters
