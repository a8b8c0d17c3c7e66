#include "filters/http/aws_request_signing.h"

#include <utility>

#include "base/wall_clock.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using AwsCounter = stats::HttpAwsSigning::Counter;

constexpr uint64_t kMicrosOfSecond = 1'000'000;

// Of one request.
class AwsRequestSigning final : public HttpFilter, private LiveAwsCredentials::Waiter {
 public:
  AwsRequestSigning(const AwsSettings& settings, FilterMemory& memory, const FilterScope& scope,
                    FilterPlace& place)
      : settings_(settings), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    if (!settings_.host_rewrite.empty()) head.authority = settings_.host_rewrite;
    if (!settings_.is_unsigned && !end) {
      collects_ = true;
      return FilterStatus::Pause;
    }
    digest_ = settings_.is_unsigned ? std::string(AwsSigner::kUnsigned)
                                    : AwsSigner::digestOf(std::string_view());
    if (waits()) return FilterStatus::Pause;
    sign(head, true);
    digest_.clear();
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!collects_) return isWaiting() ? FilterStatus::Pause : FilterStatus::Continue;
    body_.append(data);
    return end ? finish() : FilterStatus::Buffer;
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    if (collects_) return finish();
    return isWaiting() ? FilterStatus::Pause : FilterStatus::Continue;
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena&) override {
    if (digest_.empty()) return;
    sign(head, !had_body_);
    if (had_body_) count(AwsCounter::PayloadSigningAdded);
  }
  void onEnd() override { Waiter::unlink(); }

 private:
  // Its credentials are on their way.
  bool waits() {
    if (!settings_.credentials->of(scope_.worker).is_pending) return false;
    settings_.credentials->wait(scope_.worker, *this);
    return true;
  }
  bool isWaiting() const { return Waiter::isLinked(); }
  void onValue() override {
    if (!waits()) place_.continueRequest();
  }

  FilterStatus finish() {
    collects_ = false;
    had_body_ = true;
    digest_ = AwsSigner::digestOf(std::exchange(body_, {}));
    return waits() ? FilterStatus::Pause : FilterStatus::Continue;
  }
  void sign(http::RequestHead& head, bool told) {
    settings_.signer.sign(settings_.credentials->of(scope_.worker), head, digest_, told,
                          wallClockMicros() / kMicrosOfSecond, memory_.arena());
    count(AwsCounter::SigningAdded);
  }
  void count(AwsCounter counter) { settings_.stats->shard(scope_.worker + 1)->add(counter); }

  const AwsSettings& settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  bool collects_ = false;
  bool had_body_ = false;
  std::string body_;
  // Of a body that is signed; empty: it is not whole.
  std::string digest_;
};

}  // namespace

Result<std::unique_ptr<const AwsSettings>> AwsSettings::build(const plan::AwsSigning& plan,
                                                              const RouteScope& scope,
                                                              const stats::Scope& stats) {
  Result<AwsSigner> signer = AwsSigner::build(plan);
  if (!signer) return signer.error();
  auto settings = std::unique_ptr<AwsSettings>(new AwsSettings(
      std::move(signer.value()), plan,
      scope.live.aws.of(plan.credentials.value_or(plan::AwsCredentials()), scope.workers),
      scope.registry.create<stats::HttpAwsSigning>(
          stats::innerScope(stats, "aws_request_signing."))));
  for (const std::string& provider : plan.providers) {
    settings->providers_.push_back(scope.registry.create<stats::AwsCredentialProvider>(
        stats::plainScope("aws.metadata_credentials_provider." + provider + ".")));
  }
  return std::unique_ptr<const AwsSettings>(std::move(settings));
}

BuiltFilter AwsRequestSigningConfig::build(const plan::AwsSigning& plan, const ConfigScope& scope) {
  auto config = std::make_shared<AwsRequestSigningConfig>();
  auto settings = AwsSettings::build(plan, RouteScope::of(scope), scope.stats);
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* AwsRequestSigningConfig::make(FilterMemory& memory, const FilterScope& scope,
                                          FilterPlace& place) const {
  const AwsSettings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && AwsSettings::of(own.front())) settings = AwsSettings::of(own.front());
  return memory.make<AwsRequestSigning>(*settings, memory, scope, place);
}

}  // namespace fairlead::filters
