// What comes back from a provider with a client: the state that it was sent there with, and whether
// it is one of ours. Pure, but for the secret of the moment.
#pragma once

#include <string>
#include <string_view>

#include "filters/http/oauth2_session.h"
#include "filters/http/oauth2_settings.h"

namespace fairlead::filters {

// Goes to the provider as a parameter, and comes back as it was.
struct OAuth2State {
  // Why it is none; empty: it is one.
  std::string why;
  std::string url;
  std::string csrf_token;
  std::string flow;

  static OAuth2State parse(std::string_view coded);
  static std::string code(std::string_view url, std::string_view csrf_token, std::string_view flow);
};

// "<nonce>.<its digest>"
std::string csrfTokenOf(std::string_view secret, std::string_view nonce);

// Of a flow, or what older servers have left.
std::string_view flowValueOf(const CookieJar& jar, const std::string& name, std::string_view flow);

struct OAuth2Callback {
  // Empty: state and code are good. Otherwise why they are not.
  std::string why;
  std::string code;
  // Known once the state is ours, whatever else is wrong.
  std::string flow;
  std::string original_url;

  static OAuth2Callback read(const OAuth2Settings& settings, std::string_view secret,
                             std::string_view path, const CookieJar& jar);

 private:
  std::string checkState(const OAuth2Settings& settings, std::string_view secret,
                         const CookieJar& jar, std::string_view coded);
};

}  // namespace fairlead::filters
