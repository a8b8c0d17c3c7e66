#include "filters/http/aws_request_signing.h"

#include <utility>

#include "base/wall_clock.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using AwsCounter = stats::HttpAwsSigning::Counter;

constexpr uint64_t kMicrosOfSecond = 1'000'000;

// Of one request.
class AwsRequestSigning final : public HttpFilter {
 public:
  AwsRequestSigning(const AwsSettings& settings, FilterMemory& memory, const FilterScope& scope)
      : settings_(settings), memory_(memory), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    if (!settings_.host_rewrite.empty()) head.authority = settings_.host_rewrite;
    if (!settings_.is_unsigned && !end) {
      collects_ = true;
      return FilterStatus::Pause;
    }
    const std::string digest = settings_.is_unsigned ? std::string(AwsSigner::kUnsigned)
                                                     : AwsSigner::digestOf(std::string_view());
    sign(head, digest, true);
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!collects_) return FilterStatus::Continue;
    body_.append(data);
    return end ? finish() : FilterStatus::Buffer;
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    return collects_ ? finish() : FilterStatus::Continue;
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena&) override {
    if (digest_.empty()) return;
    sign(head, digest_, false);
    count(AwsCounter::PayloadSigningAdded);
  }

 private:
  FilterStatus finish() {
    collects_ = false;
    digest_ = AwsSigner::digestOf(std::exchange(body_, {}));
    return FilterStatus::Continue;
  }
  void sign(http::RequestHead& head, std::string_view digest, bool told) {
    settings_.signer.sign(settings_.credentials, head, digest, told,
                          wallClockMicros() / kMicrosOfSecond, memory_.arena());
    count(AwsCounter::SigningAdded);
  }
  void count(AwsCounter counter) { settings_.stats->shard(scope_.worker + 1)->add(counter); }

  const AwsSettings& settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  bool collects_ = false;
  std::string body_;
  // Of a body that is signed; empty: it is not whole.
  std::string digest_;
};

}  // namespace

Result<std::unique_ptr<const AwsSettings>> AwsSettings::build(const plan::AwsSigning& plan,
                                                              stats::Registry& registry,
                                                              const stats::Scope& scope) {
  Result<AwsSigner> signer = AwsSigner::build(plan);
  if (!signer) return signer.error();
  return std::unique_ptr<const AwsSettings>(new AwsSettings(
      std::move(signer.value()), plan,
      registry.create<stats::HttpAwsSigning>(innerScope(scope, "aws_request_signing."))));
}

BuiltFilter AwsRequestSigningConfig::build(const plan::AwsSigning& plan, const ConfigScope& scope) {
  auto config = std::make_shared<AwsRequestSigningConfig>();
  auto settings = AwsSettings::build(plan, scope.registry, scope.stats);
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* AwsRequestSigningConfig::make(FilterMemory& memory, const FilterScope& scope,
                                          FilterPlace& place) const {
  const AwsSettings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && AwsSettings::of(own.front())) settings = AwsSettings::of(own.front());
  return memory.make<AwsRequestSigning>(*settings, memory, scope);
}

}  // namespace fairlead::filters
