#include "upstream/load_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "base/arena.h"
#include "base/base64.h"
#include "base/json_tree.h"
#include "base/proto_reader.h"
#include "base/text.h"

namespace fairlead::upstream {

namespace {

constexpr std::string_view kHeader = "endpoint-load-metrics";
constexpr std::string_view kBinaryHeader = "endpoint-load-metrics-bin";
constexpr std::string_view kBinary = "BIN ";
constexpr std::string_view kText = "TEXT ";
constexpr std::string_view kJson = "JSON ";
// Beyond any that makes sense.
constexpr size_t kMostMetrics = 256;

struct Number {
  std::string_view name;
  std::string_view json_name;
  uint32_t field;
  double LoadReport::* of;
};
constexpr Number kNumbers[] = {
    {"cpu_utilization", "cpuUtilization", 1, &LoadReport::cpu_utilization},
    {"mem_utilization", "memUtilization", 2, &LoadReport::mem_utilization},
    {"rps_fractional", "rpsFractional", 6, &LoadReport::rps_fractional},
    {"eps", "eps", 7, &LoadReport::eps},
    {"application_utilization", "applicationUtilization", 9, &LoadReport::application_utilization},
};

struct Map {
  std::string_view name;
  std::string_view json_name;
  uint32_t field;
  LoadReport::Metrics LoadReport::* of;
};
constexpr Map kMaps[] = {
    {"request_cost", "requestCost", 4, &LoadReport::request_cost},
    {"utilization", "utilization", 5, &LoadReport::utilization},
    {"named_metrics", "namedMetrics", 8, &LoadReport::named_metrics},
};
// Of `rps`, which nobody reads any more.
constexpr std::string_view kOldRate = "rps";

bool readDouble(std::string_view text, double* out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*out);
}

void put(LoadReport::Metrics& metrics, std::string_view name, double value) {
  for (auto& [known, number] : metrics) {
    if (known != name) continue;
    number = value;
    return;
  }
  if (metrics.size() < kMostMetrics) metrics.emplace_back(name, value);
}

bool readEntry(std::string_view bytes, LoadReport::Metrics& metrics) {
  std::string_view name;
  double value = 0;
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field() == 1) name = reader.bytes();
    if (reader.field() == 2) value = reader.real();
  }
  if (!reader.isWhole()) return false;
  put(metrics, name, value);
  return true;
}

bool readMessage(std::string_view bytes, LoadReport* report) {
  ProtoReader reader(bytes);
  while (reader.next()) {
    for (const Number& number : kNumbers) {
      if (reader.field() == number.field) report->*number.of = reader.real();
    }
    for (const Map& map : kMaps) {
      if (reader.field() == map.field && !readEntry(reader.bytes(), report->*map.of)) return false;
    }
  }
  return reader.isWhole();
}

bool readBinary(std::string_view text, LoadReport* report) {
  // gRPC leaves the padding out.
  std::string padded(text);
  while (padded.size() % 4 != 0) padded.push_back('=');
  std::string bytes;
  return !text.empty() && decodeBase64(padded, &bytes) && !bytes.empty() &&
         readMessage(bytes, report);
}

// As in the real server, costs of requests do not come as text.
bool putText(std::string_view name, double value, LoadReport* report) {
  for (const std::string_view map : {"named_metrics.", "utilization."}) {
    if (!name.starts_with(map)) continue;
    name.remove_prefix(map.size());
    if (name.empty()) return false;
    put(map == "utilization." ? report->utilization : report->named_metrics, name, value);
    return true;
  }
  const auto found = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                  [name](const Number& number) { return number.name == name; });
  if (found == std::end(kNumbers)) return false;
  report->*found->of = value;
  return true;
}

