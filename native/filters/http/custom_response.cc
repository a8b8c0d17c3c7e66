#include "filters/http/custom_response.h"

#include <algorithm>
#include <utility>

#include "http/joined_headers.h"

namespace fairlead::filters {

namespace {

using Input = plan::MatchInput::Kind;

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

using PolicyRef = std::shared_ptr<const CustomResponses::Policy>;

// What a request remembers that stands in another one's place.
struct Replaced {
  PolicyRef policy;
  // Of the answer whose place it takes.
  uint16_t status;
};

// Of one request.
class CustomResponse final : public HttpFilter, private net::Deferred {
 public:
  CustomResponse(const CustomResponseConfig& config, FilterMemory& memory, const FilterScope& scope,
                 FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}

  // Routes speak first, the most specific one of them; the filter where none has an answer.
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool,
                              Arena& arena) override {
    if (std::exchange(is_replaced_, true)) return FilterStatus::Continue;
    if (const auto memo = std::static_pointer_cast<const Replaced>(place_.memo())) {
      return finish(*memo, headers, arena);
    }
    policy_ = find(status, headers);
    if (!policy_) {
      is_replaced_ = false;
      return FilterStatus::Continue;
    }
    if (policy_->elsewhere) {
      waits_ = isAskedElsewhere(status, headers);
      return waits_ ? FilterStatus::Pause : FilterStatus::Continue;
    }
    prepare(*policy_, status, headers);
    return FilterStatus::Answer;
  }
  FilterStatus onResponseData(std::string_view, bool) override {
    return waits_ ? FilterStatus::Pause : FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap&) override {
    return waits_ ? FilterStatus::Pause : FilterStatus::Continue;
  }
  void onResponseHeadReleased(uint16_t& status, http::HeaderMap&, Arena&) override {
    if (status_ > 0) status = status_;
  }
  LocalReply answer() const override { return answer_; }

 private:
  void onDeferred() override {
    waits_ = false;
    place_.continueResponse();
  }

  bool isAskedElsewhere(uint16_t status, const http::HeaderMap& headers) {
    using Counter = stats::HttpCustomResponse::Counter;
    using Outcome = OtherRequest::Outcome;
    const OtherRequest other{policy_->elsewhere->to, policy_->elsewhere->request_add, status,
                             headers, std::make_shared<const Replaced>(Replaced{policy_, status})};
    switch (place_.requestInstead(other)) {
      case Outcome::Begun:
        return true;
      case Outcome::NoRoute:
        count(Counter::CustomResponseRedirectNoRoute);
        return false;
      case Outcome::BadAddress:
        count(Counter::CustomResponseInvalidUri);
        return false;
      case Outcome::Impossible:
        break;
    }
    return false;
  }

  void count(stats::HttpCustomResponse::Counter counter) const {
    policy_->elsewhere->stats->shard(scope_.worker + 1)->add(counter);
  }

  PolicyRef find(uint16_t status, const http::HeaderMap& headers) const {
    const ResponseFacts facts(status, headers, place_);
    for (const route::FilterConfig* own : place_.routeConfigs()) {
      const CustomResponses* const responses = CustomResponses::of(own);
      PolicyRef policy = responses ? responses->find(facts) : nullptr;
      if (policy) return policy;
    }
    return config_.find(facts);
  }

  // The answer of the request that stands in the place of another one. Its status is changed as it
  // goes on.
  FilterStatus finish(const Replaced& replaced, http::HeaderMap& headers, Arena& arena) {
    format::FormatContext context;
    place_.describe(&context);
    context.response_headers = &headers;
    replaced.policy->headers.apply(headers, context, arena);
    status_ = replaced.policy->status.value_or(replaced.status);
    // The request's head may still be read where an answer that is held would be put.
    waits_ = true;
    place_.loop().defer(this);
    return FilterStatus::Pause;
  }

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
    context.is_head_new = true;
    policy.headers.apply(own, context, memory_.arena());
    answer_.headers = &own;
  }

  const CustomResponseConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  LocalReply answer_{500, {}, {}};
  PolicyRef policy_;
  // The answer's from here on; 0: as it is.
  uint16_t status_ = 0;
  // The answer goes on in the next turn, or another request takes the place of this one.
  bool waits_ = false;
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
    const plan::CustomResponse& plan, stats::Registry& registry, const stats::Scope& stats) {
  auto responses = std::make_unique<CustomResponses>();
  if (plan.tree) {
    auto tree = match::MatchTree::build(*plan.tree);
    if (!tree) return tree.error();
    responses->tree_ = std::move(tree.value());
    responses->reads_request_ = asksRequest(*plan.tree);
  }
  for (const plan::ResponsePolicy& policy : plan.policies) {
    auto kept = std::make_shared<Policy>();
    Policy& made = *kept;
    responses->policies_.push_back(kept);
    if (policy.status) made.status = static_cast<uint16_t>(*policy.status);
    made.headers = route::MutationList({}, policy.response_add, http::isJoinedInResponses);
    made.body = policy.body;
    made.details = policy.details;
    made.keeps_details = policy.keeps_details;
    responses->reads_request_ |= !policy.response_add.empty();
    if (policy.redirect) {
      plan::Redirect to;
      to.https = policy.redirect->https;
      to.scheme = policy.redirect->scheme;
      to.host = policy.redirect->host;
      to.port = policy.redirect->port;
      to.path = policy.redirect->path;
      to.strip_query = policy.redirect->strip_query;
      auto redirect = route::Redirect::build(to);
      if (!redirect) return redirect.error();
      made.elsewhere.emplace(Policy::Elsewhere{
          std::move(redirect.value()),
          route::MutationList({}, policy.redirect->request_add, http::isJoinedInRequests),
          registry.create<stats::HttpCustomResponse>(stats)});
      responses->reads_request_ = true;
    }
    if (!policy.body_format) continue;
    made.body_format.emplace(*policy.body_format);
    responses->reads_request_ |= made.body_format->readsRequestHead();
  }
  return std::unique_ptr<const CustomResponses>(std::move(responses));
}

std::shared_ptr<const CustomResponses::Policy> CustomResponses::find(
    const match::Facts& facts) const {
  const int action = tree_.find(facts);
  if (action == match::MatchTree::kNone) return nullptr;
  const auto index = static_cast<size_t>(action);
  return index < policies_.size() ? policies_[index] : nullptr;
}

BuiltFilter CustomResponseConfig::build(const plan::CustomResponse& plan,
                                        const ConfigScope& scope) {
  auto config = std::make_shared<CustomResponseConfig>();
  auto responses = CustomResponses::build(plan, scope.registry, scope.stats);
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
