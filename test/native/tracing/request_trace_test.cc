#include "tracing/request_trace.h"

#include <cstring>
#include <memory>
#include <string>

#include "test/native/test.h"

namespace fairlead::tracing {

namespace {

// A request of a span of Zipkin, and one try of it.
class Tried {
 public:
  Tried(plan::ZipkinSpans zipkin, bool is_egress, bool spawns_upstream) {
    plan::Tracing plan;
    plan.kind = plan::Tracing::Kind::Zipkin;
    plan.zipkin = zipkin;
    plan.spawns_upstream = spawns_upstream;
    tracing_ = std::make_unique<Tracing>(plan, is_egress, nullptr, spans_);
    head_.headers.add(http::HeaderId::Other, "x-b3-traceid", "0000000000000001");
    head_.headers.add(http::HeaderId::Other, "x-b3-spanid", "0000000000000002");
    head_.headers.add(http::HeaderId::Other, "x-b3-parentspanid", "0000000000000003");
    head_.headers.add(http::HeaderId::Other, "x-b3-sampled", "1");
    trace_.begin({*tracing_, nullptr, Reason::Sampled, head_, random_, 1, 1, true});
    trace_.beginTry(this, "one", 1, 2, nullptr, arena_, random_);
    trace_.tellHost(this, head_.headers, "/", "10.0.0.1:80", 3, arena_);
    const format::FormatContext format;
    trace_.endTry(this, Facts{.format = format, .cluster = {}, .cluster_shown = {}, .now_us = 4});
    const std::string record = spans_.take();
    std::memcpy(&flags_, record.data() + 3 * sizeof(uint32_t), sizeof(flags_));
  }

  std::string heard(std::string_view name) const {
    const http::HeaderEntry* const entry = head_.headers.find(name);
    return entry ? std::string(entry->value()) : std::string();
  }
  bool isServer() const { return (flags_ & Record::kServer) != 0; }

 private:
  http::RequestHead head_;
  Spans spans_{1, nullptr};
  std::unique_ptr<Tracing> tracing_;
  Random random_{1};
  Arena arena_{1024};
  RequestTrace trace_;
  uint32_t flags_ = 0;
};

}  // namespace

TEST("A try of Zipkin is a server’s span, its request’s own where contexts are shared") {
  const Tried shared({.shared_context = true}, false, false);
  EXPECT(shared.isServer());
  EXPECT_EQ(shared.heard("x-b3-spanid"), "0000000000000002");
  EXPECT_EQ(shared.heard("x-b3-parentspanid"), "0000000000000003");
  const Tried own({}, false, false);
  EXPECT(own.isServer());
  EXPECT(own.heard("x-b3-spanid") != "0000000000000002");
  // Below its request's, which is not the client's either.
  EXPECT(own.heard("x-b3-parentspanid") != "0000000000000002");
}

TEST("A try of Zipkin is a client’s span where the proxy is a client, or servers are apart") {
  for (const Tried& tried :
       {Tried({.shared_context = true}, true, false), Tried({.shared_context = true}, false, true),
        Tried({.shared_context = true, .splits_spans = true}, false, false)}) {
    EXPECT(!tried.isServer());
    EXPECT(tried.heard("x-b3-spanid") != "0000000000000002");
  }
  const Tried spawned({.shared_context = true}, false, true);
  EXPECT_EQ(spawned.heard("x-b3-parentspanid"), "0000000000000002");
}

}  // namespace fairlead::tracing
