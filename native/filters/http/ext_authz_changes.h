// What an authorization service may change of a request's head and of its answer, and whether all
// that it asks for can be. Of one request, of which it reads what the service has said; the
// worker's thread.
#pragma once

#include "base/arena.h"
#include "filters/http/ext_authz_answer.h"
#include "filters/http/ext_authz_service.h"
#include "filters/http/filter_place.h"
#include "filters/http/header_rules.h"
#include "http/message.h"

namespace fairlead::filters {

class AuthzChanges {
 public:
  using Edit = AuthzAnswer::Edit;

  // Both outlive it; the answer may change meanwhile.
  AuthzChanges(const ExtAuthzSettings& settings, const AuthzAnswer& answer)
      : settings_(settings), answer_(answer) {}

  // ---- of a request that may go on ----

  // Some are what nobody may ask for.
  bool areWrong() const;
  // With them the head, which is held, stays within its limits.
  bool fitRequest(FilterPlace& place) const;
  // One that no message can be made with; null: there is none.
  const Edit* findOddName() const;
  void makeIn(http::RequestHead& head, Arena& arena) const;
  void makeInAnswer(http::HeaderMap& headers, Arena& arena) const;

  // ---- of a refusal, or an error ----

  bool isRefusalWrong() const;
  // In place of what the proxy would say itself; a name may come several times.
  void tellRefusal(http::HeaderMap& headers) const;

 private:
  HeaderRules::Verdict isAllowed(const Edit& edit) const;

  const ExtAuthzSettings& settings_;
  const AuthzAnswer& answer_;
};

}  // namespace fairlead::filters
