#include "filters/network/network_ratelimit.h"

#include "base/proto_writer.h"
#include "calls/call.h"
#include "filters/http/ratelimit_messages.h"
#include "filters/network/guarded_connection.h"
#include "format/origin.h"
#include "net/downstream_connection.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

using RatelimitCounter = stats::NetworkRatelimit::Counter;
using RatelimitGauge = stats::NetworkRatelimit::Gauge;

constexpr std::string_view kNetworkLimitSpace = "envoy.filters.network.ratelimit";

// Of one connection.
class RatelimitPass final : public GuardPass, private calls::CallOwner {
 public:
  RatelimitPass(const NetworkRatelimit& filter, net::DownstreamConnection& connection,
                unsigned worker, GuardWaiter& waiter)
      : filter_(filter), connection_(connection), worker_(worker), waiter_(waiter), call_(*this) {}
  ~RatelimitPass() override {
    if (call_.isActive()) counts().down(RatelimitGauge::Active);
  }

  Verdict onOpen() override {
    if (state_ != State::New) return verdict();
    if (!draws(filter_.enabled)) {
      state_ = State::Done;
      return Verdict::Passes;
    }
    state_ = State::Asking;
    count(RatelimitCounter::Total);
    counts().up(RatelimitGauge::Active);
    format::FormatContext context;
    format::describeConnection(connection_, &context);
    call_.askGrpc(calls(), *filter_.service, kRatelimitMethod, filter_.request(context), &context);
    return Verdict::Waits;
  }

 private:
  enum class State : uint8_t { New, Asking, Done, Refused };

  Verdict verdict() const {
    if (state_ == State::Asking) return Verdict::Waits;
    return state_ == State::Refused ? Verdict::Refused : Verdict::Passes;
  }
  calls::Calls& calls() const { return *(*filter_.calls)[worker_]; }
  bool draws(const RuntimeNumber& hundredths) const {
    return calls().context().random.below(100) < hundredths.value();
  }

  void onCallEnd(const calls::CallAnswer& answer) override {
    counts().down(RatelimitGauge::Active);
    RatelimitAnswer said;
    const bool is_answer = answer.grpc_status == 0 && RatelimitAnswer::read(answer.body, &said);
    state_ = State::Done;
    if (!is_answer) {
      count(RatelimitCounter::Error);
      if (filter_.plan.failure_mode_deny) {
        refuse("ratelimit_error_failure_mode_connection_close");
      } else {
        count(RatelimitCounter::FailureModeAllowed);
      }
    } else {
      tellMetadata(connection_, kNetworkLimitSpace, said.metadata);
      count(said.is_over_limit ? RatelimitCounter::OverLimit : RatelimitCounter::Ok);
      if (said.is_over_limit && draws(filter_.enforcing)) refuse("ratelimit_close_over_limit");
    }
    waiter_.onVerdict();
  }

  void refuse(std::string_view why) {
    state_ = State::Refused;
    connection_.setClosedBy(std::string(why));
    count(RatelimitCounter::CxClosed);
  }

  stats::Shard<stats::NetworkRatelimit>& counts() const {
    return *filter_.stats->shard(worker_ + 1);
  }
  void count(RatelimitCounter counter) const { filter_.stats->shard(worker_ + 1)->add(counter); }

  const NetworkRatelimit& filter_;
  net::DownstreamConnection& connection_;
  const unsigned worker_;
  GuardWaiter& waiter_;
  calls::Call call_;
  State state_ = State::New;
};

}  // namespace

Result<std::shared_ptr<const ConnectionGuard>> NetworkRatelimit::build(
    const plan::NetworkRatelimit& plan, const GuardScope& scope) {
  auto filter = std::make_shared<NetworkRatelimit>();
  filter->plan = plan;
  auto service = calls::Service::build(plan.service.value_or(plan::Service()), scope.clusters,
                                       &scope.registry);
  if (!service) return service.error();
  filter->service = std::move(service.value());
  const auto share = [&scope](const Boxed<plan::RuntimeNumber>& number) {
    return number ? RuntimeNumber(number->value, number->slot, &scope.slots)
                  : RuntimeNumber(100, 0, nullptr);
  };
  filter->enabled = share(plan.enabled);
  filter->enforcing = share(plan.enforcing);
  for (const plan::NetworkDescriptor& descriptor : plan.descriptors) {
    Entries& entries = filter->descriptors_.emplace_back();
    for (const plan::NetworkDescriptorEntry& entry : descriptor.entries) {
      entries.emplace_back(entry.key, format::Format(entry.value.value_or(plan::Format())));
    }
  }
  filter->calls = scope.calls;
  filter->stats = scope.registry.create<stats::NetworkRatelimit>(
      stats::networkRateLimitScope(plan.stat_prefix));
  return std::shared_ptr<const ConnectionGuard>(std::move(filter));
}

// RateLimitRequest
std::string NetworkRatelimit::request(const format::FormatContext& context) const {
  ProtoWriter message;
  message.bytes(1, plan.domain);
  for (const Entries& entries : descriptors_) {
    ProtoWriter descriptor;
    for (const auto& [key, format] : entries) {
      std::string value;
      format.appendLine(context, &value);
      ProtoWriter entry;
      entry.bytes(1, key);
      if (!value.empty()) entry.bytes(2, value);
      descriptor.bytes(1, entry.view());
    }
    message.bytes(2, descriptor.view());
  }
  return message.take();
}

std::unique_ptr<GuardPass> NetworkRatelimit::make(net::DownstreamConnection& connection,
                                                  unsigned worker, GuardWaiter& waiter) const {
  return std::make_unique<RatelimitPass>(*this, connection, worker, waiter);
}

}  // namespace fairlead::filters
