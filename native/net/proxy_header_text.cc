#include "net/proxy_header_text.h"

#include <algorithm>
#include <string_view>

namespace fairlead::net {

namespace {

constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr char kOwn = 0x20;
constexpr char kForClient = 0x21;
constexpr char kUnspecified = 0x00;
constexpr char kTcp4 = 0x11;
constexpr char kTcp6 = 0x21;
constexpr size_t kMaxBytes = 65'535;
constexpr size_t kTlvHeadBytes = 3;

void appendBig16(size_t number, std::string* out) {
  out->push_back(static_cast<char>(number >> 8));
  out->push_back(static_cast<char>(number));
}

// An IPv4 address as one of IPv6, where the other end's is one.
std::string asIpv6(const Address& address) {
  const std::string_view ip = address.ipBytes();
  if (ip.size() == 16) return std::string(ip);
  return std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12).append(ip);
}

bool isAdded(const plan::ProxyProtocolSocket& plan, uint8_t type) {
  return std::any_of(plan.added_tlvs.begin(), plan.added_tlvs.end(),
                     [type](const plan::AddedTlv& added) { return added.type == type; });
}

bool isPassed(const plan::ProxyProtocolSocket& plan, uint8_t type) {
  return plan.passes_all_tlvs ||
         plan.passed_tlv_types.find(static_cast<char>(type)) != std::string::npos;
}

// Adds values as long as there is room.
class Values {
 public:
  explicit Values(size_t room) : room_(room) {}

  void add(uint8_t type, std::string_view value) {
    if (value.size() + kTlvHeadBytes > room_ - bytes.size()) {
      lacks_some = true;
      return;
    }
    bytes.push_back(static_cast<char>(type));
    appendBig16(value.size(), &bytes);
    bytes.append(value);
  }

  std::string bytes;
  bool lacks_some = false;

 private:
  const size_t room_;
};

// What the client's own proxy has sent of a type that is added here is left out.
void addPassed(std::string_view tlvs, const plan::ProxyProtocolSocket& plan, Values* values) {
  while (tlvs.size() >= kTlvHeadBytes) {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(tlvs[at]); };
    const uint8_t type = byte(0);
    const std::string_view value = tlvs.substr(kTlvHeadBytes, byte(1) << 8 | byte(2));
    tlvs.remove_prefix(kTlvHeadBytes + value.size());
    if (isPassed(plan, type) && !isAdded(plan, type)) values->add(type, value);
  }
}

}  // namespace

std::string ProxiedClient::key() const {
  std::string key = source.text();
  key.append(1, '\0').append(destination.text()).append(1, '\0').append(tlvs);
  return key;
}

std::string proxyHeaderV1(const Address& source, const Address& destination) {
  if (!source.isIp() || !destination.isIp()) return "PROXY UNKNOWN\r\n";
  const bool is_v4 = source.family() == AF_INET && destination.family() == AF_INET;
  const auto text = [is_v4](const Address& address) {
    if (is_v4 || address.family() == AF_INET6) return address.ip();
    return "::ffff:" + address.ip();
  };
  return std::string(is_v4 ? "PROXY TCP4 " : "PROXY TCP6 ") + text(source) + " " +
         text(destination) + " " + std::to_string(source.port()) + " " +
         std::to_string(destination.port()) + "\r\n";
}

ProxyHeaderV2 proxyHeaderV2(const ProxiedClient* client, const plan::ProxyProtocolSocket& plan,
                            const std::vector<std::string>& formatted) {
  ProxyHeaderV2 header;
  std::string addresses;
  char command = kForClient;
  char family = kUnspecified;
  if (client && client->source.isIp() && client->destination.isIp()) {
    const bool is_v4 =
        client->source.family() == AF_INET && client->destination.family() == AF_INET;
    family = is_v4 ? kTcp4 : kTcp6;
    for (const Address* one : {&client->source, &client->destination}) {
      addresses += is_v4 ? std::string(one->ipBytes()) : asIpv6(*one);
    }
    appendBig16(client->source.port(), &addresses);
    appendBig16(client->destination.port(), &addresses);
  } else if (!client || !plan.allows_unspecified) {
    command = kOwn;
  }
  Values values(kMaxBytes - addresses.size());
  if (command == kForClient) {
    // Those that are always the same come first, as in the real server.
    for (const plan::AddedTlv& added : plan.added_tlvs) {
      if (!added.format) values.add(static_cast<uint8_t>(added.type), added.value);
    }
    auto text = formatted.begin();
    for (const plan::AddedTlv& added : plan.added_tlvs) {
      if (!added.format || text == formatted.end()) continue;
      if (!text->empty()) values.add(static_cast<uint8_t>(added.type), *text);
      ++text;
    }
    addPassed(client->tlvs, plan, &values);
  }
  header.bytes.append(kSignature).append(1, command).append(1, family);
  appendBig16(addresses.size() + values.bytes.size(), &header.bytes);
  header.bytes.append(addresses).append(values.bytes);
  header.lacks_values = values.lacks_some;
  return header;
}

}  // namespace fairlead::net
