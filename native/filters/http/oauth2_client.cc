#include "filters/http/oauth2_client.h"

#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "filters/http/header_rules.h"
#include "tls/cipher.h"
#include "tls/private_key.h"

namespace fairlead::filters {

namespace {

using AuthType = plan::OAuth2::AuthType;
using http::HeaderId;

// As the real server has it: what else forms do not allow stays.
std::string formEncoded(std::string_view text) {
  constexpr std::string_view kReserved = ":/=&?+";
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= ' ' && byte < '~' && kReserved.find(c) == std::string_view::npos) {
      made.push_back(c);
    } else {
      appendUpperHex(&made.append(1, '%'), c);
    }
  }
  return made;
}

// RFC 9562 §5.4
std::string randomUuid() {
  std::string bytes = tls::randomBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    appendHex(&text, bytes[i]);
  }
  return text;
}

std::string jsonText(std::string_view text) {
  std::string made;
  appendJsonString(&made, text);
  return made;
}

// A member by its name in protobuf or in JSON. Null: it is not there.
const JsonNode* memberOf(const JsonNode& object, std::string_view name, std::string_view json) {
  const JsonNode* node = object.find(name);
  if (!node) node = object.find(json);
  return node && node->kind != JsonNode::Kind::Null ? node : nullptr;
}

// False: it is something else.
bool readText(const JsonNode* node, std::string* out) {
  if (!node) return true;
  if (!node->isString()) return false;
  out->assign(node->text);
  return true;
}

bool readSeconds(const JsonNode* node, uint64_t* out) {
  if (!node) return true;
  if (node->isString()) return parseDecimal(node->text, out);
  if (!node->isNumber()) return false;
  if (parseDecimal(node->text, out)) return true;
  constexpr double kMost = 9'007'199'254'740'992;
  if (node->number < 0 || node->number > kMost || node->number != std::floor(node->number)) {
    return false;
  }
  *out = static_cast<uint64_t>(node->number);
  return true;
}

}  // namespace

// ---- who asks ----

Result<std::string> OAuth2Client::credential() const {
  switch (plan_.auth_type) {
    case AuthType::TlsClientAuth:
      return std::string();
    case AuthType::PrivateKeyJwt:
      return assertion();
    default:
      return settings_.tokenSecret(worker_);
  }
}

Result<std::string> OAuth2Client::assertion() const {
  const plan::OAuth2Assertion& plan = *plan_.assertion;
  const auto key = tls::PrivateKey::load(settings_.tokenSecret(worker_));
  if (!key) return Error{"Failed to parse private key PEM for JWT signing"};
  const bool is_rsa = plan.algorithm.starts_with("RS");
  if (is_rsa != key.value().isRsa() || is_rsa == key.value().isEc()) {
    return Error{"signing algorithm " + plan.algorithm + " requires an " + (is_rsa ? "RSA" : "EC") +
                 " private key"};
  }
  const uint64_t now_s = wallClockMicros() / 1'000'000;
  const std::string client = jsonText(plan_.client_id);
  const std::string now = std::to_string(now_s);
  const std::string header = "{\"alg\":" + jsonText(plan.algorithm) + ",\"typ\":\"JWT\"}";
  const std::string payload =
      "{\"iss\":" + client + ",\"sub\":" + client + ",\"aud\":" + jsonText(plan.audience) +
      ",\"exp\":" + std::to_string(now_s + plan.lifetime_s) + ",\"iat\":" + now +
      ",\"nbf\":" + now + ",\"jti\":\"" + randomUuid() + "\"}";
  const std::string text = encodeBase64Url(header) + "." + encodeBase64Url(payload);
  const tls::Digest digest = plan.algorithm.ends_with("512")   ? tls::Digest::Sha512
                             : plan.algorithm.ends_with("384") ? tls::Digest::Sha384
                                                               : tls::Digest::Sha256;
  const std::string signature = key.value().sign(digest, text);
  if (signature.empty()) return Error{"Failed to sign JWT assertion"};
  return text + "." + encodeBase64Url(signature);
}

