#include "match/match_tree.h"

#include <algorithm>
#include <utility>

#include "base/xxhash.h"
#include "match/ip_range.h"

namespace fairlead::match {

namespace {

using NodeKind = plan::MatchNode::Kind;
using PredicateKind = plan::MatchPredicate::Kind;

}  // namespace

bool isWithin(std::string_view ip, const plan::CidrRange& range) {
  if (ip.size() != range.ip.size() || !isRange(range)) return false;
  const size_t bits = range.prefix_length;
  return RangeKey(ip, bits).text() == RangeKey(range.ip, bits).text();
}

// ---- predicates ----

Result<MatchTree::Predicate> MatchTree::Predicate::build(const plan::MatchPredicate& plan,
                                                         RuntimeSlots* slots) {
  Predicate predicate;
  predicate.kind_ = plan.kind;
  predicate.input_ = plan.input.value_or(plan::MatchInput());
  predicate.ranges_ = plan.ranges;
  predicate.seed_ = plan.seed;
  predicate.threshold_ = plan.threshold;
  predicate.modulo_ = plan.modulo;
  predicate.share_millionths_ = RuntimeNumber(plan.share_millionths, plan.share_slot, slots);
  if (plan.kind == PredicateKind::Metadata) {
    auto metadata = MetadataCondition::build(plan.metadata.value_or(plan::MetadataCondition()));
    if (!metadata) return metadata.error();
    predicate.metadata_ = std::move(metadata.value());
  }
  if (plan.kind == PredicateKind::Text) {
    auto text = StringMatcher::build(plan.text.value_or(plan::StringMatch()));
    if (!text) return text.error();
    predicate.text_ = std::move(text.value());
  }
  if (plan.kind == PredicateKind::Not && plan.parts.size() != 1) {
    return Error{"the opposite of a predicate is of one"};
  }
  for (const plan::MatchPredicate& part : plan.parts) {
    auto built = build(part, slots);
    if (!built) return built.error();
    predicate.parts_.push_back(std::move(built.value()));
  }
  return predicate;
}

bool MatchTree::Predicate::holds(const Facts& facts) const {
  const auto part_holds = [&](const Predicate& part) { return part.holds(facts); };
  switch (kind_) {
    case PredicateKind::Text: {
      std::string room;
      const auto text = facts.text(input_, &room);
      return text && text_->matches(*text);
    }
    case PredicateKind::Ip: {
      const std::string_view ip = facts.address(input_);
      return std::any_of(ranges_.begin(), ranges_.end(),
                         [ip](const plan::CidrRange& range) { return isWithin(ip, range); });
    }
    case PredicateKind::And:
      return std::all_of(parts_.begin(), parts_.end(), part_holds);
    case PredicateKind::Or:
      return std::any_of(parts_.begin(), parts_.end(), part_holds);
    case PredicateKind::Not:
      return !parts_.front().holds(facts);
    case PredicateKind::Metadata:
      return metadata_->holds(facts.metadata(*metadata_));
    case PredicateKind::RuntimeFraction:
    case PredicateKind::ConsistentHash:
      return holdsOfHash(facts);
  }
  return false;
}

bool MatchTree::Predicate::holdsOfHash(const Facts& facts) const {
  std::string room;
  const auto text = facts.text(input_, &room);
  if (!text || modulo_ == 0) return false;
  const uint64_t rest = xxHash64(*text, seed_) % modulo_;
  if (kind_ == PredicateKind::ConsistentHash) return rest >= threshold_;
  constexpr uint64_t kMillion = 1'000'000;
  return rest * kMillion < share_millionths_.value() * modulo_;
}

// ---- making a tree ----

Result<MatchTree> MatchTree::build(const plan::MatchTree& plan, RuntimeSlots* slots) {
  MatchTree tree;
  tree.nodes_.resize(plan.nodes.size());
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    if (auto added = tree.addNode(plan.nodes[i], i, plan.nodes.size(), slots); !added) {
      return added.error();
    }
  }
  return tree;
}

