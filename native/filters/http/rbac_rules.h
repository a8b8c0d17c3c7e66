// Who may do what, as configurations say it: policies of permissions and principals. Immutable; any
// thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/context.h"
#include "match/match_tree.h"
#include "match/metadata_condition.h"
#include "match/string_matcher.h"
#include "net/address.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"
#include "route/request_view.h"

namespace fairlead::filters {

// What conditions look at.
struct RbacRequest {
  const route::RequestView& view;
  const format::FormatContext& context;
  // Of the client's connection.
  const net::Address& peer;
};

// A tree.
class RbacCondition {
 public:
  static Result<RbacCondition> build(const plan::RbacCondition& plan);
  bool holds(const RbacRequest& request) const;

 private:
  bool isIn(const net::Address* address) const;
  bool isKept(const net::FilterState* state) const;
  bool isAuthenticated(const net::TlsInfo* tls) const;

  // Numbers, names and literals; the rest is built below.
  plan::RbacCondition plan_;
  std::vector<RbacCondition> parts_;
  std::optional<route::HeaderMatch> header_;
  std::optional<match::StringMatcher> text_;
  std::optional<net::Cidr> range_;
  std::vector<net::Cidr> ranges_;
  std::optional<match::MetadataCondition> metadata_;
};

class RbacRules {
 public:
  using Action = plan::RbacRules::Action;

  // Rules, or a tree, whose actions are policies. Null: there is neither.
  static Result<std::unique_ptr<const RbacRules>> build(const Boxed<plan::RbacRules>& rules,
                                                        const Boxed<plan::RbacTree>& tree);

  // The first policy that fits, by its place; -1: none.
  int find(const RbacRequest& request) const;
  bool allows(int policy) const {
    if (tree_) return policy >= 0 && actionOf(policy) != TreeAction::Deny;
    return action_ == Action::Log || (policy >= 0) == (action_ == Action::Allow);
  }
  // Whether logs are told of the request, be it that they are not to log it.
  bool tellsLogs(int policy) const {
    return tree_ ? policy >= 0 && actionOf(policy) == TreeAction::Log : action_ == Action::Log;
  }
  size_t size() const { return policies_.size(); }
  const std::string& nameOf(size_t policy) const { return policies_[policy].name; }
  // With '_' for each blank, as details have it; "none" of none.
  const std::string& detailsOf(int policy) const {
    return policy < 0 ? none_ : policies_[static_cast<size_t>(policy)].details;
  }

 private:
  using TreeAction = plan::RbacTreeAction::Action;

  static Result<std::unique_ptr<const RbacRules>> ofRules(const plan::RbacRules& plan);
  static Result<std::unique_ptr<const RbacRules>> ofTree(const plan::RbacTree& plan);

  struct Policy {
    std::string name;
    std::string details;
    RbacCondition permission;
    RbacCondition principal;
    // Of a tree.
    TreeAction action = TreeAction::Allow;
  };

  static std::string detailsFor(const std::string& name);
  TreeAction actionOf(int policy) const { return policies_[static_cast<size_t>(policy)].action; }

  Action action_ = Action::Allow;
  std::optional<match::MatchTree> tree_;
  std::vector<Policy> policies_;
  const std::string none_ = detailsFor("none");
};

}  // namespace fairlead::filters
