// One look at a request's tokens: whether it has what is required of it, and what hosts and logs
// hear of that. The worker's thread; lives for one call.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filters/http/http_filter.h"
#include "filters/jwt/key_store.h"
#include "filters/jwt/requirement.h"
#include "filters/jwt/token_cache.h"
#include "match/string_matcher.h"

namespace fairlead::filters {

// Immutable but for its keys and the workers' caches.
struct JwtProvider {
  plan::JwtProvider plan;
  JwtAudiences audiences;
  // Absent: any.
  std::optional<match::StringMatcher> subjects;
  // One of these two; neither: there are no keys.
  std::shared_ptr<const JwtKeySet> local;
  std::shared_ptr<JwtKeyStore> remote;
  // By worker.
  std::vector<std::unique_ptr<JwtTokenCache>> caches;
};

class JwtVerification {
 public:
  // What is known of a provider whose keys were asked for.
  enum class Fetch : uint8_t { None, Done, Failed };

  struct Scope {
    const std::vector<JwtProvider>& providers;
    unsigned worker;
    net::Millis now;
    uint64_t wall_s;
    Arena& arena;
    // By provider; what is not there: None.
    const std::vector<Fetch>& fetches;
    // Null: it has been counted before.
    stats::Shard<stats::HttpJwtAuthn>* stats;
  };

  JwtVerification(const Scope& scope, http::RequestHead& head) : scope_(scope), head_(head) {}

  // Changes the head. Waits: keys are to be fetched first, and the head is of no use.
  JwtStatus run(const JwtRequirement& requirement);

  // After Waits: whose keys.
  size_t missing() const { return missing_; }
  bool clearsRoute() const { return clears_route_; }
  // What is to be set as metadata; no member: nothing.
  const JsonNode& metadata() const { return metadata_; }

 private:
  // Whose token is looked at: one provider's, or whichever it is.
  struct Asked {
    const JwtRequirement& requirement;
    const JwtProvider* provider = nullptr;
    bool admits_failed = false;
    bool admits_missing = false;
  };

  JwtStatus runAny(const JwtRequirement& requirement);
  JwtStatus runAll(const JwtRequirement& requirement);
  JwtStatus extractOnly(const JwtRequirement& requirement);
  JwtStatus authenticate(const Asked& asked);
  JwtStatus check(const Asked& asked, const FoundToken& found);
  JwtStatus checkClaims(const Asked& asked, const JwtProvider& provider, const JwtToken& token);
  JwtStatus checkKeys(const JwtProvider& provider, const JwtToken& token);
  const JwtProvider* findByIssuer(std::string_view issuer) const;
  void accept(const JwtProvider& provider, const FoundToken& found, const JwtToken& token);
  void tellClaims(const JwtProvider& provider, const JwtToken& token);
  void tellFailure(const JwtProvider& provider, JwtStatus status);
  const JwtProvider* toldOf() const;
  const JsonNode* normalised(const JwtProvider& provider, const JsonNode* payload);
  void setMetadata(std::string_view key, const JsonNode& value);
  void addHeader(const std::string& name, std::string_view value);
  JsonNode* makeNode(JsonNode::Kind kind);
  static JsonNode emptyObject() {
    JsonNode node;
    node.kind = JsonNode::Kind::Object;
    return node;
  }

  const Scope& scope_;
  http::RequestHead& head_;
  size_t missing_ = 0;
  bool clears_route_ = false;
  JsonNode metadata_ = emptyObject();
  // Of the token that was looked at last; null: none was anybody's.
  const JwtProvider* current_ = nullptr;
  // What tokens that were remembered stand in, as long as this.
  std::vector<std::shared_ptr<const KeptToken>> kept_;
};

}  // namespace fairlead::filters
