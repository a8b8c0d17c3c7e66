#include "filters/listener/original_dst.h"

#include <arpa/inet.h>

#include "test/native/filters/listener/early_bytes.h"
#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead::filters {

using test::EarlyBytes;
using test::Verdict;

TEST("A connection that was redirected is one to where its client wanted to go") {
  sockaddr_in meant_for = {};
  meant_for.sin_family = AF_INET;
  meant_for.sin_port = htons(443);
  meant_for.sin_addr.s_addr = htonl(0xc0000201);
  const test::Redirecting redirecting(meant_for);
  EarlyBytes early;
  EXPECT_EQ(early.feed(*OriginalDstConfig().make(0), ""), Verdict::Continue);
  EXPECT_EQ(early.socket().local.text(), "192.0.2.1:443");
  EXPECT_EQ(early.socket().directLocal().text(), "127.0.0.1:80");
  EXPECT(early.findings().is_local_restored);
}

TEST("A connection that nobody redirected stays one to where it came") {
  EarlyBytes early;
  EXPECT_EQ(early.feed(*OriginalDstConfig().make(0), ""), Verdict::Continue);
  EXPECT_EQ(early.socket().local.text(), "127.0.0.1:80");
  EXPECT(!early.findings().is_local_restored);
}

}  // namespace fairlead::filters
