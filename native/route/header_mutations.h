// Headers that a route, virtual host or table adds and removes. Immutable.
#pragma once

#include <string>
#include <vector>

#include "base/arena.h"
#include "format/format.h"
#include "http/message.h"
#include "plan/plan.gen.h"

namespace fairlead::route {

class HeaderMutations {
 public:
  HeaderMutations() = default;
  explicit HeaderMutations(const plan::HeaderMutations& plan);

  bool changesRequest() const { return !request_add_.empty() || !request_remove_.empty(); }
  bool changesResponse() const { return !response_add_.empty() || !response_remove_.empty(); }
  // Values that have to be made live in the arena.
  void applyToRequest(http::HeaderMap& headers, const format::FormatContext& context,
                      Arena& arena) const {
    apply(request_remove_, request_add_, headers, context, arena);
  }
  void applyToResponse(http::HeaderMap& headers, const format::FormatContext& context,
                       Arena& arena) const {
    apply(response_remove_, response_add_, headers, context, arena);
  }

 private:
  struct Addition {
    std::string name;
    http::HeaderId id;
    format::Format value;
    plan::HeaderAddition::Action action;
    bool keep_empty;
  };

  static std::vector<Addition> compile(const std::vector<plan::HeaderAddition>& plan);
  static void apply(const std::vector<std::string>& remove, const std::vector<Addition>& add,
                    http::HeaderMap& headers, const format::FormatContext& context, Arena& arena);

  std::vector<Addition> request_add_;
  std::vector<Addition> response_add_;
  std::vector<std::string> request_remove_;
  std::vector<std::string> response_remove_;
};

}  // namespace fairlead::route
