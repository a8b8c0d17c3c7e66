#include "stats/tagged_name.h"

namespace fairlead::stats {

namespace {

constexpr const char* kCode = "envoy.response_code";
constexpr const char* kCodeClass = "envoy.response_code_class";

// The part within the scope, and the label that it holds.
void appendLocal(const Scope& scope, std::string_view name, CodeName code,
                 std::vector<Label>* labels, std::string* tagged) {
  if (const int status = code.statusNumber()) {
    labels->emplace_back(kCode, std::to_string(status));
    tagged->append(code.prefix()).append("upstream_rq");
  } else if (const int digit = code.familyDigit()) {
    labels->emplace_back(kCodeClass, std::to_string(digit));
    tagged->append(code.prefix()).append("upstream_rq_xx");
  } else if (const AgreedName agreed = agreedNameOf(scope, name); !agreed.label.empty()) {
    if (!agreed.is_last) labels->emplace_back(agreed.label, agreed.value);
    tagged->append(agreed.metric);
  } else if (const char code_class = codeClassOf(name)) {
    labels->emplace_back(kCodeClass, std::string(1, code_class));
    tagged->append(name.substr(0, name.size() - 3)).append("xx");
  } else if (!isEndOfLabel(name)) {
    tagged->append(name);
  }
}

}  // namespace

AgreedName agreedNameOf(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"ciphers.", "envoy.ssl_cipher"},
      {"curves.", "envoy.ssl_curve"},
      {"sigalgs.", "envoy.ssl_sigalg"},
      {"versions.", "envoy.ssl_version"},
  };
  for (const auto& [start, label] : kKinds) {
    if (!name.starts_with(start)) continue;
    return {label, start.substr(0, start.size() - 1), name.substr(start.size())};
  }
  constexpr std::string_view kEvent = "event_type.";
  if (name.starts_with(kEvent)) return {"event_type", "event", name.substr(kEvent.size()), true};
  return {};
}

AgreedName agreedNameOf(const Scope& scope, std::string_view name) {
  AgreedName agreed = agreedNameOf(name);
  if (agreed.metric == "ciphers" && scope.prefix.starts_with("cluster.")) {
    agreed.label = "cipher_suite";
  }
  return agreed;
}

char codeClassOf(std::string_view name) {
  constexpr std::string_view kForm = "_rq_2xx";
  if (name.size() < kForm.size()) return 0;
  const std::string_view end = name.substr(name.size() - kForm.size());
  if (!end.starts_with("_rq_") || !end.ends_with("xx")) return 0;
  const char digit = end[4];
  return digit >= '1' && digit <= '5' ? digit : 0;
}

bool hasConfiguredTags(const Scope& scope, std::string_view name) {
  if (scope.prefix == "filesystem.") return false;
  return scope.prefix != "server." || name != "hot_restart_generation";
}

bool hasOwnTags(const BlockBase& block) { return &block.layout() == &Endpoint::kLayout; }

void appendTagged(const Registry& registry, const BlockBase& block, std::string_view name,
                  CodeName code, std::vector<Label>* labels, std::string* tagged) {
  const Scope& scope = block.scope();
  const bool has_configured = hasConfiguredTags(scope, name);
  const TagProducer* producer = registry.tagProducer();
  if (producer && has_configured && !hasOwnTags(block)) {
    producer->produce(scope.prefix + std::string(name), labels, tagged);
    return;
  }
  tagged->append(scope.metric_prefix);
  appendLocal(scope, name, code, labels, tagged);
  labels->insert(labels->end(), scope.first_labels.begin(), scope.first_labels.end());
  if (has_configured) {
    const std::vector<Label>& fixed = registry.fixedLabels();
    labels->insert(labels->end(), fixed.begin(), fixed.end());
  }
  labels->insert(labels->end(), scope.labels.begin(), scope.labels.end());
  const AgreedName agreed = agreedNameOf(scope, name);
  if (agreed.is_last) labels->emplace_back(agreed.label, agreed.value);
}

}  // namespace fairlead::stats
