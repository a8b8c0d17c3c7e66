#include "net/filter_chain_match.h"

#include <string>

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
    return FilterChainMatch(list_).find(at(local), at(remote), at(remote));
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

}  // namespace fairlead::net
