#include "filters/http/credential_injector.h"

#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using InjectorCounter = stats::HttpCredentialInjector::Counter;

// Of one request.
class CredentialInjector final : public HttpFilter {
 public:
  CredentialInjector(const CredentialInjectorConfig& config, FilterMemory& memory,
                     const FilterScope& scope)
      : config_(config), memory_(memory), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const plan::CredentialInjector& plan = config_.plan();
    auto& stats = config_.stats(scope_.worker);
    if (!plan.overwrites && config_.header().find(head.headers)) {
      stats.add(InjectorCounter::AlreadyExists);
      return FilterStatus::Continue;
    }
    const std::string& credential = config_.credential(scope_.worker);
    if (credential.empty()) {
      stats.add(InjectorCounter::Failed);
      return plan.allows_without ? FilterStatus::Continue : FilterStatus::Answer;
    }
    for (http::HeaderEntry& entry : head.headers) {
      if (config_.header().names(entry)) entry.remove();
    }
    const std::string& name = config_.header().text();
    head.headers.add(http::internHeader(name), name, memory_.arena().join(plan.prefix, credential));
    stats.add(InjectorCounter::Injected);
    return FilterStatus::Continue;
  }

  LocalReply answer() const override {
    return {401, "Failed to inject credential.", "failed_to_inject_credential"};
  }

 private:
  const CredentialInjectorConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
};

}  // namespace

CredentialInjectorConfig::CredentialInjectorConfig(const plan::CredentialInjector& plan,
                                                   const ConfigScope& scope)
    : plan_(plan),
      header_(plan.header),
      credential_(scope.live.secrets.of(plan.credential.value_or(plan::Secret()), scope.workers)),
      stats_(scope.registry.create<stats::HttpCredentialInjector>(
          innerScope(scope.stats, "credential_injector."))) {
  if (!plan.counts_tokens) return;
  token_stats_ = scope.registry.create<stats::HttpInjectedTokens>(
      innerScope(scope.stats, "credential_injector.oauth2."));
}

HttpFilter* CredentialInjectorConfig::make(FilterMemory& memory, const FilterScope& scope,
                                           FilterPlace&) const {
  return memory.make<CredentialInjector>(*this, memory, scope);
}

}  // namespace fairlead::filters