// "cpu_utilization:0.3, named_metrics.queue=7": each once.
bool readText(std::string_view text, LoadReport* report) {
  std::vector<std::string_view> names;
  bool is_good = true;
  forEachToken(text, [&](std::string_view token) {
    if (token.empty()) return true;
    const size_t end = token.find_first_of(":=");
    // A blank behind it would be its own.
    const std::string_view name = token.substr(0, end);
    double value = 0;
    is_good = end != std::string_view::npos && !name.empty() && names.size() < kMostMetrics &&
              readDouble(trimmed(token.substr(end + 1)), &value) && value >= 0 &&
              std::find(names.begin(), names.end(), name) == names.end() &&
              putText(name, value, report);
    names.push_back(name);
    return is_good;
  });
  return is_good;
}

// A number, or a text with one in it.
bool readNode(const JsonNode& node, double* out) {
  if (node.isNumber()) {
    *out = node.number;
    return true;
  }
  return node.isString() && readDouble(node.text, out);
}

bool readJson(std::string_view text, LoadReport* report) {
  Arena arena(1024);
  const JsonNode* const root = parseJson(text, arena, JsonRepeats::Refused);
  if (!root || !root->isObject()) return false;
  for (const JsonNode* member = root->first; member; member = member->next) {
    if (member->kind == JsonNode::Kind::Null || member->key == kOldRate) continue;
    bool is_known = false;
    for (const Number& number : kNumbers) {
      if (member->key != number.name && member->key != number.json_name) continue;
      is_known = readNode(*member, &(report->*number.of));
    }
    for (const Map& map : kMaps) {
      if (member->key != map.name && member->key != map.json_name) continue;
      is_known = member->isObject();
      for (const JsonNode* entry = member->first; is_known && entry; entry = entry->next) {
        double value = 0;
        is_known = readNode(*entry, &value);
        if (is_known) put(report->*map.of, entry->key, value);
      }
    }
    if (!is_known) return false;
  }
  return true;
}

bool read(std::string_view text, LoadReport* report) {
  if (text.starts_with(kBinary)) return readBinary(text.substr(kBinary.size()), report);
  if (text.starts_with(kText)) return readText(text.substr(kText.size()), report);
  return text.starts_with(kJson) && readJson(text.substr(kJson.size()), report);
}

}  // namespace

std::optional<double> LoadReport::find(std::string_view name) const {
  for (const Number& number : kNumbers) {
    if (number.name == name) return this->*number.of;
  }
  for (const Map& map : kMaps) {
    if (!name.starts_with(map.name) || name.substr(map.name.size()).substr(0, 1) != ".") continue;
    const std::string_view key = name.substr(map.name.size() + 1);
    for (const auto& [known, value] : this->*map.of) {
      if (known == key) return value;
    }
  }
  return std::nullopt;
}

double LoadReport::highestOf(const std::vector<std::string>& names) const {
  double highest = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".*")) {
      highest = std::max(highest, find(name).value_or(0));
      continue;
    }
    for (const Map& map : kMaps) {
      if (name.substr(0, name.size() - 2) != map.name) continue;
      for (const auto& [_, value] : this->*map.of) highest = std::max(highest, value);
    }
  }
  return highest;
}

void LoadReport::forEach(const std::vector<std::string>& names,
                         const std::function<void(std::string_view, double)>& visit) const {
  for (const std::string& name : names) {
    if (!name.ends_with(".*")) {
      if (const std::optional<double> value = find(name)) visit(name, *value);
      continue;
    }
    const std::string prefix = name.substr(0, name.size() - 1);
    for (const Map& map : kMaps) {
      if (name.substr(0, name.size() - 2) != map.name) continue;
      for (const auto& [key, value] : this->*map.of) visit(prefix + key, value);
    }
  }
}

std::optional<LoadReport> parseLoadReport(std::string_view message) {
  LoadReport report;
  if (readMessage(message, &report)) return report;
  return std::nullopt;
}

std::optional<LoadReport> readLoadReport(const http::HeaderMap& headers) {
  LoadReport report;
  if (const http::HeaderEntry* const binary = headers.find(kBinaryHeader)) {
    if (readBinary(binary->value(), &report)) return report;
    return std::nullopt;
  }
  const http::HeaderEntry* const header = headers.find(kHeader);
  if (header && read(header->value(), &report)) return report;
  return std::nullopt;
}

}  // namespace fairlead::upstream
