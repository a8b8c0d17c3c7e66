// envoy.filters.http.aws_request_signing: hosts of AWS see who asks by signatures. A body that is
// signed waits until it is whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/aws_signer.h"
#include "filters/http/http_filter.h"
#include "filters/http/live_value.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class AwsSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const AwsSettings>> build(const plan::AwsSigning& plan,
                                                          const RouteScope& scope,
                                                          const stats::Scope& stats);
  static const AwsSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const AwsSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const AwsSigner signer;
  const std::shared_ptr<LiveAwsCredentials> credentials;
  const std::string host_rewrite;
  const bool is_unsigned;
  const std::shared_ptr<stats::Block<stats::HttpAwsSigning>> stats;

 private:
  AwsSettings(AwsSigner with, const plan::AwsSigning& plan,
              std::shared_ptr<LiveAwsCredentials> live,
              std::shared_ptr<stats::Block<stats::HttpAwsSigning>> counted)
      : signer(std::move(with)),
        credentials(std::move(live)),
        host_rewrite(plan.host_rewrite),
        is_unsigned(plan.unsigned_payload),
        stats(std::move(counted)) {}

  static constexpr char kKind = 0;

  // Of where credentials are fetched: the control thread counts.
  std::vector<std::shared_ptr<stats::Block<stats::AwsCredentialProvider>>> providers_;
};

class AwsRequestSigningConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::AwsSigning& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const AwsSettings> settings_;
};

}  // namespace fairlead::filters
