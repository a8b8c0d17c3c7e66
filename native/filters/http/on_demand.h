// envoy.filters.http.on_demand: a request whose virtual host, routes or cluster are not there waits
// until the control plane has been asked for them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/list.h"
#include "filters/http/demands.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster.
class OnDemandSettings final : public route::FilterConfig {
 public:
  explicit OnDemandSettings(const plan::OnDemandSettings& settings) : plan(settings) {}
  static const OnDemandSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const OnDemandSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::OnDemandSettings plan;

 private:
  static constexpr char kKind = 0;
};

// A request that waits.
class OnDemandWaiter : public ListNode<OnDemandWaiter> {
 public:
  virtual void onMet() = 0;

 protected:
  ~OnDemandWaiter() = default;
};

class OnDemandConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::OnDemandFilter& plan, const ConfigScope& scope);

  OnDemandConfig(const plan::OnDemandFilter& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::OnDemandFilter& plan() const { return plan_; }
  // It hears onMet() once, unless it leaves before. That worker's thread.
  void wait(unsigned worker, DemandKey key, OnDemandWaiter* waiter) const;

 private:
  // Requests of each worker, which alone looks at its own, by what they wait for.
  class Waiters final : public Demands::Waiting {
   public:
    explicit Waiters(unsigned workers) : by_worker_(workers) {}
    void onMet(unsigned worker, const DemandKey& key) override;
    // Whether it is the first that waits for it.
    bool add(unsigned worker, const DemandKey& key, OnDemandWaiter* waiter);

   private:
    std::vector<std::map<DemandKey, List<OnDemandWaiter>>> by_worker_;
  };

  const plan::OnDemandFilter plan_;
  const std::shared_ptr<Waiters> waiters_;
  Demands& demands_;
};

}  // namespace fairlead::filters
