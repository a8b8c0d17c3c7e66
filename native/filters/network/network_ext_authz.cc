#include "filters/network/network_ext_authz.h"

#include <utility>
#include <vector>

#include "calls/call.h"
#include "filters/http/ext_authz_answer.h"
#include "filters/http/ext_authz_check.h"
#include "filters/network/guarded_connection.h"
#include "format/origin.h"
#include "log/log.h"
#include "net/downstream_connection.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using ExtAuthzCounter = stats::NetworkExtAuthz::Counter;
using ExtAuthzGauge = stats::NetworkExtAuthz::Gauge;

constexpr std::string_view kNetworkAuthzSpace = "envoy.filters.network.ext_authz";

// Of one connection.
class ExtAuthzPass final : public GuardPass, private calls::CallOwner {
 public:
  ExtAuthzPass(const NetworkExtAuthz& filter, net::DownstreamConnection& connection,
               unsigned worker, GuardWaiter& waiter)
      : filter_(filter), connection_(connection), worker_(worker), waiter_(waiter), call_(*this) {}
  ~ExtAuthzPass() override {
    if (call_.isActive()) counts().down(ExtAuthzGauge::Active);
  }

  Verdict onData() override {
    if (state_ != State::New) return verdict();
    format::FormatContext context;
    format::describeConnection(connection_, &context);
    if (!isEnabled(context)) {
      count(ExtAuthzCounter::Disabled);
      state_ = State::Done;
      return Verdict::Passes;
    }
    state_ = State::Asking;
    asked_at_us_ = net::Loop::readClockMicros();
    count(ExtAuthzCounter::Total);
    counts().up(ExtAuthzGauge::Active);
    call_.askGrpc(*(*filter_.calls)[worker_], *filter_.service, kCheckMethod,
                  connectionCheck(filter_.plan, context, connection_.remote()), &context);
    return Verdict::Waits;
  }

 private:
  enum class State : uint8_t { New, Asking, Done, Refused };

  Verdict verdict() const {
    if (state_ == State::Asking) return Verdict::Waits;
    return state_ == State::Refused ? Verdict::Refused : Verdict::Passes;
  }

  bool isEnabled(const format::FormatContext& context) const {
    if (!filter_.enabled_metadata) return true;
    const route::RequestView view = viewOf(connection_);
    return filter_.enabled_metadata->holds({view, context, connection_.remote()});
  }

  void onCallEnd(const calls::CallAnswer& answer) override {
    counts().down(ExtAuthzGauge::Active);
    AuthzAnswer said = AuthzAnswer::ofGrpc(answer);
    if (said.status == AuthzAnswer::Status::Ok) {
      said.addDuration(net::Loop::readClockMicros() - asked_at_us_);
    }
    tellMetadata(connection_, kNetworkAuthzSpace, said.metadata);
    state_ = State::Done;
    switch (said.status) {
      case AuthzAnswer::Status::Ok:
        count(ExtAuthzCounter::Ok);
        break;
      case AuthzAnswer::Status::Denied:
        count(ExtAuthzCounter::Denied);
        if (!filter_.plan.shadow_mode) refuse("ext_authz_denied");
        break;
      case AuthzAnswer::Status::Error:
        count(ExtAuthzCounter::Error);
        if (filter_.plan.shadow_mode) break;
        if (!filter_.plan.failure_mode_allow) {
          refuse("ext_authz_error");
        } else {
          count(ExtAuthzCounter::FailureModeAllowed);
        }
        break;
    }
    waiter_.onVerdict();
  }

  void refuse(std::string_view why) {
    state_ = State::Refused;
    count(ExtAuthzCounter::CxClosed);
    connection_.setRefusal(why);
    connection_.setClosedBy("ext_authz_close");
    log::trace(log::Component::Filter, log::Tags{.connection = connection_.id()},
               "ext_authz: the connection is refused: ", why);
  }

  stats::Shard<stats::NetworkExtAuthz>& counts() const {
    return *filter_.stats->shard(worker_ + 1);
  }
  void count(ExtAuthzCounter counter) const { filter_.stats->shard(worker_ + 1)->add(counter); }

  const NetworkExtAuthz& filter_;
  net::DownstreamConnection& connection_;
  const unsigned worker_;
  GuardWaiter& waiter_;
  calls::Call call_;
  State state_ = State::New;
  uint64_t asked_at_us_ = 0;
};

}  // namespace

Result<std::shared_ptr<const ConnectionGuard>> NetworkExtAuthz::build(
    const plan::NetworkExtAuthz& plan, const GuardScope& scope) {
  auto filter = std::make_shared<NetworkExtAuthz>();
  filter->plan = plan;
  auto service = calls::Service::build(plan.service.value_or(plan::Service()), scope.clusters,
                                       &scope.registry);
  if (!service) return service.error();
  filter->service = std::move(service.value());
  if (plan.enabled_metadata) {
    Result<RbacCondition> condition = RbacCondition::build(*plan.enabled_metadata);
    if (!condition) return condition.error();
    filter->enabled_metadata = std::move(condition.value());
  }
  filter->calls = scope.calls;
  filter->stats = scope.registry.create<stats::NetworkExtAuthz>(
      stats::plainScope("ext_authz." + plan.stat_prefix + "."));
  return std::shared_ptr<const ConnectionGuard>(std::move(filter));
}

std::unique_ptr<GuardPass> NetworkExtAuthz::make(net::DownstreamConnection& connection,
                                                 unsigned worker, GuardWaiter& waiter) const {
  return std::make_unique<ExtAuthzPass>(*this, connection, worker, waiter);
}

}  // namespace fairlead::filters
