#include "filters/http/oauth2_session.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/hex.h"
#include "base/text.h"
#include "filters/http/header_rules.h"
#include "filters/jwt/token.h"
#include "log/log.h"
#include "tls/cipher.h"
#include "tls/hmac.h"

namespace fairlead::filters {

namespace {

using OAuthCounter = stats::HttpOAuth2::Counter;
using log::Component;

constexpr uint64_t kOAuthSecondUs = 1'000'000;
constexpr uint32_t kFewestPieces = 2;
constexpr uint32_t kMostPieces = 16;
// A piece's number has as many digits at most.
constexpr size_t kNumberSize = 2;
constexpr std::string_view kGcmMark = "gcm.";

std::string pieceName(const std::string& name, std::string_view suffix) {
  return name + "_" + std::string(suffix);
}
std::string pieceName(const std::string& name, uint32_t number) {
  return pieceName(name, std::to_string(number));
}

// As the real server reads numbers: blanks do not count, nor does a plus.
bool readNumber(std::string_view text, uint64_t* out) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  return parseDecimal(text, out);
}

bool isPrefixed(std::string_view name) {
  return name.starts_with("__Secure-") || name.starts_with("__Host-");
}

}  // namespace

const plan::OAuth2Cookie& OAuth2Session::cookieOf(Which which) const {
  if (which == kAccess) return *plan_.bearer_token;
  return which == kId ? *plan_.id_token : *plan_.refresh_token;
}

const std::string& OAuth2Session::tokenOf(Which which) const {
  if (which == kAccess) return tokens_.access;
  return which == kId ? tokens_.id : tokens_.refresh;
}

// ---- reading ----

bool OAuth2Session::read(CookieJar* jar) {
  if (jar->empty()) return false;
  bool is_changed = false;
  for (const Which which : {kAccess, kId, kRefresh}) {
    pieces_[which].is_whole = jar->find(cookieOf(which).name) != nullptr;
    is_changed |= join(which, jar);
  }
  if (plan_.disable_token_encryption) return is_changed;
  for (const Which which : {kAccess, kId, kRefresh}) {
    is_changed |= open(cookieOf(which).name, jar);
  }
  return is_changed;
}

bool OAuth2Session::join(Which which, CookieJar* jar) {
  const std::string& name = cookieOf(which).name;
  const std::string count_name = pieceName(name, "chunks");
  const std::string* const count = jar->find(count_name);
  if (!count) return false;
  uint64_t number = 0;
  bool is_good = readNumber(*count, &number) && number >= kFewestPieces && number <= kMostPieces;
  std::string whole;
  for (uint32_t i = 0; is_good && i < number; ++i) {
    const std::string* const value = jar->find(pieceName(name, i));
    is_good = value != nullptr;
    if (value) whole.append(*value);
  }
  // Of what makes no sense all go that there may be.
  const uint32_t pieces = is_good ? static_cast<uint32_t>(number) : kMostPieces;
  pieces_[which].count = pieces;
  for (uint32_t i = 0; i < pieces; ++i) jar->erase(pieceName(name, i));
  jar->erase(count_name);
  if (is_good) jar->set(name, whole);
  settings_.count(worker_, is_good ? OAuthCounter::OauthTokenCookieReassembled
                                   : OAuthCounter::OauthTokenCookieMalformedChunks);
  return true;
}

// What cannot be read stays: the digest says that it is none of ours.
bool OAuth2Session::open(std::string_view name, CookieJar* jar) const {
  const std::string* const value = jar->find(name);
  if (!value || value->empty()) return false;
  std::string token;
  const char* why = unseal(*value, &token);
  if (!why && !isHeaderValue(token)) why = "plaintext is not a valid header value";
  if (why) {
    log::error(Component::Oauth2, "failed to decrypt token: ", *value, ", error: ", why);
  } else {
    jar->set(name, token);
  }
  return true;
}

const char* OAuth2Session::unseal(std::string_view text, std::string* out) const {
  const bool is_gcm = text.starts_with(kGcmMark);
  std::string bytes;
  if (is_gcm) text.remove_prefix(kGcmMark.size());
  if (!is_gcm && !settings_.readsCbc()) return "Invalid encrypted data";
  if (!decodeBase64Url(text, &bytes)) bytes.clear();
  const char* const why = tls::unseal(is_gcm ? tls::Sealing::Gcm : tls::Sealing::Cbc,
                                      settings_.hmacSecret(worker_), bytes, out);
  if (!why && !is_gcm) settings_.count(worker_, OAuthCounter::OauthLegacyCbcDecrypt);
  return why;
}

