// envoy.filters.http.credential_injector: hosts get a credential of the proxy's own.
#pragma once

#include <memory>

#include "filters/http/http_filter.h"
#include "filters/http/live_value.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class CredentialInjectorConfig final : public HttpFilterConfig {
 public:
  CredentialInjectorConfig(const plan::CredentialInjector& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::CredentialInjector& plan() const { return plan_; }
  // Empty: it is not there.
  const std::string& credential(unsigned worker) const { return credential_->of(worker).value; }
  const format::HeaderName& header() const { return header_; }
  stats::Shard<stats::HttpCredentialInjector>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }

 private:
  const plan::CredentialInjector plan_;
  const format::HeaderName header_;
  const std::shared_ptr<LiveSecret> credential_;
  const std::shared_ptr<stats::Block<stats::HttpCredentialInjector>> stats_;
  // Of tokens that are fetched: the control thread counts. Null: none are.
  std::shared_ptr<stats::Block<stats::HttpInjectedTokens>> token_stats_;
};

}  // namespace fairlead::filters
