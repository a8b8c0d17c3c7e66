#include "worker/clusters_page.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/json_layout.h"
#include "stats/pace.h"

namespace fairlead::worker {

namespace {

using upstream::Cluster;
using upstream::Host;
using upstream::HostCounters;
using Health = plan::Host::Health;

struct HostNumber {
  const char* name;
  upstream::OwnedCounter HostCounters::* field;
  bool gauge;
};
// In the order of the text; JSON has counters first.
constexpr HostNumber kHostNumbers[] = {
    {"cx_active", &HostCounters::cx_active, true},
    {"cx_connect_fail", &HostCounters::cx_connect_fail, false},
    {"cx_total", &HostCounters::cx_total, false},
    {"rq_active", &HostCounters::rq_active, true},
    {"rq_error", &HostCounters::rq_error, false},
    {"rq_pending_active", &HostCounters::rq_pending_active, true},
    {"rq_success", &HostCounters::rq_success, false},
    {"rq_timeout", &HostCounters::rq_timeout, false},
    {"rq_total", &HostCounters::rq_total, false},
};

using Origin = upstream::OutlierMonitor::Origin;

// −1: it is not known.
double successRate(const Host& host, Origin origin) {
  return host.outlier() ? host.outlier()->successRate(origin) : -1;
}

// With at most six digits.
std::string shortNumber(double number) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, 6).ptr;
  return std::string(text, end);
}

