#include "filters/jwt/verification.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>

#include "base/base64.h"
#include "filters/http/header_rules.h"

namespace fairlead::filters {

namespace {

constexpr uint64_t kDefaultSkewSeconds = 60;

// Whole numbers as such, others with six digits.
std::string numberText(double number) {
  constexpr double kTwoTo64 = 18446744073709551616.0;
  if (number >= 0 && number < kTwoTo64 && std::trunc(number) == number) {
    return std::to_string(static_cast<uint64_t>(number));
  }
  return std::to_string(number);
}

}  // namespace

JwtStatus JwtVerification::run(const JwtRequirement& requirement) {
  using Kind = JwtRequirement::Kind;
  switch (requirement.kind) {
    case Kind::None:
      return JwtStatus::Ok;
    case Kind::Provider:
      return authenticate({requirement, &scope_.providers[requirement.provider]});
    case Kind::Any:
      return runAny(requirement);
    case Kind::All:
      return runAll(requirement);
    case Kind::MissingOrFailed:
      return authenticate({requirement, nullptr, true, true});
    case Kind::Missing:
      return authenticate({requirement, nullptr, false, true});
    case Kind::ExtractOnly:
      return extractOnly(requirement);
  }
  return JwtStatus::VerificationFails;
}

// What is wrong with a token counts more than that it is not there or somebody else's.
JwtStatus JwtVerification::runAny(const JwtRequirement& requirement) {
  JwtStatus worst = JwtStatus::Missed;
  bool waits = false;
  for (const auto& part : requirement.parts) {
    const JwtStatus status = run(*part);
    if (status == JwtStatus::Ok) return status;
    if (status == JwtStatus::Waits) {
      waits = true;
      continue;
    }
    const bool is_minor = status == JwtStatus::Missed || status == JwtStatus::UnknownIssuer;
    if (!is_minor || worst == JwtStatus::Missed) worst = status;
  }
  if (waits) return JwtStatus::Waits;
  if (requirement.admits_failed) return JwtStatus::Ok;
  if (requirement.admits_missing && worst == JwtStatus::Missed) return JwtStatus::Ok;
  return worst;
}

JwtStatus JwtVerification::runAll(const JwtRequirement& requirement) {
  bool waits = false;
  for (const auto& part : requirement.parts) {
    const JwtStatus status = run(*part);
    if (status == JwtStatus::Waits) {
      waits = true;
    } else if (status != JwtStatus::Ok) {
      return status;
    }
  }
  return waits ? JwtStatus::Waits : JwtStatus::Ok;
}

// Whatever becomes of the tokens, the request goes on; hosts hear where one is not good.
JwtStatus JwtVerification::extractOnly(const JwtRequirement& requirement) {
  const JwtStatus status = authenticate({requirement, nullptr, false, true});
  if (status == JwtStatus::Waits) return status;
  const std::string& header = requirement.status_header.text();
  if (status != JwtStatus::Ok && !header.empty()) {
    for (http::HeaderEntry& entry : head_.headers) {
      if (requirement.status_header.names(entry)) entry.remove();
    }
    addHeader(header, "false");
  }
  return JwtStatus::Ok;
}

// All that a request has must be good, unless that is not asked.
JwtStatus JwtVerification::authenticate(const Asked& asked) {
  current_ = nullptr;
  asked.requirement.extractor.sanitize(head_.headers);
  std::vector<FoundToken> tokens = asked.requirement.extractor.extract(head_, scope_.arena);
  JwtStatus status = JwtStatus::Missed;
  do {
    if (!tokens.empty()) {
      const FoundToken found = tokens.back();
      tokens.pop_back();
      status = check(asked, found);
      if (status == JwtStatus::Waits) return status;
    }
    if (status == JwtStatus::Ok) continue;
    if (const JwtProvider* const provider = toldOf()) tellFailure(*provider, status);
    if (!asked.admits_failed && !asked.admits_missing) return status;
  } while (!tokens.empty());
  if (asked.admits_failed) return JwtStatus::Ok;
  if (asked.admits_missing && status == JwtStatus::Missed) return JwtStatus::Ok;
  return status;
}

// Whose metadata says what is wrong; null: nobody's. Of a token that is of nobody the only one
// there is.
const JwtProvider* JwtVerification::toldOf() const {
  if (current_ || scope_.providers.size() != 1) return current_;
  return &scope_.providers.front();
}

JwtStatus JwtVerification::check(const Asked& asked, const FoundToken& found) {
  using Counter = stats::HttpJwtAuthn::Counter;
  const JwtProvider* provider = asked.provider;
  current_ = provider;
  std::shared_ptr<const KeptToken> kept;
  if (provider) {
    kept = provider->caches[scope_.worker]->find(found.text, scope_.wall_s);
    if (scope_.stats) scope_.stats->add(kept ? Counter::JwtCacheHit : Counter::JwtCacheMiss);
  }
  JwtToken parsed;
  if (kept) {
    kept_.push_back(kept);
    parsed = kept->token;
  } else {
    const JwtStatus status = JwtToken::parse(scope_.arena.copy(found.text), scope_.arena, &parsed);
    if (status != JwtStatus::Ok) return status;
  }
  if (!found.issuers->has(parsed.iss)) return JwtStatus::UnknownIssuer;
  if (!provider) provider = findByIssuer(parsed.iss);
  if (!provider) return JwtStatus::UnknownIssuer;
  current_ = provider;
  JwtStatus status = checkClaims(asked, *provider, parsed);
  if (status == JwtStatus::Ok && !kept) status = checkKeys(*provider, parsed);
  if (status != JwtStatus::Ok) return status;
  const std::string_view text = scope_.arena.copy(found.text);
  accept(*provider, found, parsed);
  if (asked.provider && !kept) provider->caches[scope_.worker]->keep(text);
  return JwtStatus::Ok;
}

JwtStatus JwtVerification::checkClaims(const Asked& asked, const JwtProvider& provider,
                                       const JwtToken& token) {
  const plan::JwtProvider& plan = provider.plan;
  const uint64_t skew_s = plan.clock_skew_s > 0 ? plan.clock_skew_s : kDefaultSkewSeconds;
  const JwtStatus status = token.checkTime(scope_.wall_s, skew_s);
  if (status != JwtStatus::Ok) return status;
  const auto& own = asked.requirement.audiences;
  const bool is_admitted =
      own ? own->admits(token.audiences) : provider.audiences.admits(token.audiences);
  if (!is_admitted) return JwtStatus::AudienceNotAllowed;
  if (plan.subjects && provider.subjects && !provider.subjects->matches(token.sub)) {
    return JwtStatus::VerificationFails;
  }
  if ((plan.require_expiration || plan.max_lifetime_s) && token.exp == 0) {
    return JwtStatus::VerificationFails;
  }
  if (plan.max_lifetime_s && token.exp > scope_.wall_s &&
      token.exp - scope_.wall_s > *plan.max_lifetime_s) {
    return JwtStatus::VerificationFails;
  }
  return JwtStatus::Ok;
}

JwtStatus JwtVerification::checkKeys(const JwtProvider& provider, const JwtToken& token) {
  const JwtKeySet* keys = provider.local.get();
  if (provider.remote) {
    const auto place = static_cast<size_t>(&provider - scope_.providers.data());
    const Fetch fetch = place < scope_.fetches.size() ? scope_.fetches[place] : Fetch::None;
    if (fetch == Fetch::Failed) return JwtStatus::FetchFails;
    // What has just come will do, however short it is good.
    keys = fetch == Fetch::Done ? provider.remote->latestOf(scope_.worker)
                                : provider.remote->keysOf(scope_.worker, scope_.now);
    if (!keys) {
      missing_ = place;
      return JwtStatus::Waits;
    }
  }
  return keys ? keys->verify(token) : JwtStatus::NoValidKeys;
}

const JwtProvider* JwtVerification::findByIssuer(std::string_view issuer) const {
  const JwtProvider* of_any = nullptr;
  for (const JwtProvider& provider : scope_.providers) {
    if (provider.plan.issuer == issuer) return &provider;
    if (provider.plan.issuer.empty() && !of_any) of_any = &provider;
  }
  return of_any;
}

void JwtVerification::accept(const JwtProvider& provider, const FoundToken& found,
                             const JwtToken& token) {
  const plan::JwtProvider& plan = provider.plan;
  if (!plan.forward_payload_header.empty()) {
    std::string payload(token.payload_text);
    while (plan.pads_payload && payload.size() % 4 != 0) payload.push_back('=');
    addHeader(plan.forward_payload_header, payload);
  }
  tellClaims(provider, token);
  if (!plan.forward) removeToken(found, head_, scope_.arena);
  if (!plan.header_in_metadata.empty()) setMetadata(plan.header_in_metadata, *token.header);
  if (!plan.payload_in_metadata.empty()) {
    setMetadata(plan.payload_in_metadata, *normalised(provider, token.payload));
  }
  clears_route_ |= plan.clears_route;
}

void JwtVerification::tellClaims(const JwtProvider& provider, const JwtToken& token) {
  for (const plan::JwtClaimHeader& claim : provider.plan.claim_headers) {
    const JsonNode* at = token.payload;
    for (const std::string& key : claim.path) at = at ? at->find(key) : nullptr;
    if (!at) continue;
    std::string value;
    if (at->isString()) {
      value = at->text;
    } else if (at->isNumber()) {
      value = numberText(at->number);
    } else if (at->isBool()) {
      value = at->kind == JsonNode::Kind::True ? "true" : "false";
    } else if (at->isArray() || at->isObject()) {
      std::string json;
      appendJson(&json, *at);
      value = encodeBase64(json);
    }
    // An issuer may repeat what its users say of themselves.
    if (!value.empty() && isHeaderValue(value)) addHeader(claim.header, value);
  }
}

void JwtVerification::tellFailure(const JwtProvider& provider, JwtStatus status) {
  if (provider.plan.failed_status_in_metadata.empty()) return;
  JsonNode* const failure = makeNode(JsonNode::Kind::Object);
  JsonNode* const code = makeNode(JsonNode::Kind::Number);
  JsonNode* const message = makeNode(JsonNode::Kind::String);
  code->key = "code";
  code->number = static_cast<double>(status);
  code->next = message;
  message->key = "message";
  message->text = textOf(status);
  failure->first = code;
  setMetadata(provider.plan.failed_status_in_metadata, *failure);
}

// With lists in place of texts whose words are apart.
const JsonNode* JwtVerification::normalised(const JwtProvider& provider, const JsonNode* payload) {
  const std::vector<std::string>& names = provider.plan.space_delimited_claims;
  if (names.empty()) return payload;
  JsonNode* const made = makeNode(JsonNode::Kind::Object);
  const JsonNode** link = &made->first;
  for (const JsonNode* at = payload->first; at; at = at->next) {
    JsonNode* const copy = makeNode(at->kind);
    *copy = *at;
    copy->next = nullptr;
    if (at->isString() && std::ranges::find(names, at->key) != names.end()) {
      copy->kind = JsonNode::Kind::Array;
      const JsonNode** word_link = &copy->first;
      std::string_view rest = at->text;
      while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (word.empty()) continue;
        JsonNode* const element = makeNode(JsonNode::Kind::String);
        element->text = word;
        *word_link = element;
        word_link = &element->next;
      }
    }
    *link = copy;
    link = &copy->next;
  }
  return made;
}

void JwtVerification::setMetadata(std::string_view key, const JsonNode& value) {
  JsonNode* const member = makeNode(value.kind);
  *member = value;
  member->key = key;
  // Of one name the last counts.
  member->next = nullptr;
  const JsonNode** link = &metadata_.first;
  while (*link) link = &const_cast<JsonNode*>(*link)->next;
  *link = member;
}

void JwtVerification::addHeader(const std::string& name, std::string_view value) {
  head_.headers.add(http::internHeader(name), name, scope_.arena.copy(value));
}

JsonNode* JwtVerification::makeNode(JsonNode::Kind kind) {
  char* room = scope_.arena.allocate(sizeof(JsonNode) + alignof(JsonNode) - 1);
  const size_t off = reinterpret_cast<uintptr_t>(room) % alignof(JsonNode);
  if (off != 0) room += alignof(JsonNode) - off;
  JsonNode* const node = new (room) JsonNode();
  node->kind = kind;
  return node;
}

}  // namespace fairlead::filters
