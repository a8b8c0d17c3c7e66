// envoy.filters.http.header_mutation: changes heads, trailers and queries, one change after the
// other: its own ones first, then those of routes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "format/format.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class HeaderMutations final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const HeaderMutations>> build(const plan::HeaderMutation& plan);
  static const HeaderMutations* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const HeaderMutations*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  bool changesQuery() const { return !query_.empty(); }
  // The path with another query, in the arena; or `path` itself.
  std::string_view changeQuery(std::string_view path, const format::FormatContext& context,
                               Arena& arena) const;

  route::HeaderChanges request;
  route::HeaderChanges response;
  route::HeaderChanges request_trailers;
  route::HeaderChanges response_trailers;
  // What changes the answer, or trailers, speaks of the request's head.
  bool reads_request_late = false;
  // What changes trailers speaks of the answer's head.
  bool trailers_read_answer = false;

 private:
  static constexpr char kKind = 0;

  struct QueryChange {
    plan::QueryChange::Action action;
    std::string name;
    format::Format value;
  };
  using Parameter = std::pair<std::string_view, std::string_view>;
  static void changeParameter(const QueryChange& change, std::string_view value,
                              std::vector<Parameter>* parameters);

  std::vector<QueryChange> query_;
};

class HeaderMutationConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::HeaderMutationFilter& plan);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const HeaderMutations& own() const { return *own_; }
  bool mostSpecificWins() const { return most_specific_wins_; }

 private:
  std::unique_ptr<const HeaderMutations> own_;
  bool most_specific_wins_ = false;
};

}  // namespace fairlead::filters