Result<void> MatchTree::addNode(const plan::MatchNode& plan, size_t index, size_t count,
                                RuntimeSlots* slots) {
  Node& node = nodes_[index];
  node.kind = plan.kind;
  node.input = plan.input.value_or(plan::MatchInput());
  for (const plan::MatchEdge& from : plan.edges) {
    Edge edge;
    auto outcome = outcomeOf(from.outcome.value_or(plan::MatchOutcome()), index, count);
    if (!outcome) return outcome.error();
    edge.outcome = outcome.value();
    edge.is_exclusive = from.exclusive;
    const auto number = static_cast<uint32_t>(node.edges.size());
    if (plan.kind == NodeKind::List) {
      if (!from.predicate) return Error{"an edge of a list has a predicate"};
      auto predicate = Predicate::build(*from.predicate, slots);
      if (!predicate) return predicate.error();
      edge.predicate = std::move(predicate.value());
    } else if (plan.kind == NodeKind::Ip) {
      if (!from.range || !isRange(*from.range)) return Error{"an edge of addresses has a range"};
      const plan::CidrRange& range = *from.range;
      addLength(node.lengths[familyOf(range.ip)], range.prefix_length);
      node.by_value[std::string(RangeKey(range.ip, range.prefix_length).text())].push_back(number);
    } else {
      addLength(node.lengths[0], from.text.size());
      node.by_value[from.text].push_back(number);
    }
    node.edges.push_back(std::move(edge));
  }
  if (!plan.otherwise) return {};
  auto otherwise = outcomeOf(*plan.otherwise, index, count);
  if (!otherwise) return otherwise.error();
  node.otherwise = otherwise.value();
  return {};
}

Result<MatchTree::Outcome> MatchTree::outcomeOf(const plan::MatchOutcome& plan, size_t index,
                                                size_t count) {
  if (plan.node == 0) return Outcome{kNone, static_cast<int>(plan.action)};
  if (plan.node <= index || plan.node >= count) return Error{"a tree goes on with a later node"};
  return Outcome{static_cast<int>(plan.node), kNone};
}

// ---- asking it ----

int MatchTree::follow(const Outcome& outcome, const Facts& facts) const {
  return outcome.node == kNone ? outcome.action : findIn(static_cast<size_t>(outcome.node), facts);
}

int MatchTree::findIn(size_t index, const Facts& facts) const {
  const Node& node = nodes_[index];
  int found = kNone;
  if (node.kind == NodeKind::List) {
    for (size_t i = 0; i < node.edges.size() && found == kNone; ++i) {
      if (node.edges[i].predicate->holds(facts)) found = follow(node.edges[i].outcome, facts);
    }
  } else {
    found = findByValue(node, facts);
  }
  return found != kNone ? found : follow(node.otherwise, facts);
}

int MatchTree::findByValue(const Node& node, const Facts& facts) const {
  if (node.kind == NodeKind::Ip) {
    const std::string_view ip = facts.address(node.input);
    return ip.empty() ? kNone : findByRange(node, ip, facts);
  }
  std::string room;
  const auto text = facts.text(node.input, &room);
  if (!text) return kNone;
  if (node.kind == NodeKind::Prefix) return findByPrefix(node, *text, facts);
  if (node.kind == NodeKind::Domain) return findByDomain(node, *text, facts);
  return followAll(node, *text, true, facts);
}

int MatchTree::findByPrefix(const Node& node, std::string_view text, const Facts& facts) const {
  for (const size_t length : node.lengths[0]) {
    if (length > text.size()) continue;
    const int found = followAll(node, text.substr(0, length), true, facts);
    if (found != kNone) return found;
  }
  return kNone;
}

// The name itself, the ends of it with a star before them, the star.
int MatchTree::findByDomain(const Node& node, std::string_view name, const Facts& facts) const {
  if (const int found = followAll(node, name, true, facts); found != kNone) return found;
  std::string wildcard;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    wildcard.assign(1, '*').append(name.substr(dot));
    if (const int found = followAll(node, wildcard, true, facts); found != kNone) return found;
  }
  return followAll(node, "*", true, facts);
}

int MatchTree::findByRange(const Node& node, std::string_view ip, const Facts& facts) const {
  bool is_first = true;
  for (const size_t bits : node.lengths[familyOf(ip)]) {
    const RangeKey value(ip, bits);
    const int found = followAll(node, value.text(), is_first, facts);
    if (found != kNone) return found;
    if (node.by_value.contains(value.text())) is_first = false;
  }
  return kNone;
}

// The first of a value's edges that leads to an action. `is_first`: no longer value has led astray.
int MatchTree::followAll(const Node& node, std::string_view value, bool is_first,
                         const Facts& facts) const {
  const auto edges = node.by_value.find(value);
  if (edges == node.by_value.end()) return kNone;
  for (const uint32_t number : edges->second) {
    const Edge& edge = node.edges[number];
    if (edge.is_exclusive && !std::exchange(is_first, false)) continue;
    is_first = false;
    if (const int found = follow(edge.outcome, facts); found != kNone) return found;
  }
  return kNone;
}

}  // namespace fairlead::match
