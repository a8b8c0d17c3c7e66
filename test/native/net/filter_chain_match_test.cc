#include "net/filter_chain_match.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.h"
#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

Address at(std::string_view text) {
  Address address;
  FL_CHECK(parseIp(text, &address));
  return address;
}

plan::CidrRange range(std::string_view ip, uint32_t bits) {
  return {std::string(at(std::string(ip) + ":1").ipBytes()), bits};
}

class Chains {
 public:
  plan::FilterChainMatch& add() { return list_.emplace_back().match.emplace(); }
  void addDefault() { list_.emplace_back().is_default = true; }
  void addAny() { list_.emplace_back(); }
  int find(std::string_view local, std::string_view remote) const {
    return FilterChainMatch(list_).find({at(local), at(remote), at(remote)});
  }

 private:
  std::vector<plan::FilterChain> list_;
};

}  // namespace

TEST("A chain without criteria takes everything; without any chain nothing is taken") {
  EXPECT_EQ(Chains().find("10.0.0.1:80", "1.2.3.4:5"), FilterChainMatch::kNone);
  Chains chains;
  chains.addAny();
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.3.4:5"), 0);
}

TEST("The destination port decides before any address; the default takes what is left") {
  Chains chains;
  chains.add().destination_port = 80;
  chains.add().destination = {range("10.0.0.1", 32)};
  chains.addDefault();
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.3.4:5"), 0);
  EXPECT_EQ(chains.find("10.0.0.1:81", "1.2.3.4:5"), 1);
  EXPECT_EQ(chains.find("10.0.0.2:81", "1.2.3.4:5"), 2);
}

TEST("The longest prefix wins, and there is no way back from it") {
  Chains chains;
  chains.add().destination = {range("10.0.0.0", 8)};
  plan::FilterChainMatch& narrow = chains.add();
  narrow.destination = {range("10.1.0.0", 16)};
  narrow.source_ports = {7};
  EXPECT_EQ(chains.find("10.2.0.1:80", "1.2.3.4:5"), 0);
  EXPECT_EQ(chains.find("10.1.0.1:80", "1.2.3.4:7"), 1);
  EXPECT_EQ(chains.find("10.1.0.1:80", "1.2.3.4:5"), FilterChainMatch::kNone);
}

TEST("What only TLS could tell never matches in the clear; raw_buffer does") {
  Chains chains;
  chains.add().server_names = {"a"};
  chains.add().transport_protocol = "tls";
  chains.add().application_protocols = {"h2"};
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.3.4:5"), FilterChainMatch::kNone);
  chains.add().transport_protocol = "raw_buffer";
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.3.4:5"), 3);
}

TEST("A server name finds its own chain, then the longest wildcard, then the chain of any name") {
  std::vector<plan::FilterChain> chains(5);
  chains[0].match.emplace().server_names = {"a.example.com"};
  chains[1].match.emplace().server_names = {"*.example.com"};
  chains[2].match.emplace().server_names = {"*.com", "*.b.example.com"};
  chains[3].match.emplace().server_names = {"example.com"};
  chains[4].match.emplace().destination_port = 81;
  const FilterChainMatch match(chains);
  const Address local = at("10.0.0.1:80");
  const Address remote = at("1.2.3.4:5");
  const auto find = [&](std::string_view name) {
    return match.find({local, remote, remote, name, "tls"});
  };
  EXPECT_EQ(find("a.example.com"), 0);
  EXPECT_EQ(find("c.example.com"), 1);
  EXPECT_EQ(find("a.a.example.com"), 1);
  EXPECT_EQ(find("c.b.example.com"), 2);
  EXPECT_EQ(find("b.com"), 2);
  EXPECT_EQ(find("example.com"), 3);
  EXPECT_EQ(find("com"), FilterChainMatch::kNone);
  EXPECT_EQ(find(std::string(300, 'a') + ".com"), 2);
  EXPECT_EQ(find(""), FilterChainMatch::kNone);
}

TEST("Of the protocols that a client offers, the first decides that some chain names") {
  std::vector<plan::FilterChain> chains(3);
  chains[0].match.emplace().application_protocols = {"http/1.1"};
  chains[1].match.emplace().application_protocols = {"h2"};
  chains[2].match.emplace().transport_protocol = "tls";
  const FilterChainMatch match(chains);
  const Address any = at("10.0.0.1:80");
  const auto find = [&](const std::vector<std::string>& offered,
                        std::string_view transport = "raw_buffer") {
    return match.find({any, any, any, "", transport, offered});
  };
  EXPECT_EQ(find({"spdy", "h2", "http/1.1"}), 1);
  EXPECT_EQ(find({"http/1.1", "h2"}), 0);
  EXPECT_EQ(find({"spdy"}), FilterChainMatch::kNone);
  EXPECT_EQ(find({"h2"}, "tls"), 2);
}