std::string OAuth2Session::sealed(std::string_view text) const {
  const bool is_gcm = settings_.encryptsByGcm();
  const std::string bytes = tls::seal(is_gcm ? tls::Sealing::Gcm : tls::Sealing::Cbc,
                                      settings_.hmacSecret(worker_), text);
  return (is_gcm ? std::string(kGcmMark) : std::string()) + encodeBase64Url(bytes);
}

std::string OAuth2Session::digestOf(std::string_view host, std::string_view expires,
                                    std::string_view access, std::string_view id,
                                    std::string_view refresh) const {
  std::string text(plan_.cookie_domain.empty() ? host : std::string_view(plan_.cookie_domain));
  for (const std::string_view part : {expires, access, id, refresh}) {
    text.append("\n").append(part);
  }
  return tls::hmacOf(tls::Digest::Sha256, settings_.hmacSecret(worker_), text);
}

bool OAuth2Session::isValid(const CookieJar& jar, std::string_view host, uint64_t now_us) const {
  const std::string_view expires = jar.valueOf(plan_.expires->name);
  const std::string digest =
      digestOf(host, expires, jar.valueOf(plan_.bearer_token->name),
               jar.valueOf(plan_.id_token->name), jar.valueOf(plan_.refresh_token->name));
  const std::string_view said = jar.valueOf(plan_.hmac->name);
  // Older servers wrote it in hexadecimal.
  if (!tls::areSame(encodeBase64(digest), said) &&
      !tls::areSame(encodeBase64(hexOf(digest)), said)) {
    return false;
  }
  uint64_t expires_s = 0;
  return readNumber(expires, &expires_s) && expires_s > now_us / kOAuthSecondUs;
}

// ---- new tokens ----

// For how long a token is good, as it says itself where it is a JWT.
std::string OAuth2Session::livesOf(std::string_view token, uint64_t otherwise_s,
                                   uint64_t now_us) const {
  Arena arena(1024);
  JwtToken parsed;
  if (JwtToken::parse(token, arena, &parsed) != JwtStatus::Ok || parsed.exp == 0) {
    return std::to_string(otherwise_s);
  }
  const uint64_t now_s = now_us / kOAuthSecondUs;
  return std::to_string(parsed.exp > now_s ? parsed.exp - now_s : 0);
}

void OAuth2Session::renew(OAuth2Tokens tokens, std::string_view host, uint64_t now_us) {
  const uint64_t lives_s = tokens.expires_s;
  lives_ = std::to_string(lives_s);
  refresh_lives_ = plan_.use_refresh_token
                       ? livesOf(tokens.refresh, plan_.default_refresh_token_expires_s, now_us)
                       : lives_;
  id_lives_ = plan_.id_token_expires_with_access_token || tokens.id.empty()
                  ? lives_
                  : livesOf(tokens.id, lives_s, now_us);
  expires_ = std::to_string(now_us / kOAuthSecondUs + lives_s);
  tokens_ = std::move(tokens);
  if (plan_.disable_access_token_cookie) tokens_.access.clear();
  if (plan_.disable_id_token_cookie) tokens_.id.clear();
  if (!plan_.use_refresh_token || plan_.disable_refresh_token_cookie) tokens_.refresh.clear();
  digest_ = encodeBase64(digestOf(host, expires_, tokens_.access, tokens_.id, tokens_.refresh));
}

void OAuth2Session::keepRefreshToken(std::string_view token, std::string_view host) {
  tokens_.refresh = token;
  digest_ = encodeBase64(digestOf(host, expires_, tokens_.access, tokens_.id, tokens_.refresh));
}

// ---- writing ----

std::string OAuth2Session::tailOf(const plan::OAuth2Cookie& cookie, std::string_view lives) const {
  std::string tail = settings_.cookie_domain;
  tail.append(";path=").append(cookie.path).append(";Max-Age=").append(lives);
  tail.append(";secure;HttpOnly").append(cookie.same_site);
  if (cookie.partitioned) tail.append(";Partitioned");
  return tail;
}

std::string OAuth2Session::deletionOf(std::string_view name,
                                      const plan::OAuth2Cookie& cookie) const {
  std::string text(name);
  text.append("=deleted; path=").append(cookie.path);
  text.append("; expires=Thu, 01 Jan 1970 00:00:00 GMT").append(settings_.cookie_domain);
  // Browsers take nothing else of these.
  if (isPrefixed(name)) text.append("; Secure");
  return text;
}

