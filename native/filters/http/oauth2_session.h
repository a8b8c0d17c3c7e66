// The cookies by which envoy.filters.http.oauth2 knows a client again: its tokens, sealed and,
// where they are long, in pieces; when they end, and a digest of all that. Of one request; its
// worker's thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "filters/http/cookie_jar.h"
#include "filters/http/oauth2_settings.h"

namespace fairlead::filters {

struct OAuth2Tokens {
  std::string access;
  std::string id;
  std::string refresh;
  uint64_t expires_s = 0;
};

class OAuth2Session {
 public:
  OAuth2Session(const OAuth2Settings& settings, unsigned worker)
      : settings_(settings), plan_(settings.plan), worker_(worker) {}

  // Puts tokens in the place of what is sealed, and of pieces. True: the jar is another one.
  bool read(CookieJar* jar);
  // Whether its client is logged in at that time.
  bool isValid(const CookieJar& jar, std::string_view host, uint64_t now_us) const;
  // Another one, of new tokens at that time. What the configuration keeps out of cookies is empty.
  void renew(OAuth2Tokens tokens, std::string_view host, uint64_t now_us);
  const OAuth2Tokens& tokens() const { return tokens_; }
  const std::string& expires() const { return expires_; }
  const std::string& digest() const { return digest_; }
  // No new refresh token has come: the old one goes on.
  void keepRefreshToken(std::string_view token, std::string_view host);
  // For `set-cookie`. False: a token is longer than all its pieces may be.
  bool write(std::vector<std::string>* out);

  // ---- of a login that is under way ----
  // Before the texts, as configured: encrypted by what is on.
  std::string sealed(std::string_view text) const;
  // Null: it is in `out`.
  const char* unseal(std::string_view text, std::string* out) const;
  std::string flowCookie(const plan::OAuth2Cookie& cookie, std::string_view suffix,
                         std::string_view value, uint64_t lives_s) const;
  // Of this one, and of those without a name of their own.
  void deleteFlow(std::string_view flow, std::vector<std::string>* out) const;
  void signOut(const CookieJar& jar, std::vector<std::string>* out) const;

 private:
  enum Which : uint8_t { kAccess, kId, kRefresh, kTokens };
  // What the request has of a token.
  struct Pieces {
    // 0: it is whole, or is not there.
    uint32_t count = 0;
    bool is_whole = false;
  };

  const plan::OAuth2Cookie& cookieOf(Which which) const;
  const std::string& tokenOf(Which which) const;
  bool join(Which which, CookieJar* jar);
  bool open(std::string_view name, CookieJar* jar) const;
  std::string digestOf(std::string_view host, std::string_view expires, std::string_view access,
                       std::string_view id, std::string_view refresh) const;
  std::string tailOf(const plan::OAuth2Cookie& cookie, std::string_view lives) const;
  std::string deletionOf(std::string_view name, const plan::OAuth2Cookie& cookie) const;
  bool writeToken(Which which, const std::string& lives, std::vector<std::string>* out) const;
  std::string livesOf(std::string_view token, uint64_t otherwise_s, uint64_t now_us) const;

  const OAuth2Settings& settings_;
  const plan::OAuth2& plan_;
  const unsigned worker_;
  std::array<Pieces, kTokens> pieces_;
  OAuth2Tokens tokens_;
  std::string expires_;
  std::string digest_;
  std::string lives_;
  std::string id_lives_;
  std::string refresh_lives_;
};

}  // namespace fairlead::filters
