#include "net/proxy_header_text.h"

#include "filters/listener/proxy_header.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

Address addressAt(std::string_view text) {
  Address address;
  parseIp(text, &address);
  return address;
}

plan::ProxyProtocolSocket all() {
  plan::ProxyProtocolSocket plan;
  plan.is_version_2 = true;
  plan.passes_all_tlvs = true;
  return plan;
}

std::string tlv(char type, const std::string& value) {
  std::string text(1, type);
  text.push_back(static_cast<char>(value.size() >> 8));
  text.push_back(static_cast<char>(value.size()));
  return text + value;
}

// What a server makes of it.
filters::ProxyHeader readBack(const std::string& bytes) {
  filters::ProxyHeader header;
  EXPECT(filters::readProxyHeader(bytes, &header) == filters::ProxyHeaderState::Whole);
  return header;
}

}  // namespace

TEST("A line of version 1 has the client's address; without one it is of an unknown client") {
  EXPECT_EQ(proxyHeaderV1(addressAt("1.2.3.4:5"), addressAt("6.7.8.9:10")),
            "PROXY TCP4 1.2.3.4 6.7.8.9 5 10\r\n");
  EXPECT_EQ(proxyHeaderV1(addressAt("[2001:db8::1]:5"), addressAt("[::1]:10")),
            "PROXY TCP6 2001:db8::1 ::1 5 10\r\n");
  EXPECT_EQ(proxyHeaderV1(addressAt("1.2.3.4:5"), addressAt("[::1]:10")),
            "PROXY TCP6 ::ffff:1.2.3.4 ::1 5 10\r\n");
  EXPECT_EQ(proxyHeaderV1(Address(), addressAt("[::1]:10")), "PROXY UNKNOWN\r\n");
}

TEST("A header of version 2 is read back as what it was made of") {
  for (const auto& [source, destination] :
       {std::pair{"1.2.3.4:5", "6.7.8.9:10"}, std::pair{"[2001:db8::1]:5", "[::1]:10"}}) {
    const ProxiedClient client{addressAt(source), addressAt(destination), tlv(4, "x")};
    const filters::ProxyHeader header = readBack(proxyHeaderV2(&client, all()).bytes);
    EXPECT(header.has_addresses);
    EXPECT_EQ(header.source.text(), source);
    EXPECT_EQ(header.destination.text(), destination);
    EXPECT_EQ(header.tlv_bytes, 4u);
  }
}

TEST("Without a client it is this proxy that speaks; without its address nobody of a family") {
  plan::ProxyProtocolSocket plan = all();
  const std::string own("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);
  const ProxiedClient nobody;
  EXPECT(proxyHeaderV2(nullptr, plan).bytes == own);
  EXPECT(proxyHeaderV2(&nobody, plan).bytes == own);
  plan.allows_unspecified = true;
  EXPECT(proxyHeaderV2(&nobody, plan).bytes == std::string("\r\n\r\n\0\r\nQUIT\n\x21\0\0\0", 16));
}

TEST("Values that are added come first, in the place of the client's of the same type") {
  plan::ProxyProtocolSocket plan = all();
  plan.added_tlvs.push_back({0xE0, "added", {}});
  const ProxiedClient client{addressAt("1.2.3.4:5"), addressAt("6.7.8.9:10"),
                             tlv('\xE0', "down") + tlv('\xE1', "a") + tlv(4, "")};
  const auto values = [&] { return proxyHeaderV2(&client, plan).bytes.substr(28); };
  EXPECT(values() == tlv('\xE0', "added") + tlv('\xE1', "a") + tlv(4, ""));
  plan.passes_all_tlvs = false;
  plan.passed_tlv_types = std::string("\x04", 1);
  EXPECT(values() == tlv('\xE0', "added") + tlv(4, ""));
}

TEST("Values with a format come after those without; what is empty is left out") {
  plan::ProxyProtocolSocket plan = all();
  plan.added_tlvs.push_back({0xE0, "", plan::Format()});
  plan.added_tlvs.push_back({0xE1, "always", {}});
  plan.added_tlvs.push_back({0xE2, "", plan::Format()});
  const ProxiedClient client{addressAt("1.2.3.4:5"), addressAt("6.7.8.9:10"), tlv('\xE3', "a")};
  const auto values = [&](std::vector<std::string> formatted) {
    return proxyHeaderV2(&client, plan, formatted).bytes.substr(28);
  };
  const std::string last = tlv('\xE3', "a");
  EXPECT(values({"one", "two"}) ==
         tlv('\xE1', "always") + tlv('\xE0', "one") + tlv('\xE2', "two") + last);
  EXPECT(values({"", "two"}) == tlv('\xE1', "always") + tlv('\xE2', "two") + last);
}

TEST("What a header has no room for is left out, and told") {
  plan::ProxyProtocolSocket plan = all();
  plan.added_tlvs.push_back({0xE0, std::string(100, 'a'), {}});
  const ProxiedClient client{addressAt("1.2.3.4:5"), addressAt("6.7.8.9:10"),
                             tlv('\xE1', std::string(65'420, 'x')) + tlv('\xE2', "y")};
  const ProxyHeaderV2 header = proxyHeaderV2(&client, plan);
  EXPECT(header.lacks_values);
  EXPECT(header.bytes.substr(28) == tlv('\xE0', std::string(100, 'a')) + tlv('\xE2', "y"));
  EXPECT(!proxyHeaderV2(&client, all()).lacks_values);
}

}  // namespace fairlead::net
