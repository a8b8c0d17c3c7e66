#include "filters/listener/proxy_protocol.h"

#include <map>
#include <string>

#include "test/native/filters/listener/early_bytes.h"
#include "test/native/filters/listener/proxy_headers.h"
#include "test/native/test.h"

namespace fairlead::filters {

namespace {

using test::EarlyBytes;
using test::kIpv4Pair;
using test::kIpv6Pair;
using test::proxyV2;
using test::tlv;
using test::Verdict;

constexpr std::string_view kV1 = "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n";
constexpr const char* kOwn = "envoy.filters.listener.proxy_protocol";

class Filter {
 public:
  explicit Filter(const plan::ProxyProtocol& plan = {}) : config_(plan, registry_) {}

  std::unique_ptr<net::ListenerFilter> make() const { return config_.make(0); }
  // The counters that are not 0, without "proxy_proto.".
  std::string counts() const {
    std::string text;
    for (const char* name : {"not_found_allowed", "not_found_disallowed", "versions.v1.disallowed",
                             "versions.v1.error", "versions.v1.found", "versions.v2.disallowed",
                             "versions.v2.error", "versions.v2.found"}) {
      if (const auto value = registry_.value(std::string("proxy_proto.") + name); value > 0u) {
        text += std::string(name) + "=" + std::to_string(*value) + " ";
      }
    }
    const auto errors = registry_.value("downstream_cx_proxy_proto_error");
    return text + (errors > 0u ? "errors=" + std::to_string(*errors) : "");
  }

