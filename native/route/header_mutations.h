// Headers that a weighted cluster, route, virtual host or table adds and removes. Immutable; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "format/format.h"
#include "format/header_name.h"
#include "http/message.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::route {

using format::HeaderName;

// What one place changes in one kind of message: first all removals, then all values are made from
// what is left, then those that overwrite go in, then those that are added.
class MutationList {
 public:
  MutationList() = default;
  MutationList(const std::vector<std::string>& remove, const std::vector<plan::HeaderAddition>& add,
               bool (*is_joined)(http::HeaderId id));

  bool empty() const { return additions_.empty() && removals_.empty(); }
  // Names and literals are lent; values that have to be made live in the arena.
  void apply(http::HeaderMap& headers, const format::FormatContext& context, Arena& arena) const;

 private:
  struct Addition {
    HeaderName name;
    http::HeaderId id;
    plan::HeaderAddition::Action action;
    bool keep_empty;
    // A second value joins the first.
    bool joins;
    format::Format value;

    bool overwrites() const;
  };

  // The value to put in; no data: none.
  static std::string_view valueOf(const Addition& addition, const http::HeaderMap& headers,
                                  const format::FormatContext& context, Arena& arena);
  static void overwrite(const Addition& addition, std::string_view value, http::HeaderMap& headers);
  static void add(const Addition& addition, std::string_view value, http::HeaderMap& headers,
                  Arena& arena);

  std::vector<HeaderName> removals_;
  std::vector<Addition> additions_;
};

struct HeaderMutations {
  HeaderMutations() = default;
  explicit HeaderMutations(const plan::HeaderMutations& plan);

  MutationList request;
  MutationList response;
};

// Changes that are made one after the other: each value is made of what the ones before have left.
class HeaderChanges {
 public:
  HeaderChanges() = default;
  static Result<HeaderChanges> build(const std::vector<plan::HeaderChange>& plan,
                                     bool (*is_joined)(http::HeaderId id));

  bool empty() const { return changes_.empty(); }
  // As MutationList::apply().
  void apply(http::HeaderMap& headers, const format::FormatContext& context, Arena& arena) const;

 private:
  struct Change {
    // One of these: what is removed by name or added, or what is removed by a pattern.
    MutationList list;
    std::optional<match::StringMatcher> removed;
  };

  std::vector<Change> changes_;
};

// The lists that change the messages of one route, in the order in which they speak; empty where
// nothing changes. Lent: the mutations must outlive it, where they are.
class MutationChain {
 public:
  void append(const HeaderMutations& mutations);

  bool changesRequest() const { return !request_.empty(); }
  bool changesResponse() const { return !response_.empty(); }
  void applyToRequest(http::HeaderMap& headers, const format::FormatContext& context,
                      Arena& arena) const {
    for (const MutationList* list : request_) list->apply(headers, context, arena);
  }
  void applyToResponse(http::HeaderMap& headers, const format::FormatContext& context,
                       Arena& arena) const {
    for (const MutationList* list : response_) list->apply(headers, context, arena);
  }

 private:
  std::vector<const MutationList*> request_;
  std::vector<const MutationList*> response_;
};

}  // namespace fairlead::route
