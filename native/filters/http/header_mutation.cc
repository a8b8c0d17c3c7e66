#include "filters/http/header_mutation.h"

#include <algorithm>
#include <utility>

#include "http/joined_headers.h"
#include "http/query.h"
#include "http/saved_head.h"

namespace fairlead::filters {

namespace {

using QueryAction = plan::QueryChange::Action;

// Of one request.
class HeaderMutation final : public HttpFilter {
 public:
  HeaderMutation(const HeaderMutationConfig& config, FilterMemory& memory, FilterPlace& place)
      : config_(config), memory_(memory), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    forEach([&](const HeaderMutations& one) {
      if (!one.request.empty()) {
        one.request.apply(head.headers, describe(), memory_.arena());
      }
      if (one.changesQuery()) {
        head.path = one.changeQuery(head.path, describe(), memory_.arena());
      }
    });
    return FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    forEach([&](const HeaderMutations& one) {
      if (one.request_trailers.empty()) return;
      one.request_trailers.apply(trailers, describe(), memory_.arena());
    });
    return FilterStatus::Continue;
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool,
                              Arena& arena) override {
    forEach([&](const HeaderMutations& one) {
      if (one.response.empty()) return;
      format::FormatContext context = describe();
      // Of a try at a host nobody else knows it so far.
      if (context.status == 0) context.status = status;
      context.response_headers = &headers;
      one.response.apply(headers, context, arena);
    });
    bool is_kept = false;
    forEach([&](const HeaderMutations& one) { is_kept |= one.trailers_read_answer; });
    if (is_kept) answer_.save({}, {}, {}, headers);
    return FilterStatus::Continue;
  }
  // With what was set on the way to the client.
  void onResponseSent(uint16_t, const http::HeaderMap& headers) override {
    if (answer_.isSet()) answer_.save({}, {}, {}, headers);
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    forEach([&](const HeaderMutations& one) {
      if (one.response_trailers.empty()) return;
      format::FormatContext context = describe();
      context.response_trailers = &trailers;
      http::HeaderMap headers;
      if (answer_.isSet()) {
        answer_.restore(&headers);
        context.response_headers = &headers;
      }
      one.response_trailers.apply(trailers, context, memory_.arena());
    });
    return FilterStatus::Continue;
  }

 private:
  // Another one each time: each change is made of what those before it have left.
  format::FormatContext describe() const {
    format::FormatContext context;
    place_.describe(&context);
    return context;
  }

  template <typename Do>
  void forEach(Do apply) const {
    apply(config_.own());
    const route::FilterConfigList list = place_.routeConfigs();
    const auto one = [&](size_t i) {
      if (const HeaderMutations* mutations = HeaderMutations::of(list[i])) apply(*mutations);
    };
    if (config_.mostSpecificWins()) {
      for (size_t i = list.size(); i > 0; --i) one(i - 1);
    } else {
      for (size_t i = 0; i < list.size(); ++i) one(i);
    }
  }

  const HeaderMutationConfig& config_;
  FilterMemory& memory_;
  FilterPlace& place_;
  // Its head, where trailers speak of it.
  http::SavedHead answer_;
};

bool readsAny(const std::vector<plan::HeaderChange>& changes,
              bool (format::Format::*reads)() const) {
  return std::ranges::any_of(changes, [reads](const plan::HeaderChange& change) {
    return change.add && change.add->value && (format::Format(*change.add->value).*reads)();
  });
}

}  // namespace

Result<std::unique_ptr<const HeaderMutations>> HeaderMutations::build(
    const plan::HeaderMutation& plan) {
  auto mutations = std::make_unique<HeaderMutations>();
  const auto build = [](const std::vector<plan::HeaderChange>& changes,
                        bool (*is_joined)(http::HeaderId),
                        route::HeaderChanges* out) -> std::optional<Error> {
    Result<route::HeaderChanges> built = route::HeaderChanges::build(changes, is_joined);
    if (!built) return built.error();
    *out = std::move(built.value());
    return std::nullopt;
  };
  using http::isJoinedInRequests;
  using http::isJoinedInResponses;
  for (const std::optional<Error>& error :
       {build(plan.request, isJoinedInRequests, &mutations->request),
        build(plan.response, isJoinedInResponses, &mutations->response),
        build(plan.request_trailers, isJoinedInRequests, &mutations->request_trailers),
        build(plan.response_trailers, isJoinedInResponses, &mutations->response_trailers)}) {
    if (error) return *error;
  }
  for (const auto* changes : {&plan.response, &plan.request_trailers, &plan.response_trailers}) {
    mutations->reads_request_late |= readsAny(*changes, &format::Format::readsRequestHead);
  }
  mutations->trailers_read_answer =
      readsAny(plan.response_trailers, &format::Format::readsResponseHead);
  for (const plan::QueryChange& change : plan.query) {
    mutations->query_.push_back(
        {change.action, change.name, format::Format(change.value.value_or(plan::Format()))});
  }
  return std::unique_ptr<const HeaderMutations>(std::move(mutations));
}

// The real server gives parameters on in the order of their names.
std::string_view HeaderMutations::changeQuery(std::string_view path,
                                              const format::FormatContext& context,
                                              Arena& arena) const {
  if (query_.empty()) return path;
  const size_t mark = path.find('?');
  std::vector<Parameter> parameters;
  std::string_view rest =
      mark == std::string_view::npos ? std::string_view() : path.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    parameters.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
  for (const QueryChange& change : query_) {
    const std::string value = http::percentEncoded(change.value.formatTo(context, arena));
    changeParameter(change, arena.copy(value), &parameters);
  }
  std::ranges::stable_sort(parameters, {}, &Parameter::first);
  std::string made(path.substr(0, mark));
  char before = '?';
  for (const auto& [name, value] : parameters) {
    made.push_back(std::exchange(before, '&'));
    made.append(name).append("=").append(value);
  }
  return arena.copy(made);
}

void HeaderMutations::changeParameter(const QueryChange& change, std::string_view value,
                                      std::vector<Parameter>* parameters) {
  // Whoever encodes a name means the same.
  const auto is_meant = [&](const Parameter& one) {
    return http::percentDecoded(one.first) == change.name;
  };
  const bool is_there = std::ranges::any_of(*parameters, is_meant);
  switch (change.action) {
    case QueryAction::Append:
      break;
    case QueryAction::AddIfAbsent:
      if (is_there) return;
      break;
    case QueryAction::OverwriteIfExists:
      if (!is_there) return;
      [[fallthrough]];
    case QueryAction::OverwriteOrAdd:
    case QueryAction::Remove:
      std::erase_if(*parameters, is_meant);
      if (change.action == QueryAction::Remove) return;
      break;
  }
  parameters->emplace_back(change.name, value);
}

BuiltFilter HeaderMutationConfig::build(const plan::HeaderMutationFilter& plan) {
  auto config = std::make_shared<HeaderMutationConfig>();
  Result<std::unique_ptr<const HeaderMutations>> own =
      HeaderMutations::build(plan.mutations.value_or(plan::HeaderMutation()));
  if (!own) return own.error();
  config->own_ = std::move(own.value());
  config->most_specific_wins_ = plan.most_specific_wins;
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* HeaderMutationConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  bool reads_request = own_->reads_request_late;
  for (const route::FilterConfig* config : place.routeConfigs()) {
    const HeaderMutations* mutations = HeaderMutations::of(config);
    reads_request |= mutations && mutations->reads_request_late;
  }
  if (reads_request) scope.notes.keeps_request_head = true;
  return memory.make<HeaderMutation>(*this, memory, place);
}

}  // namespace fairlead::filters