 private:
  stats::Registry registry_{1};
  ProxyProtocolConfig config_;
};

plan::ProxyProtocol withRules(bool to_filter_state = false) {
  plan::ProxyProtocol plan;
  plan.rules.push_back({0xea, "", "aws", false});
  plan.rules.push_back({0x02, "other", "authority", false});
  plan.rules.push_back({0x05, "", "id", true});
  plan.to_filter_state = to_filter_state;
  return plan;
}

}  // namespace

TEST("A header takes the place of the socket's addresses, which stay known as the direct ones") {
  for (const std::string& header : {std::string(kV1), proxyV2(0x21, 0x11, kIpv4Pair)}) {
    for (const size_t piece : {1, 7, 1000}) {
      const Filter filter;
      const auto instance = filter.make();
      EarlyBytes early;
      EXPECT_EQ(early.feedInPieces(*instance, header + "rest", piece), Verdict::Continue);
      EXPECT_EQ(early.socket().remote.text(), "1.2.3.4:1111");
      EXPECT_EQ(early.socket().local.text(), "5.6.7.8:2222");
      EXPECT(early.findings().is_local_restored);
      EXPECT_EQ(early.socket().directRemote().text(), "127.0.0.1:5000");
      EXPECT_EQ(early.socket().directLocal().text(), "127.0.0.1:80");
      EXPECT_EQ(early.left(), "rest");
      EXPECT_EQ(filter.counts(), header == kV1 ? "versions.v1.found=1 " : "versions.v2.found=1 ");
    }
  }
}

TEST("A proxy that speaks for itself leaves the addresses alone") {
  for (const std::string& header :
       {std::string("PROXY UNKNOWN\r\n"), proxyV2(0x20, 0x11, std::string(kIpv4Pair) + "junk")}) {
    const Filter filter;
    const auto instance = filter.make();
    EarlyBytes early;
    EXPECT_EQ(early.feedInPieces(*instance, header + "rest", 3), Verdict::Continue);
    EXPECT_EQ(early.socket().remote.text(), "127.0.0.1:5000");
    EXPECT(!early.findings().is_local_restored);
    EXPECT_EQ(early.left(), "rest");
  }
}

TEST("Without a header a connection is refused as soon as that is certain, and counted") {
  const Filter filter;
  EarlyBytes early;
  EXPECT_EQ(early.feed(*filter.make(), "GET / HTTP/1.1\r\n"), Verdict::Refuse);
  EXPECT_EQ(filter.counts(), "not_found_disallowed=1 errors=1");
}

TEST("Where none is needed, bytes that cannot become a header pass at once, untouched") {
  plan::ProxyProtocol plan;
  plan.allow_without = true;
  const Filter filter(plan);
  const auto instance = filter.make();
  EarlyBytes early;
  EXPECT_EQ(early.feed(*instance, ""), Verdict::Wait);
  EXPECT_EQ(early.feed(*instance, "P"), Verdict::Wait);
  EXPECT_EQ(early.feed(*instance, "O"), Verdict::Continue);
  EXPECT_EQ(early.left(), "PO");
  EXPECT_EQ(filter.counts(), "not_found_allowed=1 ");
  EarlyBytes with_header;
  EXPECT_EQ(with_header.feed(*filter.make(), kV1), Verdict::Continue);
  EXPECT_EQ(with_header.socket().remote.text(), "1.2.3.4:1111");
}

TEST("A malformed header is refused, as an error of its version") {
  for (const auto& [header, counts] : std::map<std::string, std::string>{
           {"PROXY TCP4 nonsense\r\n", "versions.v1.error=1 errors=1"},
           {proxyV2(0x31, 0x11, kIpv4Pair), "versions.v2.error=1 errors=1"},
           {proxyV2(0x21, 0x11, std::string(kIpv4Pair) + "\1"), "versions.v2.error=1 errors=1"},
           {proxyV2(0x21, 0x11, std::string(kIpv4Pair) + std::string("\1\0\5ab", 5)),
            "versions.v2.error=1 errors=1"}}) {
    const Filter filter;
    EarlyBytes early;
    EXPECT_EQ(early.feed(*filter.make(), header), Verdict::Refuse);
    EXPECT_EQ(filter.counts(), counts);
  }
}

TEST("A version that is not allowed is refused, or passes for no header where none is needed") {
  plan::ProxyProtocol plan;
  plan.disallow_v1 = true;
  const Filter strict(plan);
  EarlyBytes refused;
  EXPECT_EQ(refused.feed(*strict.make(), kV1), Verdict::Refuse);
  EXPECT_EQ(strict.counts(), "versions.v1.disallowed=1 versions.v1.found=1 ");
  plan.allow_without = true;
  const Filter lenient(plan);
  EarlyBytes passed;
  EXPECT_EQ(passed.feed(*lenient.make(), kV1), Verdict::Continue);
  EXPECT_EQ(passed.left(), kV1);
  EXPECT_EQ(lenient.counts(), "not_found_allowed=1 ");
  plan = {};
  plan.disallow_v2 = true;
  const Filter other(plan);
  EarlyBytes early;
  EXPECT_EQ(early.feed(*other.make(), proxyV2(0x21, 0x11, kIpv4Pair).substr(0, 20)),
            Verdict::Refuse);
  EXPECT_EQ(other.counts(), "versions.v2.disallowed=1 versions.v2.found=1 ");
}

TEST("Values that rules name become metadata, the first of a type, however they are cut") {
  const Filter filter(withRules());
  const std::string values = tlv(0xea, "vpce-1") + tlv(4, "nop") + tlv(2, "a.test") +
                             tlv(0xea, "second") + tlv(5, std::string("\xff\0\x10\x20", 4));
  for (const size_t piece : {1, 11, 1000}) {
    const auto instance = filter.make();
    EarlyBytes early;
    const std::string header = proxyV2(0x21, 0x21, std::string(kIpv6Pair) + values);
    EXPECT_EQ(early.feedInPieces(*instance, header + "rest", piece), Verdict::Continue);
    net::Findings& findings = early.findings();
    EXPECT_EQ(findings.metadata[kOwn]["aws"], "vpce-1");
    EXPECT_EQ(findings.metadata[kOwn]["id"], "/wAQIA==");
    EXPECT_EQ(findings.metadata["other"]["authority"], "a.test");
    EXPECT_EQ(findings.metadata.size(), 2u);
    EXPECT(findings.tlvs.empty());
    EXPECT_EQ(early.left(), "rest");
  }
}

TEST("In the filter state the last value of a type stays; bytes that are no text become marks") {
  const Filter filter(withRules(true));
  const std::string values = tlv(0xea, "first") +
                             tlv(0xea,
                                 "\xff"
                                 "a\xe2\x82\xac\xe2\x82") +
                             tlv(2, "");
  EarlyBytes early;
  EXPECT_EQ(early.feed(*filter.make(), proxyV2(0x21, 0x11, std::string(kIpv4Pair) + values)),
            Verdict::Continue);
  EXPECT_EQ(early.findings().tlvs["aws"], "!a\xe2\x82\xac!!");
  EXPECT_EQ(early.findings().tlvs["authority"], "");
  EXPECT(early.findings().metadata.empty());
}

TEST("A header of 64 KiB is taken as it comes, more than a buffer holds") {
  const Filter filter(withRules());
  const std::string value(65'535 - 12 - 3, 'x');
  const std::string header = proxyV2(0x21, 0x11, std::string(kIpv4Pair) + tlv(0xea, value));
  EXPECT_EQ(header.size(), 65'551u);
  const auto instance = filter.make();
  EarlyBytes early;
  EXPECT_EQ(early.feedInPieces(*instance, header + "rest", 1460), Verdict::Continue);
  EXPECT_EQ(early.findings().metadata[kOwn]["aws"], value);
  EXPECT_EQ(early.left(), "rest");
}

}  // namespace fairlead::filters
