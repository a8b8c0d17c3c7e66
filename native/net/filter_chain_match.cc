#include "net/filter_chain_match.h"

#include <algorithm>
#include <cstring>

#include "match/ip_range.h"

namespace fairlead::net {

namespace {

using SourceType = plan::FilterChainMatch::SourceType;

constexpr int kNoNode = FilterChainMatch::kNone;

// A node's number, what kind of value follows where there are several, and the value.
class EdgeKey {
 public:
  // Longer than any server name; what is longer is no edge.
  static constexpr size_t kMaxValueBytes = 255;

  EdgeKey(int node, std::string_view value) : size_(sizeof(node) + value.size()) {
    std::memcpy(bytes_, &node, sizeof(node));
    if (!value.empty()) std::memcpy(bytes_ + sizeof(node), value.data(), value.size());
  }
  std::string_view text() const { return {bytes_, size_}; }

 private:
  char bytes_[sizeof(int) + kMaxValueBytes];
  size_t size_;
};

template <typename Number>
std::string_view bytesOf(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// "*.example.com" takes what ends with ".example.com".
std::string_view nameValue(std::string_view name) {
  return name.starts_with('*') ? name.substr(1) : name;
}

bool isNear(const ChainFacts& facts) {
  return facts.remote.isLoopback() || !facts.remote.isIp() || facts.remote.sameIp(facts.local);
}

// A connection as trees ask of it.
class ConnectionFacts final : public match::Facts {
 public:
  explicit ConnectionFacts(const ChainFacts& facts) : facts_(facts) {}

  std::optional<std::string_view> text(const plan::MatchInput& input,
                                       std::string* room) const override {
    using Kind = plan::MatchInput::Kind;
    switch (input.kind) {
      case Kind::DestinationIp:
        return ipOf(facts_.local, room);
      case Kind::SourceIp:
        return ipOf(facts_.remote, room);
      case Kind::DirectSourceIp:
        return ipOf(facts_.direct_remote, room);
      case Kind::DestinationPort:
        return portOf(facts_.local, room);
      case Kind::SourcePort:
        return portOf(facts_.remote, room);
      case Kind::SourceType:
        return isNear(facts_) ? std::optional<std::string_view>("local") : std::nullopt;
      case Kind::ServerName:
        return orNothing(facts_.server_name);
      case Kind::TransportProtocol:
        return orNothing(facts_.transport_protocol);
      case Kind::ApplicationProtocol:
        for (const std::string& protocol : facts_.application_protocols) {
          room->append(room->empty() ? "'" : ",'").append(protocol).append(1, '\'');
        }
        return orNothing(*room);
      default:
        return std::nullopt;
    }
  }
  std::string_view address(const plan::MatchInput& input) const override {
    using Kind = plan::MatchInput::Kind;
    switch (input.kind) {
      case Kind::DestinationIp:
        return facts_.local.ipBytes();
      case Kind::SourceIp:
        return facts_.remote.ipBytes();
      case Kind::DirectSourceIp:
        return facts_.direct_remote.ipBytes();
      default:
        return {};
    }
  }

 private:
  static std::optional<std::string_view> orNothing(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
  }
  static std::optional<std::string_view> ipOf(const Address& address, std::string* room) {
    if (!address.isIp()) return std::nullopt;
    *room = address.ip();
    return *room;
  }
  static std::optional<std::string_view> portOf(const Address& address, std::string* room) {
    if (!address.isIp()) return std::nullopt;
    *room = std::to_string(address.port());
    return *room;
  }

  const ChainFacts& facts_;
};

}  // namespace

// Puts one chain under every combination of its criteria.
class FilterChainMatch::Insertion {
 public:
  Insertion(FilterChainMatch& to, const plan::FilterChainMatch& match, int chain)
      : to_(to), match_(match), chain_(chain) {}

  void run() {
    if (to_.nodes_.empty()) to_.nodes_.emplace_back();
    place(0, 0);
  }

