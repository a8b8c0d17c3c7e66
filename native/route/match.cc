#include "route/match.h"

#include "base/text.h"
#include "format/grpc_status.h"
#include "route/cookies.h"
#include "route/tree_facts.h"

namespace fairlead::route {

namespace {

constexpr uint32_t kMillion = 1'000'000;

bool isGrpc(const RequestView& request) {
  const http::HeaderEntry* entry = request.headers->find(http::HeaderId::ContentType);
  return entry && format::isGrpcContentType(entry->value());
}

}  // namespace

Result<Match> Match::build(const plan::RouteMatch& plan, RuntimeSlots* slots) {
  Match match;
  match.kind_ = plan.path_kind;
  match.path_ = plan.path;
  match.ignore_case_ = plan.ignore_case;
  match.grpc_ = plan.grpc;
  if (plan.runtime_fraction_millionths) {
    match.share_millionths_ =
        RuntimeNumber(*plan.runtime_fraction_millionths, plan.runtime_fraction_slot, slots);
  }
  if (plan.path_kind == PathKind::Regex) {
    Result<Regex> regex = Regex::load(plan.regex ? plan.regex->program : std::string());
    if (!regex) return regex.error();
    match.regex_ = std::move(regex.value());
  }
  for (const plan::HeaderMatch& header : plan.headers) {
    Result<HeaderMatch> built = HeaderMatch::build(header);
    if (!built) return built.error();
    match.headers_.push_back(std::move(built.value()));
  }
  for (const plan::QueryMatch& query : plan.query_parameters) {
    Query entry{query.name, std::nullopt, query.is_absent};
    if (query.string_match) {
      Result<match::StringMatcher> matcher = match::StringMatcher::build(*query.string_match);
      if (!matcher) return matcher.error();
      entry.matcher = std::move(matcher.value());
    }
    match.queries_.push_back(std::move(entry));
  }
  match.certificate_presented_ = plan.certificate_presented;
  match.certificate_validated_ = plan.certificate_validated;
  match.path_only_ = match.headers_.empty() && match.queries_.empty() && !match.grpc_ &&
                     !match.share_millionths_ && !plan.certificate_presented &&
                     !plan.certificate_validated;
  if (plan.cookies.empty() && plan.metadata.empty() && plan.filter_states.empty()) return match;
  match.path_only_ = false;
  auto rare = buildRare(plan);
  if (!rare) return rare.error();
  match.rare_ = std::move(rare.value());
  return match;
}

Result<std::unique_ptr<const Match::Rare>> Match::buildRare(const plan::RouteMatch& plan) {
  auto rare = std::make_unique<Rare>();
  for (const plan::CookieMatch& cookie : plan.cookies) {
    auto matcher = match::StringMatcher::build(cookie.string_match.value_or(plan::StringMatch()));
    if (!matcher) return matcher.error();
    rare->cookies.push_back({cookie.name, std::move(matcher.value()), cookie.invert});
  }
  for (const plan::MetadataCondition& condition : plan.metadata) {
    auto built = match::MetadataCondition::build(condition);
    if (!built) return built.error();
    rare->metadata.push_back(std::move(built.value()));
  }
  for (const plan::FilterStateMatch& state : plan.filter_states) {
    State& made = rare->states.emplace_back();
    made.key = state.key;
    if (!state.text) continue;
    auto matcher = match::StringMatcher::build(*state.text);
    if (!matcher) return matcher.error();
    made.matcher = std::move(matcher.value());
  }
  return std::unique_ptr<const Rare>(std::move(rare));
}

bool Match::matchesCertificate(const net::TlsInfo* tls) const {
  const bool presented = tls && tls->isPeerPresented();
  const bool validated = tls && tls->isPeerValidated();
  return certificate_presented_.value_or(presented) == presented &&
         certificate_validated_.value_or(validated) == validated;
}

bool Match::matchesPath(const RequestView& request, std::string_view path) const {
  // Only a route that asks for CONNECT takes a request without a path.
  if (kind_ == PathKind::Connect) return request.method == "CONNECT";
  if (request.path.empty()) return false;
  const auto begins = [&] {
    if (path.size() < path_.size()) return false;
    const std::string_view start = path.substr(0, path_.size());
    return ignore_case_ ? equalsIgnoreCase(start, path_) : start == path_;
  };
  switch (kind_) {
    case PathKind::Prefix:
      return begins();
    case PathKind::Exact:
      return path.size() == path_.size() && begins();
    case PathKind::SeparatedPrefix:
      return begins() && (path.size() == path_.size() || path[path_.size()] == '/');
    case PathKind::Regex:
      return regex_->fullMatch(path);
    case PathKind::Connect:
      break;
  }
  return false;
}

bool Match::matchesRest(const RequestView& request) const {
  if (share_millionths_ && request.random % kMillion >= share_millionths_->value()) return false;
  if (grpc_ && !isGrpc(request)) return false;
  if (!matchesCertificate(request.tls)) return false;
  for (const HeaderMatch& header : headers_) {
    if (!header.matches(request)) return false;
  }
  if (!queries_.empty()) {
    const std::string_view text = request.query();
    for (const Query& query : queries_) {
      if (!matchesQuery(query, text)) return false;
    }
  }
  return !rare_ || matchesRare(request);
}

bool Match::matchesRare(const RequestView& request) const {
  for (const Cookie& cookie : rare_->cookies) {
    const std::optional<std::string_view> value = findCookie(*request.headers, cookie.name);
    if ((value && cookie.matcher.matches(*value)) == cookie.inverts) return false;
  }
  if (rare_->metadata.empty() && rare_->states.empty()) return true;
  format::FormatContext context;
  request.describe(&context);
  for (const State& state : rare_->states) {
    const std::string* value =
        context.filter_state ? context.filter_state->find(state.key) : nullptr;
    if (!value && context.connection_state) value = context.connection_state->find(state.key);
    if (!value || !state.matcher || !state.matcher->matches(*value)) return false;
  }
  for (const match::MetadataCondition& condition : rare_->metadata) {
    if (!condition.holds(metadataOf(context, condition))) return false;
  }
  return true;
}

// The first parameter of the name decides; nothing is decoded.
bool Match::matchesQuery(const Query& query, std::string_view text) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == query.name) {
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      return !query.is_absent && (!query.matcher || query.matcher->matches(value));
    }
    text.remove_prefix(pair.size() == text.size() ? pair.size() : pair.size() + 1);
  }
  return query.is_absent;
}

}  // namespace fairlead::route
