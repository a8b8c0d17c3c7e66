#include "filters/http/json_to_metadata.h"

#include <algorithm>
#include <map>
#include <utility>

#include "filters/http/metadata_value.h"
#include "filters/http/request_metadata.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using JsonMetadataCounter = stats::HttpJsonToMetadata::Counter;
using JsonType = plan::JsonMetadataTarget::Type;

constexpr std::string_view kJsonSpace = "envoy.filters.http.json_to_metadata";
constexpr size_t kMaxJsonValue = 8 * 1024;

bool isWhole(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

// One direction of one request.
class JsonBody {
 public:
  JsonBody(const JsonToMetadataConfig& config, const JsonRules::Side& side, bool is_request,
           FilterMemory& memory, const FilterScope& scope)
      : config_(config), side_(side), is_request_(is_request), memory_(memory), scope_(scope) {}

  FilterStatus onHead(const http::HeaderMap& headers, bool end) {
    if (side_.isEmpty()) return FilterStatus::Continue;
    const http::HeaderEntry* const type = headers.find(http::HeaderId::ContentType);
    if (!side_.admits(type ? type->value() : std::string_view())) {
      applyAll(&plan::JsonMetadataRule::error);
      count(JsonMetadataCounter::MismatchedContentType);
      return FilterStatus::Continue;
    }
    if (end) {
      applyAll(&plan::JsonMetadataRule::missing);
      count(JsonMetadataCounter::NoBody);
      return FilterStatus::Continue;
    }
    collects_ = true;
    return FilterStatus::Pause;
  }
  FilterStatus onData(std::string_view data, bool end) {
    if (!collects_) return FilterStatus::Continue;
    body_.append(data);
    if (!end) return FilterStatus::Buffer;
    finish();
    return FilterStatus::Continue;
  }
  FilterStatus onTrailers() {
    if (collects_) finish();
    return FilterStatus::Continue;
  }

 private:
  using Target = Boxed<plan::JsonMetadataTarget>;

  void count(JsonMetadataCounter counter) {
    config_.stats(is_request_).shard(scope_.worker + 1)->add(counter);
  }

  void finish() {
    collects_ = false;
    const std::string body = std::exchange(body_, {});
    if (body.empty()) {
      applyAll(&plan::JsonMetadataRule::missing);
      count(JsonMetadataCounter::NoBody);
      return;
    }
    Arena arena(body.size() + 1024);
    const JsonNode* const root = parseJson(body, arena, JsonRepeats::LastWins);
    if (!root) {
      count(JsonMetadataCounter::InvalidJsonBody);
      applyAll(&plan::JsonMetadataRule::error);
      return;
    }
    for (const plan::JsonMetadataRule& rule : side_.rules) apply(rule, *root, arena);
    publish();
    count(JsonMetadataCounter::Success);
  }

  void apply(const plan::JsonMetadataRule& rule, const JsonNode& root, Arena& arena) {
    const JsonNode* parent = &root;
    const JsonNode* found = &root;
    for (const std::string& key : rule.path) {
      parent = found;
      found = parent ? parent->find(key) : nullptr;
    }
    if (parent && (parent->isObject() || parent->isArray())) {
      // As in the real server, who wants nothing that is there does not look for the last key.
      if (!rule.present) return;
      // It only has to be reached.
      if (!rule.present->value.empty()) return addGiven(*rule.present, arena);
    }
    if (found && !rule.present) return;
    const JsonNode* const value = found ? converted(*found, rule.present->type, arena) : nullptr;
    if (value) {
      if (!value->isString() || !value->text.empty() ||
          rule.present->type == JsonType::ProtobufValue) {
        add(*rule.present, *value);
      }
    } else if (rule.missing) {
      addGiven(*rule.missing, arena);
    }
  }

  // Null: it cannot be made one.
  static const JsonNode* converted(const JsonNode& found, JsonType type, Arena& arena) {
    if (found.isObject() || found.isArray() || found.kind == JsonNode::Kind::Null) return nullptr;
    if (found.isString() && found.text.size() > kMaxJsonValue) return nullptr;
    const bool is_true = found.kind == JsonNode::Kind::True;
    switch (type) {
      case JsonType::ProtobufValue:
        return &found;
      case JsonType::Number: {
        if (found.isNumber()) return &found;
        if (found.isString()) return numberNode(found.text, arena);
        JsonNode* const number = makeJsonNode(arena, JsonNode::Kind::Number);
        number->number = is_true ? 1 : 0;
        return number;
      }
      case JsonType::String:
        break;
    }
    if (found.isString()) return &found;
    JsonNode* const text = makeJsonNode(arena, JsonNode::Kind::String);
    if (found.isNumber()) {
      text->text = isWhole(found.text) ? found.text : arena.copy(std::to_string(found.number));
    } else {
      text->text = is_true ? "1" : "0";
    }
    return text;
  }

  void applyAll(Target plan::JsonMetadataRule::* target) {
    Arena arena(1024);
    for (const plan::JsonMetadataRule& rule : side_.rules) {
      if (rule.*target) addGiven(*(rule.*target), arena);
    }
    publish();
  }

  void addGiven(const plan::JsonMetadataTarget& target, Arena& arena) {
    const JsonNode* const value = parseJson(target.value, arena, JsonRepeats::LastWins);
    if (value) add(target, *value);
  }

  void add(const plan::JsonMetadataTarget& target, const JsonNode& value) {
    const std::string_view space = target.space.empty() ? kJsonSpace : target.space;
    if (target.preserves) {
      const format::FilterMetadata* before = RequestMetadata::latest(scope_.notes, space);
      if (before && before->find(target.key)) return;
    }
    // What it stands in goes before it is published.
    std::string text;
    appendJson(&text, value);
    JsonNode* const member = makeJsonNode(memory_.arena(), JsonNode::Kind::Null);
    if (const JsonNode* kept =
            parseJson(memory_.keep(text), memory_.arena(), JsonRepeats::LastWins)) {
      *member = *kept;
    }
    member->key = target.key;
    JsonNode*& object = spaces_[space];
    if (!object) object = makeJsonNode(memory_.arena(), JsonNode::Kind::Object);
    const JsonNode** link = &object->first;
    while (*link) link = &const_cast<JsonNode*>(*link)->next;
    *link = member;
  }

  void publish() {
    for (const auto& [space, object] : spaces_) metadata_.set(scope_.notes, space, *object);
    spaces_.clear();
  }

  const JsonToMetadataConfig& config_;
  const JsonRules::Side& side_;
  const bool is_request_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  bool collects_ = false;
  std::string body_;
  std::map<std::string_view, JsonNode*> spaces_;
  RequestMetadata metadata_;
};

// Of one request and its answer.
class JsonToMetadata final : public HttpFilter {
 public:
  JsonToMetadata(const JsonToMetadataConfig& config, const JsonRules& rules, FilterMemory& memory,
                 const FilterScope& scope)
      : request_(config, rules.request, true, memory, scope),
        response_(config, rules.response, false, memory, scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    return request_.onHead(head.headers, end);
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    return request_.onData(data, end);
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return request_.onTrailers(); }
  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool end, Arena&) override {
    return response_.onHead(headers, end);
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    return response_.onData(data, end);
  }
  FilterStatus onResponseTrailers(http::HeaderMap&) override { return response_.onTrailers(); }

 private:
  JsonBody request_;
  JsonBody response_;
};

}  // namespace

