// envoy.filters.http.custom_response: puts answers that are made here, or of other hosts, in the
// place of hosts' and of our own, by a tree of matchers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "format/format.h"
#include "match/match_tree.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"
#include "route/redirect.h"

namespace fairlead::filters {

class CustomResponses final : public route::FilterConfig {
 public:
  struct Policy {
    std::optional<uint16_t> status;
    route::MutationList headers;
    std::string body;
    // Absent: the body as it is.
    std::optional<format::Format> body_format;
    std::string details;
    bool keeps_details = false;
    // Absent: it is made here. Otherwise that request's, but for its status and more headers.
    struct Elsewhere {
      route::Redirect to;
      route::MutationList request_add;
      // Where it is counted that it could not be asked.
      std::shared_ptr<stats::Block<stats::HttpCustomResponse>> stats;
    };
    std::optional<Elsewhere> elsewhere;
  };

  // `stats`: of the connection manager; of what routes say, no one's in particular.
  static Result<std::unique_ptr<const CustomResponses>> build(const plan::CustomResponse& plan,
                                                              stats::Registry& registry,
                                                              const stats::Scope& stats);
  static const CustomResponses* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const CustomResponses*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  // Null: the answer stays.
  std::shared_ptr<const Policy> find(const match::Facts& facts) const;
  bool readsRequest() const { return reads_request_; }

 private:
  match::MatchTree tree_;
  // A request that takes another's place may outlive them.
  std::vector<std::shared_ptr<const Policy>> policies_;
  bool reads_request_ = false;

  static constexpr char kKind = 0;
};

class CustomResponseConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::CustomResponse& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  std::shared_ptr<const CustomResponses::Policy> find(const match::Facts& facts) const {
    return responses_->find(facts);
  }
  // For the headers of one answer. Large, so that none has its own.
  http::HeaderMap& headers(unsigned worker) const { return *headers_[worker]; }

 private:
  std::unique_ptr<const CustomResponses> responses_;
  std::vector<std::unique_ptr<http::HeaderMap>> headers_;
};

}  // namespace fairlead::filters