std::string exactNumber(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// A message with a value, which is not said where it is 0; nothing where it is not known.
void appendPercent(std::string* out, std::string_view name, double percent) {
  if (percent < 0) return;
  out->append(",\"").append(name).append("\":{");
  if (percent > 0) out->append("\"value\":" + exactNumber(percent));
  out->push_back('}');
}

struct HealthField {
  upstream::HealthFlag flag;
  std::string_view name;
};
// In the order of the message; what an assignment says comes behind.
constexpr HealthField kHealthFields[] = {
    {upstream::HealthFlag::FailedActive, "failed_active_health_check"},
    {upstream::HealthFlag::FailedOutlier, "failed_outlier_check"},
    {upstream::HealthFlag::DegradedActive, "failed_active_degraded_check"},
    {upstream::HealthFlag::PendingRemoval, "pending_dynamic_removal"},
    {upstream::HealthFlag::PendingActive, "pending_active_hc"},
    {upstream::HealthFlag::ExcludedImmediately, "excluded_via_immediate_hc_fail"},
    {upstream::HealthFlag::ActiveTimeout, "active_hc_timeout"},
};

std::string_view edsHealth(Health health) {
  switch (health) {
    case Health::Healthy:
      return "HEALTHY";
    case Health::Unhealthy:
    case Health::Timeout:
      return "UNHEALTHY";
    case Health::Degraded:
      return "DEGRADED";
    case Health::Draining:
      return "DRAINING";
  }
  return "HEALTHY";
}

// Walks the clusters by name; those that come or go meanwhile are shown or not.
class ClustersPage : public stats::Page {
 public:
  // Less than a piece of statistics: what it shows lies far apart, and takes longer to read.
  static constexpr size_t kPartBytes = 16 * 1024;

  ClustersPage(const DataPlane& data_plane, NameFilter filter, ServiceNames services)
      : data_plane_(data_plane), filter_(std::move(filter)), services_(std::move(services)) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    const auto& clusters = data_plane_.clusters();
    stats::Pace pace;
    auto at = is_started_ ? clusters.upper_bound(last_) : clusters.begin();
    for (; at != clusters.end() && out->size() - start < kPartBytes; ++at) {
      if (pace.budget == 0 && !pace.goOn()) break;
      const auto& [name, cluster] = *at;
      const bool is_shown = !cluster->settings().is_hidden;
      if (is_shown && (!filter_ || filter_(name))) {
        append(out, *cluster, is_empty_);
        is_empty_ = false;
      }
      const size_t hosts = cluster->hosts()->hosts().size();
      pace.budget -= std::min(pace.budget, hosts + 1);
    }
    if (at != clusters.end()) {
      if (at != clusters.begin()) last_ = std::prev(at)->first;
      is_started_ = true;
      return true;
    }
    end(out, is_empty_);
    return false;
  }

 protected:
  virtual void append(std::string* out, const Cluster& cluster, bool first) = 0;
  virtual void end(std::string*, bool) {}
  // Empty: it has none.
  std::string_view serviceOf(const Cluster& cluster) const {
    const auto found = services_.find(cluster.name());
    return found == services_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  const DataPlane& data_plane_;
  const NameFilter filter_;
  const ServiceNames services_;
  bool is_started_ = false;
  bool is_empty_ = true;
  // Where the next piece goes on.
  std::string last_;
};

class TextPage final : public ClustersPage {
 public:
  using ClustersPage::ClustersPage;

 private:
  void append(std::string* out, const Cluster& cluster, bool) override {
    const std::string prefix = cluster.name() + "::";
    const auto line = [&](std::string_view key, std::string_view value) {
      out->append(prefix).append(key).append("::").append(value).append("\n");
    };
    line("observability_name", cluster.observabilityName());
    if (const auto* detector = cluster.outlierDetector()) {
      const auto rates = [&](const std::string& prefix, Origin origin) {
        const upstream::SuccessRates& found = detector->rates(origin);
        line("outlier::" + prefix + "success_rate_average", shortNumber(found.average));
        line("outlier::" + prefix + "success_rate_ejection_threshold",
             shortNumber(found.ejection_threshold));
      };
      rates("", Origin::External);
      rates("local_origin_", Origin::Local);
    }
    const char* const priorities[] = {"default_priority", "high_priority"};
    for (uint32_t i = 0; i < 2; ++i) {
      const upstream::Limits& limits = cluster.limits(i);
      const std::string priority = priorities[i];
      line(priority + "::max_connections", std::to_string(limits.connections.max()));
      line(priority + "::max_pending_requests", std::to_string(limits.pending_requests.max()));
      line(priority + "::max_requests", std::to_string(limits.requests.max()));
      line(priority + "::max_retries", std::to_string(limits.maxRetries()));
    }
    line("added_via_api", cluster.settings().added_via_api ? "true" : "false");
    if (const auto service = serviceOf(cluster); !service.empty()) {
      line("eds_service_name", service);
    }
    for (const auto& host : cluster.hosts()->hosts()) appendHost(out, prefix, *host);
  }

  static void appendHost(std::string* out, const std::string& cluster_prefix, const Host& host) {
    const std::string prefix = cluster_prefix + host.text() + "::";
    const auto line = [&](std::string_view key, std::string_view value) {
      out->append(prefix).append(key).append("::").append(value).append("\n");
    };
    for (const HostNumber& number : kHostNumbers) {
      line(number.name, std::to_string(host.sum(number.field)));
    }
    const plan::Host& settings = host.settings();
    line("hostname", settings.hostname);
    line("health_flags", upstream::healthText(host.health()));
    line("weight", std::to_string(host.weight()));
    line("region", settings.region);
    line("zone", settings.zone);
    line("sub_zone", settings.sub_zone);
    line("canary", settings.canary ? "true" : "false");
    line("priority", std::to_string(settings.priority));
    line("success_rate", exactNumber(successRate(host, Origin::External)));
    line("local_origin_success_rate", exactNumber(successRate(host, Origin::Local)));
  }
};

void appendNumbers(std::string* out, const Host& host) {
  bool first = true;
  for (const bool gauges : {false, true}) {
    for (const HostNumber& number : kHostNumbers) {
      if (number.gauge != gauges) continue;
      const uint64_t value = host.sum(number.field);
      out->append(first ? "{" : ",{");
      first = false;
      if (gauges) out->append("\"type\":\"GAUGE\",");
      if (value != 0) out->append("\"value\":\"" + std::to_string(value) + "\",");
      out->append("\"name\":\"").append(number.name).append("\"}");
    }
  }
}

void appendHost(std::string* out, const Host& host) {
  const plan::Host& settings = host.settings();
  out->append("{\"address\":");
  if (host.address().isIp()) {
    out->append("{\"socket_address\":{\"address\":");
    appendJsonString(out, host.address().ip());
    out->append(",\"port_value\":" + std::to_string(host.address().port()) + "}}");
  } else if (host.address().isInternal()) {
    out->append("{\"envoy_internal_address\":{\"server_listener_name\":");
    appendJsonString(out, host.address().internalListener());
    if (!host.address().endpointId().empty()) {
      out->append(",\"endpoint_id\":");
      appendJsonString(out, host.address().endpointId());
    }
    out->append("}}");
  } else {
    out->append("{\"pipe\":{\"path\":");
    appendJsonString(out, host.text());
    out->append("}}");
  }
  out->append(",\"stats\":[");
  appendNumbers(out, host);
  out->append("],\"health_status\":{");
  const upstream::HealthFlags health = host.health();
  for (const HealthField& field : kHealthFields) {
    if (health.has(field.flag)) out->append("\"").append(field.name).append("\":true,");
  }
  out->append("\"eds_health_status\":\"");
  out->append(edsHealth(settings.health)).append("\"");
  if (health.has(upstream::HealthFlag::DegradedOutlier)) {
    out->append(",\"failed_degraded_outlier_detection\":true");
  }
  out->push_back('}');
  appendPercent(out, "success_rate", successRate(host, Origin::External));
  out->append(",\"weight\":" + std::to_string(host.weight()));
  if (!settings.hostname.empty()) {
    out->append(",\"hostname\":");
    appendJsonString(out, settings.hostname);
  }
  if (settings.priority != 0) out->append(",\"priority\":" + std::to_string(settings.priority));
  appendPercent(out, "local_origin_success_rate", successRate(host, Origin::Local));
  out->append(",\"locality\":{");
  bool first = true;
  const auto field = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    out->append(first ? "\"" : ",\"").append(name).append("\":");
    first = false;
    appendJsonString(out, value);
  };
  field("region", settings.region);
  field("zone", settings.zone);
  field("sub_zone", settings.sub_zone);
  out->append("}}");
}

