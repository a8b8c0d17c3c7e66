#include "health/event_log.h"

#include <time.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace fairlead::health {

namespace {

std::string_view nameOf(Failure failure) {
  switch (failure) {
    case Failure::Active:
      return "ACTIVE";
    case Failure::Passive:
      return "PASSIVE";
    case Failure::Network:
      return "NETWORK";
    case Failure::NetworkTimeout:
      return "NETWORK_TIMEOUT";
  }
  return "ACTIVE";
}

std::string_view nameOf(plan::HealthCheck::Kind kind) {
  switch (kind) {
    case plan::HealthCheck::Kind::Http:
      return "HTTP";
    case plan::HealthCheck::Kind::Tcp:
      return "TCP";
    case plan::HealthCheck::Kind::Grpc:
      return "GRPC";
  }
  return "HTTP";
}

std::string now() {
  timespec time;
  ::clock_gettime(CLOCK_REALTIME, &time);
  tm parts;
  ::gmtime_r(&time.tv_sec, &parts);
  char text[40];
  const size_t size = ::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  char millis[32];
  std::snprintf(millis, sizeof(millis), ".%03ldZ", time.tv_nsec / 1'000'000);
  return std::string(text, size) + millis;
}

void appendString(std::string* out, std::string_view key, std::string_view value) {
  out->append("\"").append(key).append("\":");
  appendJsonString(out, value);
}

void appendAddress(std::string* out, const net::Address& address) {
  if (!address.isIp()) {
    out->append("{\"pipe\":{");
    appendString(out, "path", address.text());
    out->append(",\"mode\":0}}");
    return;
  }
  out->append("{\"socket_address\":{\"protocol\":\"TCP\",");
  appendString(out, "address", address.ip());
  out->append(",\"port_value\":" + std::to_string(address.port()) +
              ",\"resolver_name\":\"\",\"ipv4_compat\":false,"
              "\"network_namespace_filepath\":\"\"}}");
}

// As google.protobuf.Struct in JSON, by name.
void appendMetadata(std::string* out, const std::vector<plan::MetadataSpace>& spaces) {
  out->append(",\"metadata\":{\"filter_metadata\":{");
  bool is_first = true;
  for (const plan::MetadataSpace& space : spaces) {
    for (const plan::MetadataValue& value : space.values) {
      // All of it, as one text.
      if (!value.path.empty()) continue;
      if (!std::exchange(is_first, false)) out->push_back(',');
      appendJsonString(out, space.name);
      out->append(":").append(value.text);
    }
  }
  out->append("},\"typed_filter_metadata\":{}}");
}

// Members are in the order of the message's fields.
std::string lineOf(const CheckConfig& config, const upstream::Host& host, const Event& event) {
  using Kind = Event::Kind;
  const std::string first = event.is_first ? "true" : "false";
  std::string out = "{";
  appendString(&out, "health_checker_type", nameOf(config.plan().kind));
  out += ",\"host\":";
  appendAddress(&out, host.address());
  out += ",";
  appendString(&out, "cluster_name", config.cluster().name());
  if (event.kind == Kind::Ejected) {
    out += ",\"eject_unhealthy_event\":{";
    appendString(&out, "failure_type", nameOf(event.failure));
    out += ",\"http_status_code\":" + std::to_string(event.status) + "}";
  }
  if (event.kind == Kind::Added) out += ",\"add_healthy_event\":{\"first_check\":" + first + "}";
  out += ",";
  appendString(&out, "timestamp", now());
  if (event.kind == Kind::Failed) {
    out += ",\"health_check_failure_event\":{";
    appendString(&out, "failure_type", nameOf(event.failure));
    out +=
        ",\"first_check\":" + first + ",\"http_status_code\":" + std::to_string(event.status) + "}";
  }
  if (event.kind == Kind::Degraded) out += ",\"degraded_healthy_host\":{}";
  if (event.kind == Kind::NoLongerDegraded) out += ",\"no_longer_degraded_host\":{}";
  const plan::Host& settings = host.settings();
  if (!settings.metadata.empty()) appendMetadata(&out, settings.metadata);
  out += ",\"locality\":{";
  appendString(&out, "region", settings.region);
  out += ",";
  appendString(&out, "zone", settings.zone);
  out += ",";
  appendString(&out, "sub_zone", settings.sub_zone);
  out += "}";
  if (event.kind == Kind::Succeeded) out += ",\"successful_health_check_event\":{}";
  return out + "}\n";
}

}  // namespace

void logEvent(const CheckConfig& config, const upstream::Host& host, const Event& event) {
  if (config.eventLogs().empty()) return;
  const std::string line = lineOf(config, host, event);
  for (const auto& file : config.eventLogs()) {
    file->lane(config.thread())->append(line);
    file->lineDone(config.thread());
  }
}

}  // namespace fairlead::health
