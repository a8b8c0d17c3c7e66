#include "filters/http/header_to_metadata.h"

#include <map>
#include <utility>

#include "base/base64.h"
#include "filters/http/metadata_value.h"
#include "filters/http/request_metadata.h"
#include "http/cookies.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using HeaderRule = HeaderToMetadataRules::Rule;
using HeaderMetadataCounter = stats::HttpHeaderToMetadata::Counter;
using MetadataType = plan::MetadataTarget::Type;

constexpr std::string_view kHeaderSpace = "envoy.filters.http.header_to_metadata";
// A value of as many bytes is too long.
constexpr size_t kMaxHeaderValue = 8 * 1024;

// Lines of a name count as one; a pseudo header is of the head.
bool findHeader(const format::HeaderName& name, const http::HeaderMap& headers,
                const route::RequestView* view, std::string* out) {
  if (name.isPseudo()) {
    std::string_view value;
    if (!view || !view->header(name, &value)) return false;
    *out = value;
    return true;
  }
  bool is_there = false;
  const http::HeaderEntry* entry = nullptr;
  while ((entry = name.find(headers, entry))) {
    if (is_there) out->push_back(',');
    out->append(entry->value());
    is_there = true;
  }
  return is_there;
}

// Of one request and its answer.
class HeaderToMetadata final : public HttpFilter {
 public:
  HeaderToMetadata(const HeaderToMetadataRules& rules, FilterMemory& memory,
                   const FilterScope& scope)
      : rules_(rules), memory_(memory), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    tell(rules_.request, head.headers, &view, true);
    return FilterStatus::Continue;
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool, Arena&) override {
    status_ = std::to_string(status);
    tell(rules_.response, headers, nullptr, false);
    return FilterStatus::Continue;
  }

 private:
  using Spaces = std::map<std::string_view, JsonNode*>;

  void count(HeaderMetadataCounter counter) {
    if (rules_.stats) rules_.stats->shard(scope_.worker + 1)->add(counter);
  }

  void tell(const std::vector<HeaderRule>& rules, http::HeaderMap& headers,
            const route::RequestView* view, bool is_request) {
    Spaces spaces;
    for (const HeaderRule& rule : rules) {
      count(is_request ? HeaderMetadataCounter::RequestRulesProcessed
                       : HeaderMetadataCounter::ResponseRulesProcessed);
      std::string value;
      const bool is_there = find(rule, headers, view, &value);
      if (!is_there && rule.plan.missing) {
        count(is_request ? HeaderMetadataCounter::RequestHeaderNotFound
                         : HeaderMetadataCounter::ResponseHeaderNotFound);
      }
      const auto& target = is_there ? rule.plan.present : rule.plan.missing;
      if (!target ||
          !add(*target, is_there ? rule.rewrite : std::nullopt, std::move(value), &spaces)) {
        continue;
      }
      count(is_request ? HeaderMetadataCounter::RequestMetadataAdded
                       : HeaderMetadataCounter::ResponseMetadataAdded);
    }
    for (const auto& [space, object] : spaces) metadata_.set(scope_.notes, space, *object);
  }

  bool find(const HeaderRule& rule, http::HeaderMap& headers, const route::RequestView* view,
            std::string* value) {
    if (!rule.plan.cookie.empty()) {
      *value = http::cookieOf(headers, rule.plan.cookie);
      return !value->empty();
    }
    if (!view && rule.plan.header == ":status") {
      *value = status_;
      return true;
    }
    if (!findHeader(rule.header, headers, view, value)) return false;
    if (!rule.plan.remove) return true;
    for (http::HeaderEntry& entry : headers) {
      if (rule.header.names(entry)) entry.remove();
    }
    return true;
  }

  // False: there is nothing to add.
  bool add(const plan::MetadataTarget& target, const std::optional<Regex>& rewrite,
           std::string value, Spaces* spaces) {
    if (!target.value.empty()) {
      value = target.value;
    } else if (rewrite) {
      std::string made;
      rewrite->replaceAll(value, target.rewrite->substitution, &made);
      value = std::move(made);
      if (value.empty()) count(HeaderMetadataCounter::RegexSubstitutionFailed);
    }
    if (value.empty()) return false;
    if (value.size() >= kMaxHeaderValue) {
      count(HeaderMetadataCounter::HeaderValueTooLong);
      return false;
    }
    if (target.base64) {
      std::string decoded;
      while (value.ends_with('=')) value.pop_back();
      while (value.size() % 4 != 0) value.push_back('=');
      if (!decodeBase64(value, &decoded) || decoded.empty()) {
        count(HeaderMetadataCounter::Base64DecodeFailed);
        return false;
      }
      value = std::move(decoded);
    }
    const JsonNode* const node = nodeOf(target.type, memory_.keep(value));
    if (!node) return false;
    const std::string_view space = target.space.empty() ? kHeaderSpace : target.space;
    JsonNode*& object = (*spaces)[space];
    if (!object) object = makeJsonNode(memory_.arena(), JsonNode::Kind::Object);
    JsonNode* const member = makeJsonNode(memory_.arena(), node->kind);
    *member = *node;
    member->key = target.key;
    // The last of a name counts.
    const JsonNode** link = &object->first;
    while (*link) link = &const_cast<JsonNode*>(*link)->next;
    *link = member;
    return true;
  }

  const JsonNode* nodeOf(MetadataType type, std::string_view value) {
    if (type == MetadataType::Number) return numberNode(value, memory_.arena());
    if (type == MetadataType::ProtobufValue) return valueNode(value, memory_.arena());
    JsonNode* const node = makeJsonNode(memory_.arena(), JsonNode::Kind::String);
    node->text = value;
    return node;
  }

  const HeaderToMetadataRules& rules_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  RequestMetadata metadata_;
  // Of the answer.
  std::string status_;
};

