// Decides which hosts of a cluster are put out, and when they come back, as Envoy 1.40 does it: at
// once for failures in a row that workers report, and at each interval by how much of what hosts
// were asked has gone well. Sets flags of hosts; whoever calls it has workers hear of them. The
// control thread's; time is given to it, in milliseconds of a clock that only goes forward.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "stats/catalogue.gen.h"
#include "stats/registry.h"
#include "upstream/host.h"
#include "upstream/outlier/monitor.h"

namespace fairlead::upstream {

// What a cluster's success rates were compared with; −1: too few requests or hosts.
struct SuccessRates {
  double average = -1;
  double ejection_threshold = -1;
};

// Hears what becomes of hosts.
class OutlierListener {
 public:
  // `is_enforced`: it is put out; otherwise it would be, were that enforced. `rates`: the
  // cluster's.
  virtual void onEjected(std::string_view cluster, const Host& host, OutlierKind kind,
                         bool is_enforced, const SuccessRates& rates, uint64_t now_ms) = 0;
  virtual void onUnejected(std::string_view cluster, const Host& host, uint64_t now_ms) = 0;

 protected:
  ~OutlierListener() = default;
};

class OutlierDetector {
 public:
  using Stats = stats::Block<stats::OutlierDetection>;
  using Hosts = std::vector<std::shared_ptr<Host>>;
  using Origin = OutlierMonitor::Origin;

  // `cluster`: its name, in events. `listener` must outlive it; null: nobody hears of anything.
  OutlierDetector(std::string cluster, const plan::OutlierDetection& plan, RuntimeSlots* slots,
                  std::shared_ptr<OutlierReports> reports, std::shared_ptr<Stats> stats,
                  OutlierListener* listener, uint64_t now_ms, Random random = {});
  ~OutlierDetector();
  OutlierDetector(const OutlierDetector&) = delete;
  OutlierDetector& operator=(const OutlierDetector&) = delete;

  // What each of its hosts is made with.
  const std::shared_ptr<OutlierWatch>& watch() const { return watch_; }
  // These are its hosts from here on, each made with its watch. Those that are gone are forgotten.
  void setHosts(Hosts hosts);

  // True: the flags of the host have changed.
  bool onReport(Host& host, OutlierKind kind, uint64_t now_ms);
  // Does nothing before due(). How often flags of hosts have changed.
  size_t onInterval(uint64_t now_ms);
  uint64_t due() const { return due_ms_; }

  const std::string& cluster() const { return cluster_; }
  const SuccessRates& rates(Origin origin) const { return rates_[static_cast<size_t>(origin)]; }

 private:
  struct Rated {
    Host* host;
    double success_rate;
  };

  const OutlierSettings& settings() const { return watch_->settings; }
  bool isWatched(const Host& host) const;
  void countDetected(OutlierKind kind);
  void countEnforced(OutlierKind kind);
  bool isEnforced(OutlierKind kind);
  bool mayEject(const Host& host) const;
  bool eject(Host& host, OutlierKind kind, uint64_t now_ms);
  bool degrade(Host& host, uint64_t now_ms);
  bool unejectAfterCheck(Host& host, uint64_t now_ms);
  void uneject(Host& host, uint64_t now_ms);
  bool unejectIfDue(Host& host, uint64_t now_ms);
  bool undegradeIfDue(Host& host, uint64_t now_ms);
  bool isOver(uint64_t since_ms, uint64_t backoff, uint64_t jitter_ms, uint64_t now_ms) const;
  void lengthen(uint64_t* backoff) const;
  void shorten(uint64_t* backoff, const std::optional<uint64_t>& since_ms, uint64_t now_ms) const;
  void takeVolumes(Host& host);
  size_t compareRates(Origin origin, uint64_t now_ms);

  const std::string cluster_;
  const std::shared_ptr<OutlierWatch> watch_;
  const std::shared_ptr<Stats> stats_;
  OutlierListener* const listener_;
  Random random_;
  Hosts hosts_;
  // Of its hosts, how many are put out.
  uint64_t ejected_ = 0;
  SuccessRates rates_[2];
  uint64_t due_ms_;
};

}  // namespace fairlead::upstream