Result<JsonRules::Side> JsonRules::Side::build(const Boxed<plan::JsonMetadataRules>& plan) {
  Side side;
  if (!plan) return side;
  side.rules = plan->rules;
  side.content_types = plan->content_types;
  side.allows_no_content_type = plan->allows_no_content_type;
  if (plan->content_type_regex) {
    Result<Regex> regex = Regex::load(plan->content_type_regex->program);
    if (!regex) return regex.error();
    side.content_type_regex = std::move(regex.value());
  }
  return side;
}

bool JsonRules::Side::admits(std::string_view content_type) const {
  if (content_type.empty()) return allows_no_content_type;
  if (std::ranges::find(content_types, content_type) != content_types.end()) return true;
  return content_type_regex && content_type_regex->fullMatch(content_type);
}

Result<std::unique_ptr<const JsonRules>> JsonRules::build(const plan::JsonToMetadata& plan) {
  auto rules = std::make_unique<JsonRules>();
  Result<Side> request = Side::build(plan.request);
  if (!request) return request.error();
  rules->request = std::move(request.value());
  Result<Side> response = Side::build(plan.response);
  if (!response) return response.error();
  rules->response = std::move(response.value());
  return std::unique_ptr<const JsonRules>(std::move(rules));
}

BuiltFilter JsonToMetadataConfig::build(const plan::JsonToMetadata& plan,
                                        const ConfigScope& scope) {
  auto config = std::make_shared<JsonToMetadataConfig>();
  auto rules = JsonRules::build(plan);
  if (!rules) return rules.error();
  config->rules_ = std::move(rules.value());
  config->request_stats_ =
      scope.registry.create<stats::HttpJsonToMetadata>(stats::plainScope("json_to_metadata.rq."));
  config->response_stats_ =
      scope.registry.create<stats::HttpJsonToMetadata>(stats::plainScope("json_to_metadata.resp."));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* JsonToMetadataConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  const JsonRules* rules = rules_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && JsonRules::of(own.front())) rules = JsonRules::of(own.front());
  if (rules->request.isEmpty() && rules->response.isEmpty()) return nullptr;
  if (!rules->response.isEmpty()) scope.notes.sees_response_body = true;
  return memory.make<JsonToMetadata>(*this, *rules, memory, scope);
}

}  // namespace fairlead::filters
