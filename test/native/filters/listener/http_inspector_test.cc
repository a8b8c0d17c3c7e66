#include "filters/listener/http_inspector.h"

#include "net/loop.h"
#include "test/native/filters/listener/early_bytes.h"
#include "test/native/test.h"

namespace fairlead::filters {

namespace {

using test::EarlyBytes;
using test::Verdict;

struct Inspector {
  uint64_t count(const std::string& name) {
    return registry.value("http_inspector." + name).value_or(0);
  }
  stats::Registry registry{1};
  HttpInspectorConfig config{registry};
};

}  // namespace

TEST("An HTTP inspector names the protocol for filter chains and leaves the bytes where they are") {
  struct Case {
    std::string bytes;
    std::string protocol;
    std::string counter;
  };
  for (const Case& it : {Case{"GET / HTTP/1.1\r\n", "http/1.1", "http11_found"},
                         Case{"GET / HTTP/1.0\r\n", "http/1.0", "http10_found"},
                         Case{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "h2c", "http2_found"}}) {
    Inspector inspector;
    const auto filter = inspector.config.make(0);
    EarlyBytes early;
    EXPECT_EQ(early.feedInPieces(*filter, it.bytes, 1), Verdict::Continue);
    EXPECT_EQ(early.findings().application_protocols.size(), 1u);
    EXPECT_EQ(early.findings().application_protocols[0], it.protocol);
    EXPECT_EQ(early.left(), it.bytes);
    EXPECT_EQ(inspector.count(it.counter), 1u);
  }
}

TEST("What is not HTTP passes without a protocol") {
  Inspector inspector;
  EarlyBytes early;
  EXPECT_EQ(early.feed(*inspector.config.make(0), "\x16\x03\x01"), Verdict::Continue);
  EXPECT(early.findings().application_protocols.empty());
  EXPECT_EQ(inspector.count("http_not_found"), 1u);
}

TEST("A first line that fills the whole buffer is refused, as nobody can say what it is") {
  Inspector inspector;
  const auto filter = inspector.config.make(0);
  EarlyBytes early;
  const std::string line = "GET /" + std::string(net::Loop::kReadBufferBytes, 'a');
  EXPECT_EQ(early.feed(*filter, line.substr(0, net::Loop::kReadBufferBytes - 1)), Verdict::Wait);
  EXPECT_EQ(early.feed(*filter, "a"), Verdict::Refuse);
  EXPECT_EQ(inspector.count("read_error"), 1u);
}

TEST("What another filter found to be encrypted is not looked at") {
  Inspector inspector;
  EarlyBytes early;
  early.findings().transport_protocol = "tls";
  EXPECT_EQ(early.feed(*inspector.config.make(0), "GET / HTTP/1.1\r\n"), Verdict::Continue);
  EXPECT(early.findings().application_protocols.empty());
  EXPECT_EQ(inspector.count("http11_found"), 0u);
}

}  // namespace fairlead::filters