Result<std::vector<HeaderRule>> rulesOf(const std::vector<plan::MetadataRule>& plans) {
  std::vector<HeaderRule> rules;
  for (const plan::MetadataRule& plan : plans) {
    HeaderRule rule{plan, format::HeaderName(plan.header), std::nullopt};
    if (plan.present && plan.present->rewrite && plan.present->rewrite->regex) {
      Result<Regex> regex = Regex::load(plan.present->rewrite->regex->program);
      if (!regex) return regex.error();
      rule.rewrite = std::move(regex.value());
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

Result<std::unique_ptr<const HeaderToMetadataRules>> HeaderToMetadataRules::build(
    const plan::HeaderToMetadata& plan, stats::Registry& registry) {
  auto made = std::make_unique<HeaderToMetadataRules>();
  auto request = rulesOf(plan.request);
  if (!request) return request.error();
  made->request = std::move(request.value());
  auto response = rulesOf(plan.response);
  if (!response) return response.error();
  made->response = std::move(response.value());
  if (!plan.stat_prefix.empty()) {
    made->stats = registry.create<stats::HttpHeaderToMetadata>(
        stats::plainScope("http_filter_name." + plan.stat_prefix + "."));
  }
  return std::unique_ptr<const HeaderToMetadataRules>(std::move(made));
}

BuiltFilter HeaderToMetadataConfig::build(const plan::HeaderToMetadata& plan,
                                          const ConfigScope& scope) {
  auto config = std::make_shared<HeaderToMetadataConfig>();
  auto rules = HeaderToMetadataRules::build(plan, scope.registry);
  if (!rules) return rules.error();
  config->rules_ = std::move(rules.value());
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* HeaderToMetadataConfig::make(FilterMemory& memory, const FilterScope& scope,
                                         FilterPlace& place) const {
  const HeaderToMetadataRules* rules = rules_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && HeaderToMetadataRules::of(own.front()))
    rules = HeaderToMetadataRules::of(own.front());
  if (rules->request.empty() && rules->response.empty()) return nullptr;
  return memory.make<HeaderToMetadata>(*rules, memory, scope);
}

}  // namespace fairlead::filters
