#include "filters/http/tap_match.h"

#include <algorithm>

namespace fairlead::filters {

namespace {

// Bits of State::found.
constexpr size_t kMaxPatterns = 64;

}  // namespace

Result<TapMatch> TapMatch::build(const plan::TapMatch& plan) {
  TapMatch match;
  Result<size_t> root = match.add(plan);
  if (!root) return root.error();
  return match;
}

Result<size_t> TapMatch::add(const plan::TapMatch& plan) {
  const size_t index = nodes_.size();
  nodes_.emplace_back();
  Node node;
  node.kind = plan.kind;
  node.body_limit_bytes = plan.body_limit_bytes;
  if (plan.patterns.size() > kMaxPatterns)
    return Error{"a body is searched for 64 patterns at most"};
  if (plan.kind == Kind::Not && plan.rules.size() != 1) return Error{"a negation has one rule"};
  for (const auto& pattern : plan.patterns) {
    node.patterns.emplace_back(pattern);
    node.longest_pattern = std::max(node.longest_pattern, pattern.size());
  }
  for (const plan::HeaderMatch& header : plan.headers) {
    Result<route::HeaderMatch> built = route::HeaderMatch::build(header);
    if (!built) return built.error();
    node.headers.push_back(std::move(built.value()));
  }
  for (const plan::TapMatch& rule : plan.rules) {
    Result<size_t> child = add(rule);
    if (!child) return child.error();
    node.children.push_back(child.value());
  }
  nodes_[index] = std::move(node);
  return index;
}

TapMatch::Progress::Progress(const TapMatch& match) : match_(match), states_(match.nodes_.size()) {
  conclude();
}

// Sets what every node of a kind says, once and for all.
template <typename Holds>
void TapMatch::Progress::decide(Kind kind, Holds holds) {
  for (size_t i = 0; i < states_.size(); ++i) {
    const Node& node = match_.nodes_[i];
    if (node.kind != kind) continue;
    states_[i].matches = std::ranges::all_of(node.headers, holds);
    states_[i].may_change = false;
  }
  conclude();
}

void TapMatch::Progress::onRequestHead(const route::RequestView& request) {
  decide(Kind::RequestHeaders,
         [&](const route::HeaderMatch& header) { return header.matches(request); });
}

void TapMatch::Progress::onHeaders(Kind kind, const http::HeaderMap& headers,
                                   std::string_view status) {
  decide(kind,
         [&](const route::HeaderMatch& header) { return header.matchesAnswer(headers, status); });
}

void TapMatch::Progress::onBody(Kind kind, std::string_view data) {
  bool searched = false;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (match_.nodes_[i].kind != kind || !states_[i].may_change) continue;
    search(i, data);
    searched = true;
  }
  if (searched) conclude();
}

void TapMatch::Progress::search(size_t index, std::string_view data) {
  const Node& node = match_.nodes_[index];
  State& state = states_[index];
  if (node.body_limit_bytes > 0) {
    data = data.substr(0, node.body_limit_bytes - state.searched_bytes);
  }
  state.searched_bytes += data.size();
  // A pattern may begin in an earlier part.
  state.tail.append(data);
  for (size_t i = 0; i < node.patterns.size(); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (!(state.found & bit) && state.tail.find(node.patterns[i]) != std::string::npos) {
      state.found |= bit;
    }
  }
  const size_t kept = node.longest_pattern > 0 ? node.longest_pattern - 1 : 0;
  if (state.tail.size() > kept) state.tail.erase(0, state.tail.size() - kept);
  const size_t count = node.patterns.size();
  const uint64_t all = count == kMaxPatterns ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  state.matches = state.found == all;
  const bool at_limit = node.body_limit_bytes > 0 && state.searched_bytes >= node.body_limit_bytes;
  state.may_change = !state.matches && !at_limit;
}

// From the leaves up.
void TapMatch::Progress::conclude() {
  for (size_t i = states_.size(); i-- > 0;) {
    const Node& node = match_.nodes_[i];
    const auto matches = [this](size_t child) { return states_[child].matches; };
    const auto may_change = [this](size_t child) { return states_[child].may_change; };
    State& state = states_[i];
    switch (node.kind) {
      case Kind::Any:
        state.matches = true;
        break;
      case Kind::And:
        state.matches = std::ranges::all_of(node.children, matches);
        break;
      case Kind::Or:
        state.matches = std::ranges::any_of(node.children, matches);
        break;
      case Kind::Not:
        state.matches = !matches(node.children[0]);
        break;
      default:
        continue;
    }
    state.may_change = std::ranges::any_of(node.children, may_change);
  }
}

}  // namespace fairlead::filters
