// Where tokens of one or several providers are found in a request. Immutable; any thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "format/header_name.h"
#include "http/message.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Whose tokens a place may hold.
class JwtIssuers {
 public:
  // Empty: anybody's.
  void add(const std::string& issuer) {
    if (issuer.empty()) {
      all_ = true;
    } else {
      issuers_.insert(issuer);
    }
  }
  bool has(std::string_view issuer) const { return all_ || issuers_.contains(issuer); }

 private:
  bool all_ = false;
  std::set<std::string, std::less<>> issuers_;
};

// A token as it was found. Lives as long as the request's head, or in the arena.
struct FoundToken {
  std::string_view text;
  const JwtIssuers* issuers;
  // Where it was; null, and empty: elsewhere.
  const format::HeaderName* header = nullptr;
  std::string_view parameter = {};
};

class JwtExtractor {
 public:
  void add(const plan::JwtProvider& provider);

  // In the order of the places; the last one is looked at first.
  std::vector<FoundToken> extract(const http::RequestHead& head, Arena& arena) const;
  // Takes out what only the filter itself may say.
  void sanitize(http::HeaderMap& headers) const;

 private:
  struct Header {
    format::HeaderName name;
    std::string prefix;
    JwtIssuers issuers;
  };

  // By name and prefix.
  std::map<std::string, Header> headers_;
  std::map<std::string, JwtIssuers, std::less<>> parameters_;
  std::map<std::string, JwtIssuers, std::less<>> cookies_;
  std::vector<format::HeaderName> own_;
};

// Takes it out of the request.
void removeToken(const FoundToken& token, http::RequestHead& head, Arena& arena);

}  // namespace fairlead::filters
