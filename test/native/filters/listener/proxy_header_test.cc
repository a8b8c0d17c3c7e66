#include "filters/listener/proxy_header.h"

#include <string>

#include "test/native/filters/listener/proxy_headers.h"
#include "test/native/test.h"

namespace fairlead::filters {

namespace {

using test::kIpv4Pair;
using test::kIpv6Pair;
using test::proxyV2;
using State = ProxyHeaderState;

State read(std::string_view bytes, ProxyHeader* header = nullptr) {
  ProxyHeader own;
  return readProxyHeader(bytes, header ? header : &own);
}

void expectAddresses(std::string_view bytes, std::string_view source,
                     std::string_view destination) {
  ProxyHeader header;
  EXPECT_EQ(readProxyHeader(bytes, &header), State::Whole);
  EXPECT(header.has_addresses);
  EXPECT_EQ(header.source.text(), source);
  EXPECT_EQ(header.destination.text(), destination);
  EXPECT_EQ(header.size + header.tlv_bytes, bytes.size());
}

}  // namespace

TEST("A line of version 1 has the addresses and ports of both ends") {
  expectAddresses("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n", "1.2.3.4:1111", "5.6.7.8:2222");
  expectAddresses("PROXY TCP6 2001:db8::1 ::2 0 65535\r\n", "[2001:db8::1]:0", "[::2]:65535");
  expectAddresses("PROXY TCP6 ::ffff:1.2.3.4 ::2 1 2\r\n", "[::ffff:1.2.3.4]:1", "[::2]:2");
  expectAddresses("PROXY TCP4 1.2.3.4 5.6.7.8 1111 02222 \r\n", "1.2.3.4:1111", "5.6.7.8:2222");
}

TEST("A line of an unknown protocol has none, whatever else it says") {
  for (const char* line : {"PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"}) {
    ProxyHeader header;
    EXPECT_EQ(readProxyHeader(line, &header), State::Whole);
    EXPECT(!header.has_addresses);
    EXPECT_EQ(header.size, std::string_view(line).size());
  }
}

TEST("A line of version 1 that says anything else is malformed") {
  using namespace std::string_view_literals;
  for (const std::string_view line :
       {"PROXY\r\n"sv, "PROXY \r\n"sv, "PROXY UNKNOWNX\r\n"sv,
        "PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n"sv, "PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n"sv,
        "PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n"sv, "PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n"sv,
        "PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n"sv, "PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n"sv,
        "PROXY TCP4 1.2.3.4 5.6.7.8 0x5 2\r\n"sv, "PROXY TCP4 ::1 ::2 1 2\r\n"sv,
        "PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n"sv, "PROXY TCP4 01.2.3.4 5.6.7.8 1 2\r\n"sv,
        "PROXY TCP4 1.2.3.4\0 5.6.7.8 1 2\r\n"sv, "PROXY TCP4 0.0.0.0 5.6.7.8 1 2\r\n"sv,
        "PROXY TCP4 255.255.255.255 5.6.7.8 1 2\r\n"sv, "PROXY TCP4 1.2.3.4 224.0.0.1 1 2\r\n"sv,
        "PROXY TCP6 :: ::2 1 2\r\n"sv, "PROXY TCP6 ff02::1 ::2 1 2\r\n"sv}) {
    ProxyHeader header;
    EXPECT_EQ(readProxyHeader(line, &header), State::Malformed);
    EXPECT_EQ(header.version, ProxyVersion::V1);
  }
}

TEST("A line of version 1 has at most 108 bytes, and is waited for no longer") {
  const auto line = [](size_t size) {
    return "PROXY UNKNOWN " + std::string(size - 16, 'x') + "\r\n";
  };
  EXPECT_EQ(read(line(108)), State::Whole);
  EXPECT_EQ(read(line(109)), State::Malformed);
  EXPECT_EQ(read(line(232)), State::Malformed);
  EXPECT_EQ(read(line(233)), State::Absent);
  EXPECT_EQ(read(line(200).substr(0, 108)), State::Unfinished);
  EXPECT_EQ(read(line(200).substr(0, 109)), State::Absent);
}

TEST("What is neither version is known by its first 16 bytes, and not before") {
  const std::string request = "GET /0123456789 HTTP/1.1\r\n\r\n";
  EXPECT_EQ(read(request.substr(0, 15)), State::Unfinished);
  EXPECT_EQ(read(request.substr(0, 16)), State::Absent);
  EXPECT_EQ(read("\r\n"), State::Unfinished);
  EXPECT_EQ(read("\r\nGET / HTTP/1.1\r\n"), State::Absent);
  EXPECT_EQ(read(""), State::Unfinished);
}

TEST("A header of version 2 has the addresses of streams and datagrams") {
  expectAddresses(proxyV2(0x21, 0x11, kIpv4Pair), "1.2.3.4:1111", "5.6.7.8:2222");
  expectAddresses(proxyV2(0x21, 0x12, kIpv4Pair), "1.2.3.4:1111", "5.6.7.8:2222");
  expectAddresses(proxyV2(0x21, 0x21, kIpv6Pair), "[2001:db8::1]:1111", "[2001:db8::2]:2222");
  expectAddresses(proxyV2(0x21, 0x22, kIpv6Pair), "[2001:db8::1]:1111", "[2001:db8::2]:2222");
}

TEST("A proxy that speaks for itself has no addresses: all that it sends along is skipped") {
  for (const std::string& rest : {std::string(), std::string(kIpv4Pair), std::string(300, '\0')}) {
    ProxyHeader header;
    EXPECT_EQ(readProxyHeader(proxyV2(0x20, 0x00, rest), &header), State::Whole);
    EXPECT(!header.has_addresses);
    EXPECT_EQ(header.size, 16u);
    EXPECT_EQ(header.tlv_bytes, rest.size());
  }
}

TEST("Other versions, commands, families and transports of version 2 are malformed") {
  const std::string pipes(216, 'p');
  for (const std::string& header :
       {proxyV2(0x11, 0x11, kIpv4Pair), proxyV2(0x31, 0x11, kIpv4Pair),
        proxyV2(0x22, 0x11, kIpv4Pair), proxyV2(0x2f, 0x11, kIpv4Pair), proxyV2(0x21, 0x00, ""),
        proxyV2(0x21, 0x10, kIpv4Pair), proxyV2(0x21, 0x13, kIpv4Pair), proxyV2(0x21, 0x31, pipes),
        proxyV2(0x21, 0x41, kIpv4Pair), proxyV2(0x21, 0x11, ""),
        proxyV2(0x21, 0x11, kIpv4Pair.substr(1)), proxyV2(0x21, 0x21, kIpv4Pair),
        proxyV2(0x21, 0x11, std::string(12, '\0'))}) {
    EXPECT_EQ(read(header), State::Malformed);
  }
}

TEST("Until the addresses have come a header of version 2 is unfinished, though it is known") {
  const std::string whole = proxyV2(0x21, 0x11, std::string(kIpv4Pair) + test::tlv(4, ""));
  for (size_t size = 1; size < 28; ++size) {
    ProxyHeader header;
    EXPECT_EQ(readProxyHeader(whole.substr(0, size), &header), State::Unfinished);
    EXPECT_EQ(header.version, size < 16 ? ProxyVersion::None : ProxyVersion::V2);
  }
  ProxyHeader header;
  EXPECT_EQ(readProxyHeader(whole.substr(0, 28), &header), State::Whole);
  EXPECT_EQ(header.tlv_bytes, 3u);
}

TEST("Bytes may become a header for as long as they are the beginning of one") {
  EXPECT(mayBeProxyHeader("", ProxyVersion::V1));
  EXPECT(mayBeProxyHeader("PRO", ProxyVersion::V1));
  EXPECT(mayBeProxyHeader("PROXY TCP4", ProxyVersion::V1));
  EXPECT(!mayBeProxyHeader("PROXYX", ProxyVersion::V1));
  EXPECT(!mayBeProxyHeader("PRO", ProxyVersion::V2));
  EXPECT(mayBeProxyHeader("\r\n\r", ProxyVersion::V2));
  EXPECT(!mayBeProxyHeader("\r\nG", ProxyVersion::V2));
}

TEST("Values are taken one after another; one that is longer than what there is, is none") {
  std::string bytes("\x04\x00\x02ok\xea\x00\x00", 8);
  std::string_view left = bytes;
  Tlv tlv;
  EXPECT(takeTlv(&left, &tlv));
  EXPECT_EQ(tlv.type, 4);
  EXPECT_EQ(tlv.value, "ok");
  EXPECT(takeTlv(&left, &tlv));
  EXPECT_EQ(tlv.type, 0xea);
  EXPECT(tlv.value.empty());
  EXPECT(!takeTlv(&left, &tlv));
  for (size_t size = 1; size < 5; ++size) {
    left = std::string_view(bytes).substr(0, size);
    EXPECT(!takeTlv(&left, &tlv));
    EXPECT_EQ(left.size(), size);
  }
}

}  // namespace fairlead::filters