TEST("The direct source is the socket's own, the source what a proxy before us says") {
  std::vector<plan::FilterChain> chains(2);
  chains[0].match.emplace().direct_source = {range("10.0.0.0", 8)};
  chains[1].match.emplace().source = {range("1.2.0.0", 16)};
  const FilterChainMatch match(chains);
  const Address local = at("127.0.0.1:80");
  const Address proxy = at("10.1.1.1:5");
  const Address client = at("1.2.3.4:5");
  EXPECT_EQ(match.find({local, proxy, client}), 0);
  EXPECT_EQ(match.find({local, client, client}), 1);
}

TEST("IPv6 ranges are looked up by their own lengths; a pipe fits only the range of everything") {
  std::vector<plan::FilterChain> chains(3);
  chains[0].match.emplace().source = {range("[2001:db8::]", 32)};
  chains[1].match.emplace().source = {range("[2001:db8::]", 47)};
  chains[2].match.emplace().source = {range("0.0.0.0", 0)};
  const FilterChainMatch match(chains);
  const Address local = at("[::1]:80");
  const auto find = [&](const Address& remote) { return match.find({local, remote, remote}); };
  EXPECT_EQ(find(at("[2001:db8:2::1]:5")), 0);
  EXPECT_EQ(find(at("[2001:db8:1::1]:5")), 1);
  EXPECT_EQ(find(at("[2001:db9::1]:5")), FilterChainMatch::kNone);
  EXPECT_EQ(find(at("9.9.9.9:5")), 2);
  plan::Address pipe;
  pipe.pipe = "/run/a";
  EXPECT_EQ(find(Address::fromPlan(pipe)), 2);
}

TEST("Ranges that are none take nothing, and do no harm") {
  std::vector<plan::FilterChain> chains(2);
  chains[0].match.emplace().source = {{"abc", 8}, {std::string(4, '\1'), 33}};
  chains[1].match.emplace().destination_port = 80;
  const Address any = at("1.1.1.1:80");
  EXPECT_EQ(FilterChainMatch(chains).find({any, any, any}), 1);
}

TEST("Source types tell near clients from far ones, then source ranges and ports decide") {
  using Type = plan::FilterChainMatch::SourceType;
  Chains chains;
  chains.add().source_type = Type::SameIpOrLoopback;
  chains.add().source_type = Type::External;
  plan::FilterChainMatch& ranged = chains.add();
  ranged.source_type = Type::External;
  ranged.source = {range("1.2.0.0", 16)};
  plan::FilterChainMatch& ported = chains.add();
  ported.source_type = Type::External;
  ported.source = {range("1.2.0.0", 16)};
  ported.source_ports = {9};
  EXPECT_EQ(chains.find("10.0.0.1:80", "127.0.0.1:5"), 0);
  EXPECT_EQ(chains.find("10.0.0.1:80", "10.0.0.1:5"), 0);
  EXPECT_EQ(chains.find("10.0.0.1:80", "9.9.9.9:5"), 1);
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.9.9:5"), 2);
  EXPECT_EQ(chains.find("10.0.0.1:80", "1.2.9.9:9"), 3);
}

TEST("Of many chains with criteria of all kinds, that one wins which elimination leaves") {
  Random random;
  const Address local = at("10.0.0.1:80");
  const Address remote = at("10.1.2.3:5");
  const auto pick = [&random](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random.below(sizeof...(values))];
  };
  using Fits = std::array<int, 3>;
  for (int round = 0; round < 2000; ++round) {
    std::vector<plan::FilterChain> chains(1 + random.below(8));
    std::vector<Fits> fits;
    for (plan::FilterChain& chain : chains) {
      plan::FilterChainMatch& match = chain.match.emplace();
      match.destination_port = pick(0u, 80u, 81u);
      const uint32_t bits = pick(0u, 8u, 16u, 32u);
      if (bits > 0) match.source = {range(pick("10.1.2.3", "10.1.9.9"), bits)};
      const uint32_t port = pick(0u, 5u, 6u);
      if (port > 0) match.source_ports = {port};
      const bool is_near = bits == 0 || match.source[0].ip == remote.ipBytes() || bits <= 16;
      const int source = bits == 0 ? 0 : is_near ? static_cast<int>(bits) : -1;
      fits.push_back({match.destination_port == 0    ? 0
                      : match.destination_port == 80 ? 1
                                                     : -1,
                      source,
                      port == 0   ? 0
                      : port == 5 ? 1
                                  : -1});
    }
    std::vector<size_t> left(chains.size());
    for (size_t i = 0; i < left.size(); ++i) left[i] = i;
    for (size_t step = 0; step < 3; ++step) {
      int best = -1;
      for (const size_t i : left) best = std::max(best, fits[i][step]);
      std::erase_if(left, [&](size_t i) { return best < 0 || fits[i][step] != best; });
    }
    EXPECT_EQ(FilterChainMatch(chains).find({local, remote, remote}),
              left.empty() ? FilterChainMatch::kNone : static_cast<int>(left.front()));
  }
}

