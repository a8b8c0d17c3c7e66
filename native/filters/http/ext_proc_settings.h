// envoy.filters.http.ext_proc as it is configured, and what routes say of it. Immutable but for
// statistics; built on the control thread, read by all workers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "calls/service.h"
#include "filters/http/ext_authz_service.h"
#include "filters/http/header_rules.h"
#include "format/format.h"
#include "plan/plan.gen.h"
#include "route/filter_settings.h"
#include "route/header_mutations.h"
#include "stats/registry.h"

namespace fairlead::filters {

struct ProcessingAttribute {
  explicit ProcessingAttribute(const plan::ProcessingAttribute& of) : plan(of) {
    if (of.value) value = format::Format(*of.value);
  }

  plan::ProcessingAttribute plan;
  format::Format value;
};

// What is told of a message in place of the attributes that are configured, where there is any of
// it.
struct ToldInstead {
  ToldInstead() = default;
  explicit ToldInstead(const plan::ProcessingAttributes& of);

  std::vector<ProcessingAttribute> request;
  std::vector<ProcessingAttribute> response;
};

struct ExtProcSettings {
  static Result<std::unique_ptr<const ExtProcSettings>> build(const std::string& name,
                                                              const plan::ExtProc& plan,
                                                              stats::Registry& registry,
                                                              const stats::Scope& http,
                                                              NameIds& clusters);
  // Whether the service is told of a header.
  bool isTold(std::string_view name) const {
    if (disallowed_headers.has(name)) return false;
    return !allowed_headers.isSet() || allowed_headers.has(name);
  }

  // As the configuration calls the filter.
  std::string name;
  plan::ExtProc plan;
  plan::ProcessingMode mode;
  std::unique_ptr<const calls::Service> service;
  std::vector<ProcessingAttribute> request_attributes;
  std::vector<ProcessingAttribute> response_attributes;
  ToldInstead attributes;
  HeaderRules rules;
  NameList allowed_headers;
  NameList disallowed_headers;
  std::shared_ptr<stats::Block<stats::HttpExtProc>> stats;
};

class ExtProcRoute final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const ExtProcRoute>> build(const plan::ExtProcRoute& plan,
                                                           NameIds& clusters,
                                                           stats::Registry& registry);
  static const ExtProcRoute* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const ExtProcRoute*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  plan::ExtProcRoute plan;
  // Null: the filter's.
  std::unique_ptr<const calls::Service> service;
  route::MutationList metadata;
  // None: the filter's.
  std::optional<ToldInstead> attributes;

 private:
  static constexpr char kKind = 0;
};

}  // namespace fairlead::filters