void appendCluster(std::string* out, const Cluster& cluster, std::string_view service) {
  out->append("{\"name\":");
  appendJsonString(out, cluster.name());
  if (cluster.settings().added_via_api) out->append(",\"added_via_api\":true");
  const upstream::OutlierDetector* const detector = cluster.outlierDetector();
  if (detector) {
    appendPercent(out, "success_rate_ejection_threshold",
                  detector->rates(Origin::External).ejection_threshold);
  }
  if (!cluster.hosts()->hosts().empty()) {
    out->append(",\"host_statuses\":[");
    bool first_host = true;
    for (const auto& host : cluster.hosts()->hosts()) {
      if (!first_host) out->push_back(',');
      first_host = false;
      appendHost(out, *host);
    }
    out->push_back(']');
  }
  if (detector) {
    appendPercent(out, "local_origin_success_rate_ejection_threshold",
                  detector->rates(Origin::Local).ejection_threshold);
  }
  out->append(",\"circuit_breakers\":{\"thresholds\":[");
  for (uint32_t i = 0; i < 2; ++i) {
    const upstream::Limits& limits = cluster.limits(i);
    out->append(i == 0 ? "{" : ",{\"priority\":\"HIGH\",");
    out->append("\"max_connections\":" + std::to_string(limits.connections.max()));
    out->append(",\"max_pending_requests\":" + std::to_string(limits.pending_requests.max()));
    out->append(",\"max_requests\":" + std::to_string(limits.requests.max()));
    out->append(",\"max_retries\":" + std::to_string(limits.maxRetries()));
    out->push_back('}');
  }
  out->append("]},\"observability_name\":");
  appendJsonString(out, cluster.observabilityName());
  if (!service.empty()) {
    out->append(",\"eds_service_name\":");
    appendJsonString(out, service);
  }
  out->push_back('}');
}

class JsonPage final : public ClustersPage {
 public:
  using ClustersPage::ClustersPage;

 private:
  void append(std::string* out, const Cluster& cluster, bool first) override {
    out->append(first ? "{\"cluster_statuses\":[" : ",");
    appendCluster(out, cluster, serviceOf(cluster));
  }
  void end(std::string* out, bool is_empty) override { out->append(is_empty ? "{}" : "]}"); }
};

// A page of compact JSON, laid out.
class LaidOutPage final : public stats::Page {
 public:
  explicit LaidOutPage(std::unique_ptr<stats::Page> compact) : compact_(std::move(compact)) {}

  bool next(std::string* out) override {
    piece_.clear();
    const bool more = compact_->next(&piece_);
    layout_.append(out, piece_);
    if (!more) out->push_back('\n');
    return more;
  }

 private:
  std::unique_ptr<stats::Page> compact_;
  std::string piece_;
  JsonLayout layout_;
};

}  // namespace

std::unique_ptr<stats::Page> openClustersText(const DataPlane& data_plane, NameFilter filter,
                                              ServiceNames services) {
  return std::make_unique<TextPage>(data_plane, std::move(filter), std::move(services));
}

std::unique_ptr<stats::Page> openClustersJson(const DataPlane& data_plane, NameFilter filter,
                                              ServiceNames services) {
  return std::make_unique<LaidOutPage>(
      std::make_unique<JsonPage>(data_plane, std::move(filter), std::move(services)));
}

std::string clusterStatusJson(const upstream::Cluster& cluster) {
  std::string out;
  appendCluster(&out, cluster, {});
  return out;
}

namespace {

// What hosts have reported since the last call.
void appendReports(std::string* out, const upstream::Cluster& cluster) {
  bool is_first_host = true;
  for (const auto& host : cluster.hosts()->hosts()) {
    out->append(is_first_host ? "{" : ",{");
    is_first_host = false;
    const auto sums = host->load() ? host->load()->takeRecords() : upstream::HostLoad::Sums();
    bool is_first = true;
    for (const auto& [name, sum] : sums) {
      if (!is_first) out->push_back(',');
      is_first = false;
      appendJsonString(out, name);
      out->append(":[" + std::to_string(sum.reports) + ",");
      // JSON has no other numbers.
      out->append(std::isfinite(sum.total) ? exactNumber(sum.total) : "0").append("]");
    }
    out->push_back('}');
  }
}

}  // namespace

std::string takeLoadsJson(const upstream::Cluster& cluster) {
  std::string out = "{\"dropped\":" + std::to_string(cluster.dropped()) + ",\"category\":";
  appendJsonString(&out, cluster.dropCategory());
  out.append(",\"shed\":" + std::to_string(cluster.shed()));
  if (!cluster.settings().reported_metrics.empty()) {
    out.append(",\"hosts\":[");
    appendReports(&out, cluster);
    out.push_back(']');
  }
  out.push_back('}');
  return out;
}

}  // namespace fairlead::worker