 private:
  static constexpr int kSteps = 9;

  void place(int step, int node) {
    switch (step) {
      case 0:
        return placeNumber(step, node, match_.destination_port, match_.destination_port != 0);
      case 1:
        return placeRanges(step, node, match_.destination);
      case 2:
        return placeTexts(step, node, match_.server_names, nameValue);
      case 3:
        return placeText(step, node, match_.transport_protocol);
      case 4:
        return placeTexts(step, node, match_.application_protocols, std::identity());
      case 5:
        return placeRanges(step, node, match_.direct_source);
      case 6:
        return placeNumber(step, node, static_cast<uint32_t>(match_.source_type),
                           match_.source_type != SourceType::Any);
      case 7:
        return placeRanges(step, node, match_.source);
      default:
        if (match_.source_ports.empty()) placeAny(step, node);
        for (const uint32_t port : match_.source_ports) placeNumber(step, node, port, true);
    }
  }
  void placeNumber(int step, int node, uint32_t number, bool is_criterion) {
    if (is_criterion) {
      placeUnder(step, node, bytesOf(number));
    } else {
      placeAny(step, node);
    }
  }
  void placeText(int step, int node, const std::string& text) {
    if (text.empty()) {
      placeAny(step, node);
    } else {
      placeUnder(step, node, text);
    }
  }
  template <typename ValueOf>
  void placeTexts(int step, int node, const std::vector<std::string>& texts, ValueOf value_of) {
    if (texts.empty()) placeAny(step, node);
    for (const std::string& text : texts) placeUnder(step, node, value_of(text));
  }
  void placeRanges(int step, int node, const std::vector<plan::CidrRange>& ranges) {
    if (ranges.empty()) placeAny(step, node);
    for (const plan::CidrRange& range : ranges) {
      if (!match::isRange(range)) continue;
      auto& lengths =
          to_.nodes_[static_cast<size_t>(node)].prefix_lengths[match::familyOf(range.ip)];
      const auto bits = static_cast<uint8_t>(range.prefix_length);
      match::addLength(lengths, bits);
      placeUnder(step, node, match::RangeKey(range.ip, bits).text());
    }
  }

  void placeUnder(int step, int node, std::string_view value) {
    if (value.size() > EdgeKey::kMaxValueBytes) return;
    const EdgeKey key(node, value);
    auto found = to_.edges_.find(key.text());
    if (found == to_.edges_.end()) found = to_.edges_.emplace(key.text(), target(step)).first;
    if (step + 1 < kSteps) place(step + 1, found->second);
  }
  void placeAny(int step, int node) {
    int any = to_.nodes_[static_cast<size_t>(node)].any;
    if (any == kNoNode) {
      any = target(step);
      to_.nodes_[static_cast<size_t>(node)].any = any;
    }
    if (step + 1 < kSteps) place(step + 1, any);
  }
  // What a new edge leads to.
  int target(int step) {
    if (step + 1 == kSteps) return chain_;
    to_.nodes_.emplace_back();
    return static_cast<int>(to_.nodes_.size()) - 1;
  }

