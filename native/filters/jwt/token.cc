#include "filters/jwt/token.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/base64.h"

namespace fairlead::filters {

namespace {

constexpr std::array<std::string_view, 13> kAlgorithms = {
    "ES256", "ES384", "ES512", "HS256", "HS384", "HS512", "RS256",
    "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"};

// Null: it is not Base64url, or no object in JSON; `status` says which.
const JsonNode* partOf(std::string_view coded, Arena& arena, JwtStatus bad_base64,
                       JwtStatus bad_json, JwtStatus* status) {
  std::string text;
  if (!decodeBase64Url(coded, &text)) {
    *status = bad_base64;
    return nullptr;
  }
  const JsonNode* node = parseJson(arena.copy(text), arena, JsonRepeats::Refused);
  if (node && node->isObject()) return node;
  *status = bad_json;
  return nullptr;
}

// False: it is something else than a string.
bool readText(const JsonNode* object, std::string_view name, std::string_view* out) {
  const JsonNode* found = object->find(name);
  if (!found) return true;
  if (!found->isString()) return false;
  *out = found->text;
  return true;
}

JwtStatus readTime(const JsonNode* payload, std::string_view name, JwtStatus not_integer,
                   JwtStatus out_of_range, uint64_t* out) {
  constexpr double kTwoTo64 = 18446744073709551616.0;
  const JsonNode* found = payload->find(name);
  if (!found) return JwtStatus::Ok;
  if (!found->isNumber()) return not_integer;
  if (!(found->number >= 0 && found->number < kTwoTo64)) return out_of_range;
  *out = static_cast<uint64_t>(found->number);
  return JwtStatus::Ok;
}

bool readAudiences(const JsonNode* payload, std::vector<std::string_view>* out) {
  const JsonNode* found = payload->find("aud");
  if (!found) return true;
  if (found->isString()) {
    out->push_back(found->text);
    return true;
  }
  if (!found->isArray()) return false;
  for (const JsonNode* at = found->first; at; at = at->next) {
    if (!at->isString()) return false;
    out->push_back(at->text);
  }
  return true;
}

JwtStatus readHeader(JwtToken* token) {
  const JsonNode* alg = token->header->find("alg");
  if (!alg || !alg->isString()) return JwtStatus::HeaderBadAlg;
  token->alg = alg->text;
  if (std::ranges::find(kAlgorithms, token->alg) == kAlgorithms.end()) {
    return JwtStatus::HeaderUnknownAlg;
  }
  return readText(token->header, "kid", &token->kid) ? JwtStatus::Ok : JwtStatus::HeaderBadKid;
}

JwtStatus readPayload(JwtToken* token) {
  const JsonNode* payload = token->payload;
  if (!readText(payload, "iss", &token->iss)) return JwtStatus::IssNotString;
  if (!readText(payload, "sub", &token->sub)) return JwtStatus::SubNotString;
  for (const JwtStatus status :
       {readTime(payload, "iat", JwtStatus::IatNotInteger, JwtStatus::IatOutOfRange, &token->iat),
        readTime(payload, "nbf", JwtStatus::NbfNotInteger, JwtStatus::NbfOutOfRange, &token->nbf),
        readTime(payload, "exp", JwtStatus::ExpNotInteger, JwtStatus::ExpOutOfRange,
                 &token->exp)}) {
    if (status != JwtStatus::Ok) return status;
  }
  std::string_view jti;
  if (!readText(payload, "jti", &jti)) return JwtStatus::JtiNotString;
  return readAudiences(payload, &token->audiences) ? JwtStatus::Ok : JwtStatus::AudNotString;
}

// Empty parts between dots count for nothing.
bool split(std::string_view text, std::array<std::string_view, 3>* parts) {
  size_t count = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('.'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.empty()) continue;
    if (count == parts->size()) return false;
    (*parts)[count++] = part;
  }
  return count == parts->size();
}

}  // namespace

JwtStatus JwtToken::parse(std::string_view text, Arena& arena, JwtToken* out) {
  std::array<std::string_view, 3> parts;
  if (!split(text, &parts)) return JwtStatus::BadFormat;
  JwtStatus status = JwtStatus::Ok;
  out->header =
      partOf(parts[0], arena, JwtStatus::HeaderBadBase64, JwtStatus::HeaderBadJson, &status);
  if (!out->header) return status;
  status = readHeader(out);
  if (status != JwtStatus::Ok) return status;
  out->payload_text = parts[1];
  out->payload =
      partOf(parts[1], arena, JwtStatus::PayloadBadBase64, JwtStatus::PayloadBadJson, &status);
  if (!out->payload) return status;
  status = readPayload(out);
  if (status != JwtStatus::Ok) return status;
  std::string signature;
  if (!decodeBase64Url(parts[2], &signature)) return JwtStatus::SignatureBadBase64;
  out->signature = arena.copy(signature);
  out->signed_text = arena.join(parts[0], ".", parts[1]);
  return JwtStatus::Ok;
}

JwtStatus JwtToken::checkTime(uint64_t now_s, uint64_t skew_s) const {
  if (now_s + skew_s < nbf) return JwtStatus::NotYetValid;
  if (exp > 0 && now_s > skew_s && now_s - skew_s > exp) return JwtStatus::Expired;
  return JwtStatus::Ok;
}

}  // namespace fairlead::filters