TEST("Matching a connection takes nothing of the heap, however many chains there are") {
  std::vector<plan::FilterChain> chains(100);
  for (size_t i = 0; i < chains.size(); ++i) {
    chains[i].match.emplace().source = {range("10." + std::to_string(i) + ".0.0", 16)};
  }
  const FilterChainMatch match(chains);
  const Address local = at("127.0.0.1:80");
  const Address remote = at("10.99.0.1:5");
  const uint64_t before = test::allocationCount();
  EXPECT_EQ(match.find({local, remote, remote}), 99);
  EXPECT_EQ(test::allocationCount(), before);
}

TEST("A tree says which chain it is, whatever chains say; one that there is not takes nobody") {
  std::vector<plan::FilterChain> chains(3);
  chains[0].name = "first";
  chains[0].match.emplace().destination_port = 1;
  chains[1].name = "second";
  chains[2].name = "last";
  chains[2].is_default = true;
  plan::ChainTree tree;
  tree.chains = {"second", "gone", "last"};
  plan::MatchNode& node = tree.tree.emplace().nodes.emplace_back();
  node.kind = plan::MatchNode::Kind::Exact;
  node.input.emplace().kind = plan::MatchInput::Kind::DestinationPort;
  for (uint32_t i = 0; i < 3; ++i) {
    plan::MatchEdge& edge = node.edges.emplace_back();
    edge.text = std::to_string(80 + i);
    edge.outcome = plan::MatchOutcome{0, i};
  }
  auto match = FilterChainMatch::build(chains, &tree);
  FL_CHECK(match);
  const auto find = [&](std::string_view local) {
    return match.value().find({at(local), at("1.2.3.4:5"), at("1.2.3.4:5")});
  };
  EXPECT_EQ(find("10.0.0.1:80"), 1);
  EXPECT_EQ(find("10.0.0.1:81"), FilterChainMatch::kNone);
  EXPECT_EQ(find("10.0.0.1:82"), FilterChainMatch::kNone);
  EXPECT_EQ(find("10.0.0.1:83"), 2);
}

TEST("A tree may ask for all that is known of a connection") {
  using Kind = plan::MatchInput::Kind;
  const Address local = at("10.0.0.1:80");
  const Address direct = at("10.0.0.2:9");
  const Address remote = at("10.0.0.1:1024");
  const std::vector<std::string> protocols = {"h2", "http/1.1"};
  const ChainFacts all{local, direct, remote, "a.test", "tls", protocols};
  const auto takes = [](Kind kind, const std::string& value, const ChainFacts& facts) {
    plan::ChainTree tree;
    tree.chains = {"one"};
    plan::MatchNode& node = tree.tree.emplace().nodes.emplace_back();
    node.kind = plan::MatchNode::Kind::Exact;
    node.input.emplace().kind = kind;
    plan::MatchEdge& edge = node.edges.emplace_back();
    edge.text = value;
    edge.outcome.emplace();
    std::vector<plan::FilterChain> chains(1);
    chains[0].name = "one";
    return FilterChainMatch::build(chains, &tree).value().find(facts) == 0;
  };
  EXPECT(takes(Kind::DestinationIp, "10.0.0.1", all));
  EXPECT(takes(Kind::DestinationPort, "80", all));
  EXPECT(takes(Kind::SourceIp, "10.0.0.1", all));
  EXPECT(takes(Kind::SourcePort, "1024", all));
  EXPECT(takes(Kind::DirectSourceIp, "10.0.0.2", all));
  EXPECT(takes(Kind::SourceType, "local", all));
  EXPECT(takes(Kind::ServerName, "a.test", all));
  EXPECT(takes(Kind::TransportProtocol, "tls", all));
  EXPECT(takes(Kind::ApplicationProtocol, "'h2','http/1.1'", all));
  EXPECT(!takes(Kind::Nothing, "", all));
  const ChainFacts little{local, direct, direct};
  EXPECT(!takes(Kind::SourceType, "local", little));
  EXPECT(!takes(Kind::ServerName, "", little));
  EXPECT(!takes(Kind::ApplicationProtocol, "", little));
}

}  // namespace fairlead::net