// What a body says of it.
std::string OAuth2Client::identity(std::string_view credential) const {
  const std::string client = "&client_id=" + formEncoded(plan_.client_id);
  switch (plan_.auth_type) {
    case AuthType::BasicAuth:
      return {};
    case AuthType::TlsClientAuth:
      return client;
    case AuthType::PrivateKeyJwt:
      return client +
             "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-"
             "bearer&client_assertion=" +
             formEncoded(credential);
    case AuthType::UrlEncodedBody:
      break;
  }
  return client + "&client_secret=" + formEncoded(credential);
}

// ---- asking ----

void OAuth2Client::post(calls::Call& call, calls::Calls& calls, std::string_view credential,
                        std::string body) const {
  Arena& arena = calls.arena();
  arena.reset();
  http::HeaderMap& headers = calls.headers();
  headers.clear();
  headers.add(HeaderId::ContentType, "content-type", "application/x-www-form-urlencoded");
  headers.add(HeaderId::Accept, "accept", "application/json");
  if (plan_.auth_type == AuthType::BasicAuth) {
    const std::string pair = plan_.client_id + ":" + std::string(credential);
    headers.add(HeaderId::Authorization, "authorization", arena.join("Basic ", encodeBase64(pair)));
  }
  headers.add(HeaderId::ContentLength, "content-length", arena.decimal(body.size()));
  call.ask(calls, *settings_.service, {"POST", plan_.token_path, plan_.token_authority, &headers},
           body);
}

void OAuth2Client::askByCode(calls::Call& call, calls::Calls& calls, std::string_view credential,
                             std::string_view code, std::string_view redirect_uri,
                             std::string_view verifier) const {
  std::string body = "grant_type=authorization_code&code=";
  body.append(code).append(identity(credential));
  body.append("&redirect_uri=").append(formEncoded(redirect_uri));
  body.append("&code_verifier=").append(verifier);
  post(call, calls, credential, std::move(body));
}

void OAuth2Client::askByRefreshToken(calls::Call& call, calls::Calls& calls,
                                     std::string_view credential, std::string_view token) const {
  post(call, calls, credential,
       "grant_type=refresh_token&refresh_token=" + formEncoded(token) + identity(credential));
}

// ---- the answer ----

OAuth2Client::Answer OAuth2Client::read(const calls::CallAnswer& answer) const {
  using Kind = Answer::Kind;
  if (answer.is_broken) {
    return {Kind::Refused, {}, "Failed to get access token due to HTTP request failure", {}};
  }
  const std::string body(answer.body);
  if (answer.status != 200) {
    return {Kind::Refused,
            {},
            "Failed to get access token",
            "response code: " + std::to_string(answer.status) + ", response body: " + body};
  }
  Arena arena(4096);
  const JsonNode* const root = parseJson(body, arena, JsonRepeats::LastWins);
  const std::string said = "response body: " + body;
  OAuth2Tokens tokens;
  tokens.expires_s = plan_.default_expires_s;
  const JsonNode* const access =
      root && root->isObject() ? memberOf(*root, "access_token", "accessToken") : nullptr;
  if (!root || !root->isObject() || !readText(access, &tokens.access) ||
      !readText(memberOf(*root, "id_token", "idToken"), &tokens.id) ||
      !readText(memberOf(*root, "refresh_token", "refreshToken"), &tokens.refresh) ||
      !readSeconds(memberOf(*root, "expires_in", "expiresIn"), &tokens.expires_s)) {
    return {Kind::Wrong,
            {},
            "Failed to parse oauth response body",
            said +
                ", exception: Unable to parse JSON as proto (INVALID_ARGUMENT: invalid JSON in "
                "envoy.extensions.http_filters.oauth2.OAuthResponse): " +
                body};
  }
  if (!access) {
    return {Kind::Wrong, {}, "No access token found in the token exchange response", said};
  }
  for (const std::string* const token : {&tokens.access, &tokens.id, &tokens.refresh}) {
    if (!isHeaderValue(*token)) {
      return {
          Kind::Wrong, {}, "A token that is no header value in the token exchange response", said};
    }
  }
  if (tokens.expires_s == 0) {
    return {Kind::Wrong,
            {},
            "No default or explicit access token expiration found in the token exchange response",
            said};
  }
  return {Kind::Tokens, std::move(tokens), {}, {}};
}

}  // namespace fairlead::filters
