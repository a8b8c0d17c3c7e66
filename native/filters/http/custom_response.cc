#include "filters/http/custom_response.h"

#include <algorithm>
#include <utility>

#include "http/joined_headers.h"

namespace fairlead::filters {

namespace {

using Input = plan::MatchInput::Kind;

// What logs read as nothing, and not as "-".
constexpr std::string_view kEmptyDetails("\0", 1);

// What a tree asks of an answer and its request.
class ResponseFacts final : public match::Facts {
 public:
  ResponseFacts(uint16_t status, const http::HeaderMap& headers, const FilterPlace& place)
      : status_(status), headers_(headers), place_(place) {}

  std::optional<std::string_view> text(const plan::MatchInput& input,
                                       std::string* room) const override {
    switch (input.kind) {
      case Input::StatusCode:
        *room = std::to_string(status_);
        return *room;
      case Input::StatusClass:
        if (status_ < 100 || status_ > 599) return std::nullopt;
        *room = std::to_string(status_ / 100) + "xx";
        return *room;
      case Input::LocalReply: {
        format::FormatContext context;
        place_.describe(&context);
        return context.details == "via_upstream" ? "false" : "true";
      }
      case Input::ResponseHeader:
        if (input.name == ":status") {
          *room = std::to_string(status_);
          return *room;
        }
        return joined(&headers_, input.name, room);
      case Input::RequestHeader: {
        format::FormatContext context;
        place_.describe(&context);
        if (!input.name.starts_with(':')) return joined(context.request_headers, input.name, room);
        *room = context.requestHeader(input.name);
        return room->empty() ? std::nullopt : std::optional<std::string_view>(*room);
      }
      default:
        return std::nullopt;
    }
  }

 private:
  // All of a name, as one.
  static std::optional<std::string_view> joined(const http::HeaderMap* headers,
                                                const std::string& name, std::string* room) {
    if (!headers) return std::nullopt;
    bool is_there = false;
    room->clear();
    for (const http::HeaderEntry& entry : *headers) {
      if (entry.name() != name) continue;
      if (std::exchange(is_there, true)) room->push_back(',');
      room->append(entry.value());
    }
    return is_there ? std::optional<std::string_view>(*room) : std::nullopt;
  }

  const uint16_t status_;
  const http::HeaderMap& headers_;
  const FilterPlace& place_;
};

// Of one request.
class CustomResponse final : public HttpFilter {
 public:
  CustomResponse(const CustomResponseConfig& config, FilterMemory& memory, const FilterScope& scope,
                 FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}

  // Routes speak first, the most specific one of them; the filter where none has an answer.
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool, Arena&) override {
    if (std::exchange(is_replaced_, true)) return FilterStatus::Continue;
    const ResponseFacts facts(status, headers, place_);
    const CustomResponses::Policy* policy = nullptr;
    for (const route::FilterConfig* own : place_.routeConfigs()) {
      const CustomResponses* const responses = CustomResponses::of(own);
      if (responses && !policy) policy = responses->find(facts);
    }
    if (!policy) policy = config_.find(facts);
    if (!policy) {
      is_replaced_ = false;
      return FilterStatus::Continue;
    }
    prepare(*policy, status, headers);
    return FilterStatus::Answer;
  }
  LocalReply answer() const override { return answer_; }

 private:
  void prepare(const CustomResponses::Policy& policy, uint16_t status,
               const http::HeaderMap& headers) {
    format::FormatContext context;
    place_.describe(&context);
    context.response_headers = &headers;
    context.status = status;
    answer_.status = policy.status.value_or(status);
    answer_.details = policy.keeps_details ? memory_.keep(context.details) : policy.details;
    if (answer_.details.empty()) answer_.details = kEmptyDetails;
    answer_.body = policy.body;
    if (policy.body_format) {
      std::string text;
      policy.body_format->appendLine(context, &text);
      answer_.body = memory_.keep(text);
    }
    http::HeaderMap& own = config_.headers(scope_.worker);
    own.clear();
    // They are made of the answer that they are for.
    context.response_headers = &own;
    policy.headers.apply(own, context, memory_.arena());
    answer_.headers = &own;
  }

  const CustomResponseConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  LocalReply answer_{500, {}, {}};
  // An answer of this filter's own is nobody's to replace.
  bool is_replaced_ = false;
};

bool asksRequest(const plan::MatchPredicate& predicate) {
  return predicate.input && predicate.input->kind == Input::RequestHeader
             ? true
             : std::ranges::any_of(predicate.parts, asksRequest);
}

bool asksRequest(const plan::MatchTree& tree) {
  return std::ranges::any_of(tree.nodes, [](const plan::MatchNode& node) {
    if (node.input && node.input->kind == Input::RequestHeader) return true;
    return std::ranges::any_of(node.edges, [](const plan::MatchEdge& edge) {
      return edge.predicate && asksRequest(*edge.predicate);
    });
  });
}

}  // namespace

Result<std::unique_ptr<const CustomResponses>> CustomResponses::build(
    const plan::CustomResponse& plan) {
  auto responses = std::make_unique<CustomResponses>();
  if (plan.tree) {
    auto tree = match::MatchTree::build(*plan.tree);
    if (!tree) return tree.error();
    responses->tree_ = std::move(tree.value());
    responses->reads_request_ = asksRequest(*plan.tree);
  }
  for (const plan::ResponsePolicy& policy : plan.policies) {
    Policy& made = responses->policies_.emplace_back();
    if (policy.status) made.status = static_cast<uint16_t>(*policy.status);
    made.headers = route::MutationList({}, policy.response_add, http::isJoinedInResponses);
    made.body = policy.body;
    made.details = policy.details;
    made.keeps_details = policy.keeps_details;
    responses->reads_request_ |= !policy.response_add.empty();
    if (!policy.body_format) continue;
    made.body_format.emplace(*policy.body_format);
    responses->reads_request_ |= made.body_format->readsRequestHead();
  }
  return std::unique_ptr<const CustomResponses>(std::move(responses));
}

const CustomResponses::Policy* CustomResponses::find(const match::Facts& facts) const {
  const int action = tree_.find(facts);
  if (action == match::MatchTree::kNone) return nullptr;
  const auto index = static_cast<size_t>(action);
  return index < policies_.size() ? &policies_[index] : nullptr;
}

BuiltFilter CustomResponseConfig::build(const plan::CustomResponse& plan,
                                        const ConfigScope& scope) {
  auto config = std::make_shared<CustomResponseConfig>();
  auto responses = CustomResponses::build(plan);
  if (!responses) return responses.error();
  config->responses_ = std::move(responses.value());
  for (unsigned i = 0; i < scope.workers; ++i) {
    config->headers_.push_back(std::make_unique<http::HeaderMap>());
  }
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* CustomResponseConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  bool reads_request = responses_->readsRequest();
  for (const route::FilterConfig* own : place.routeConfigs()) {
    const CustomResponses* const responses = CustomResponses::of(own);
    if (responses && responses->readsRequest()) reads_request = true;
  }
  if (reads_request) scope.notes.keeps_request_head = true;
  return memory.make<CustomResponse>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