std::string OAuth2Session::flowCookie(const plan::OAuth2Cookie& cookie, std::string_view suffix,
                                      std::string_view value, uint64_t lives_s) const {
  std::string text = cookie.name;
  if (!suffix.empty()) text.append(".").append(suffix);
  return text.append("=").append(value).append(tailOf(cookie, std::to_string(lives_s)));
}

bool OAuth2Session::writeToken(Which which, const std::string& lives,
                               std::vector<std::string>* out) const {
  const plan::OAuth2Cookie& cookie = cookieOf(which);
  const Pieces& old = pieces_[which];
  const std::string& token = tokenOf(which);
  const auto deletePieces = [&](uint32_t from) {
    if (old.count > 0 && from == 0)
      out->push_back(deletionOf(pieceName(cookie.name, "chunks"), cookie));
    for (uint32_t i = from; i < old.count; ++i) {
      out->push_back(deletionOf(pieceName(cookie.name, i), cookie));
    }
  };
  if (token.empty()) {
    deletePieces(0);
    if (old.is_whole) out->push_back(deletionOf(cookie.name, cookie));
    return true;
  }
  const std::string value = plan_.disable_token_encryption ? token : sealed(token);
  const std::string tail = tailOf(cookie, lives);
  const plan::OAuth2Chunks* const chunks = plan_.chunks.get();
  if (!chunks || cookie.name.size() + 1 + value.size() + tail.size() <= chunks->max_cookie_bytes) {
    deletePieces(0);
    out->push_back(cookie.name + "=" + value + tail);
    return true;
  }
  const size_t beside = cookie.name.size() + 1 + kNumberSize + 1 + tail.size();
  const size_t room = chunks->max_cookie_bytes - std::min<size_t>(beside, chunks->max_cookie_bytes);
  const size_t count = room == 0 ? SIZE_MAX : (value.size() + room - 1) / room;
  if (count > chunks->max_chunks) {
    settings_.count(worker_, OAuthCounter::OauthTokenCookieOversized);
    return false;
  }
  settings_.count(worker_, OAuthCounter::OauthTokenCookieChunked);
  if (old.is_whole) out->push_back(deletionOf(cookie.name, cookie));
  deletePieces(static_cast<uint32_t>(std::min<size_t>(count, kMostPieces)));
  for (uint32_t i = 0; i < count; ++i) {
    out->push_back(pieceName(cookie.name, i) + "=" + value.substr(i * room, room) + tail);
  }
  out->push_back(pieceName(cookie.name, "chunks") + "=" + std::to_string(count) + tail);
  return true;
}

bool OAuth2Session::write(std::vector<std::string>* out) {
  out->push_back(plan_.hmac->name + "=" + digest_ + tailOf(*plan_.hmac, lives_));
  out->push_back(plan_.expires->name + "=" + expires_ + tailOf(*plan_.expires, lives_));
  return writeToken(kAccess, lives_, out) && writeToken(kId, id_lives_, out) &&
         writeToken(kRefresh, refresh_lives_, out);
}

void OAuth2Session::deleteFlow(std::string_view flow, std::vector<std::string>* out) const {
  for (const plan::OAuth2Cookie* const cookie : {plan_.nonce.get(), plan_.code_verifier.get()}) {
    if (!flow.empty()) {
      out->push_back(deletionOf(cookie->name + "." + std::string(flow), *cookie));
    }
    out->push_back(deletionOf(cookie->name, *cookie));
  }
}

void OAuth2Session::signOut(const CookieJar& jar, std::vector<std::string>* out) const {
  for (const plan::OAuth2Cookie* const cookie :
       {plan_.hmac.get(), plan_.bearer_token.get(), plan_.id_token.get(), plan_.refresh_token.get(),
        plan_.expires.get()}) {
    out->push_back(deletionOf(cookie->name, *cookie));
  }
  for (const plan::OAuth2Cookie* const cookie : {plan_.nonce.get(), plan_.code_verifier.get()}) {
    for (const auto& [name, _] : jar.all()) {
      if (CookieJar::isOfFlow(name, cookie->name)) out->push_back(deletionOf(name, *cookie));
    }
  }
  for (const Which which : {kAccess, kId, kRefresh}) {
    const plan::OAuth2Cookie& cookie = cookieOf(which);
    const uint32_t count = pieces_[which].count;
    if (count > 0) out->push_back(deletionOf(pieceName(cookie.name, "chunks"), cookie));
    for (uint32_t i = 0; i < count; ++i) {
      out->push_back(deletionOf(pieceName(cookie.name, i), cookie));
    }
  }
}

}  // namespace fairlead::filters