  FilterChainMatch& to_;
  const plan::FilterChainMatch& match_;
  const int chain_;
};

FilterChainMatch::FilterChainMatch(const std::vector<plan::FilterChain>& chains) {
  int count = 0;
  for (size_t i = 0; i < chains.size(); ++i) {
    const int chain = static_cast<int>(i);
    if (chains[i].is_default) {
      default_chain_ = chain;
      continue;
    }
    only_chain_ = count++ == 0 && !chains[i].match ? chain : kNone;
    Insertion(*this, chains[i].match.value_or(plan::FilterChainMatch()), chain).run();
  }
}

Result<FilterChainMatch> FilterChainMatch::build(const std::vector<plan::FilterChain>& chains,
                                                 const plan::ChainTree* tree) {
  if (!tree) return FilterChainMatch(chains);
  FilterChainMatch match;
  auto built = match::MatchTree::build(tree->tree.value_or(plan::MatchTree()));
  if (!built) return built.error();
  match.tree_ = std::move(built.value());
  std::unordered_map<std::string_view, int> by_name;
  for (size_t i = 0; i < chains.size(); ++i) {
    const int chain = static_cast<int>(i);
    if (chains[i].is_default) {
      match.default_chain_ = chain;
    } else {
      by_name.emplace(chains[i].name, chain);
    }
  }
  for (const std::string& name : tree->chains) {
    const auto found = by_name.find(name);
    match.chains_of_tree_.push_back(found == by_name.end() ? kNone : found->second);
  }
  return match;
}

// Who is sent to a chain that there is not is sent away; the default chain is for who is sent
// nowhere.
int FilterChainMatch::findInTree(const ChainFacts& facts) const {
  const int action = tree_->find(ConnectionFacts(facts));
  if (action == match::MatchTree::kNone) return default_chain_;
  const auto index = static_cast<size_t>(action);
  return index < chains_of_tree_.size() ? chains_of_tree_[index] : kNone;
}

int FilterChainMatch::child(int node, std::string_view value) const {
  if (value.size() > EdgeKey::kMaxValueBytes) return kNone;
  const auto found = edges_.find(EdgeKey(node, value).text());
  return found == edges_.end() ? kNone : found->second;
}

int FilterChainMatch::prefixChild(int node, const Address& address) const {
  std::string_view ip = address.ipBytes();
  // A pipe's: only the range of all addresses takes it, and those at the end, as in the real
  // server.
  if (ip.empty()) ip = "\xff\xff\xff\xff";
  for (const uint8_t bits : nodes_[static_cast<size_t>(node)].prefix_lengths[match::familyOf(ip)]) {
    const int found = child(node, match::RangeKey(ip, bits).text());
    if (found != kNone) return found;
  }
  return kNone;
}

int FilterChainMatch::nameChild(int node, std::string_view name) const {
  if (name.empty()) return kNone;
  if (const int found = child(node, name); found != kNone) return found;
  for (size_t dot = name.find('.', 1); dot != std::string_view::npos && dot + 1 < name.size();
       dot = name.find('.', dot + 1)) {
    if (const int found = child(node, name.substr(dot)); found != kNone) return found;
  }
  return kNone;
}

int FilterChainMatch::protocolChild(int node, std::span<const std::string> protocols) const {
  for (const std::string& protocol : protocols) {
    if (const int found = child(node, protocol); found != kNone) return found;
  }
  return kNone;
}

int FilterChainMatch::sourceTypeChild(int node, const ChainFacts& facts) const {
  const SourceType type = isNear(facts) ? SourceType::SameIpOrLoopback : SourceType::External;
  return child(node, bytesOf(static_cast<uint32_t>(type)));
}

int FilterChainMatch::find(const ChainFacts& facts) const {
  if (only_chain_ != kNone) return only_chain_;
  if (tree_) return findInTree(facts);
  if (nodes_.empty()) return default_chain_;
  const uint32_t local_port = facts.local.port();
  const uint32_t remote_port = facts.remote.port();
  int at = orAny(child(0, bytesOf(local_port)), 0);
  if (at != kNone) at = orAny(prefixChild(at, facts.local), at);
  if (at != kNone) at = orAny(nameChild(at, facts.server_name), at);
  if (at != kNone) at = orAny(child(at, facts.transport_protocol), at);
  if (at != kNone) at = orAny(protocolChild(at, facts.application_protocols), at);
  if (at != kNone) at = orAny(prefixChild(at, facts.direct_remote), at);
  if (at != kNone) at = orAny(sourceTypeChild(at, facts), at);
  if (at != kNone) at = orAny(prefixChild(at, facts.remote), at);
  if (at != kNone) at = orAny(child(at, bytesOf(remote_port)), at);
  return at != kNone ? at : default_chain_;
}

}  // namespace fairlead::net
