#include "filters/listener/proxy_header.h"

#include <arpa/inet.h>

#include <algorithm>

namespace fairlead::filters {

namespace {

using State = ProxyHeaderState;

constexpr std::string_view kV1Start = "PROXY ";
constexpr std::string_view kV2Start("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr size_t kV2FixedBytes = 16;
// The longest line that counts, with its end; and how far an end is looked for.
constexpr size_t kV1MaxBytes = 108;
constexpr size_t kV1SearchBytes = 232;

uint16_t readBig16(std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  return static_cast<uint16_t>(byte(0) << 8 | byte(1));
}

// What TCP can speak with: neither nobody, nor several.
bool isUnicast(std::string_view ip) {
  const auto is = [&](size_t from, uint8_t value) {
    return std::all_of(ip.begin() + static_cast<std::ptrdiff_t>(from), ip.end(),
                       [&](char c) { return static_cast<uint8_t>(c) == value; });
  };
  const auto first = static_cast<uint8_t>(ip[0]);
  if (is(0, 0)) return false;
  if (ip.size() == 4) return !is(0, 0xff) && (first & 0xf0) != 0xe0;
  return first != 0xff;
}

// ---- version 1 ----

std::string_view takeField(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

bool parsePort(std::string_view text, uint16_t* port) {
  uint32_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint32_t>(c - '0');
    if (value > 65535) return false;
  }
  *port = static_cast<uint16_t>(value);
  return !text.empty();
}

bool parseAddress(int family, std::string_view text, std::string_view port_text,
                  net::Address* address) {
  char copy[INET6_ADDRSTRLEN];
  char ip[16];
  uint16_t port;
  if (text.size() >= sizeof(copy) || text.find('\0') != std::string_view::npos) return false;
  copy[text.copy(copy, text.size())] = '\0';
  if (::inet_pton(family, copy, ip) != 1 || !parsePort(port_text, &port)) return false;
  const std::string_view bytes(ip, family == AF_INET ? 4 : 16);
  *address = net::Address::fromIp(bytes, port);
  return isUnicast(bytes);
}

// "PROXY TCP4 SOURCE DESTINATION SOURCE_PORT DESTINATION_PORT", without its end.
State readLine(std::string_view line, ProxyHeader* header) {
  const size_t last = line.find_last_not_of(" \t\r\n\v\f");
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (takeField(&line) != "PROXY") return State::Malformed;
  const std::string_view family = takeField(&line);
  if (family == "UNKNOWN") return State::Whole;
  if (family != "TCP4" && family != "TCP6") return State::Malformed;
  const std::string_view source = takeField(&line);
  const std::string_view destination = takeField(&line);
  const std::string_view source_port = takeField(&line);
  const int kind = family == "TCP4" ? AF_INET : AF_INET6;
  header->has_addresses = parseAddress(kind, source, source_port, &header->source) &&
                          parseAddress(kind, destination, line, &header->destination);
  return header->has_addresses ? State::Whole : State::Malformed;
}

State readV1(std::string_view bytes, ProxyHeader* header) {
  const size_t end = bytes.substr(0, kV1SearchBytes).find("\r\n");
  // That is how version 2 begins.
  if (end == 0) return State::Unfinished;
  if (end == std::string_view::npos) {
    return bytes.size() > kV1MaxBytes ? State::Absent : State::Unfinished;
  }
  header->version = ProxyVersion::V1;
  header->size = static_cast<uint32_t>(end + 2);
  return header->size > kV1MaxBytes ? State::Malformed : readLine(bytes.substr(0, end), header);
}

// ---- version 2 ----

State readV2(std::string_view bytes, ProxyHeader* header) {
  header->version = ProxyVersion::V2;
  const auto version_and_command = static_cast<uint8_t>(bytes[12]);
  const auto family_and_transport = static_cast<uint8_t>(bytes[13]);
  const size_t rest = readBig16(bytes.substr(14));
  if (version_and_command >> 4 != 2) return State::Malformed;
  const int command = version_and_command & 0xf;
  if (command == 0) {
    header->size = kV2FixedBytes;
    header->tlv_bytes = static_cast<uint32_t>(rest);
    return State::Whole;
  }
  const int family = family_and_transport >> 4;
  const int transport = family_and_transport & 0xf;
  // Streams and datagrams of IPv4 and IPv6: pipes have no addresses that would say anything here.
  if (command != 1 || (family != 1 && family != 2) || (transport != 1 && transport != 2)) {
    return State::Malformed;
  }
  const size_t ip_bytes = family == 1 ? 4 : 16;
  const size_t address_bytes = 2 * ip_bytes + 4;
  if (rest < address_bytes) return State::Malformed;
  if (bytes.size() < kV2FixedBytes + address_bytes) return State::Unfinished;
  const std::string_view source = bytes.substr(kV2FixedBytes, ip_bytes);
  const std::string_view destination = bytes.substr(kV2FixedBytes + ip_bytes, ip_bytes);
  const std::string_view ports = bytes.substr(kV2FixedBytes + 2 * ip_bytes);
  header->source = net::Address::fromIp(source, readBig16(ports));
  header->destination = net::Address::fromIp(destination, readBig16(ports.substr(2)));
  header->has_addresses = true;
  header->size = static_cast<uint32_t>(kV2FixedBytes + address_bytes);
  header->tlv_bytes = static_cast<uint32_t>(rest - address_bytes);
  return isUnicast(source) && isUnicast(destination) ? State::Whole : State::Malformed;
}

}  // namespace

ProxyHeaderState readProxyHeader(std::string_view bytes, ProxyHeader* header) {
  *header = {};
  if (bytes.size() >= kV2FixedBytes) {
    if (bytes.starts_with(kV2Start)) return readV2(bytes, header);
    if (!bytes.starts_with(kV1Start)) return State::Absent;
  }
  return readV1(bytes, header);
}

bool mayBeProxyHeader(std::string_view bytes, ProxyVersion version) {
  const std::string_view start = version == ProxyVersion::V1 ? kV1Start : kV2Start;
  const size_t common = std::min(bytes.size(), start.size());
  return bytes.substr(0, common) == start.substr(0, common);
}

bool takeTlv(std::string_view* bytes, Tlv* tlv) {
  constexpr size_t kHeadBytes = 3;
  if (bytes->size() < kHeadBytes) return false;
  const size_t size = readBig16(bytes->substr(1));
  if (bytes->size() - kHeadBytes < size) return false;
  *tlv = {static_cast<uint8_t>((*bytes)[0]), bytes->substr(kHeadBytes, size)};
  bytes->remove_prefix(kHeadBytes + size);
  return true;
}

}  // namespace fairlead::filters
