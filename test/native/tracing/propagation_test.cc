#include "tracing/propagation.h"

#include <memory>
#include <utility>

#include "test/native/test.h"

namespace fairlead::tracing {

namespace {

using Kind = plan::Tracing::Kind;

// What comes with a request, what is made of it, and what its host hears.
class Exchange {
 public:
  Exchange(Kind kind, std::vector<std::pair<std::string, std::string>> said,
           plan::ZipkinSpans zipkin = {.shared_context = true}, bool is_traced = true)
      : said_(std::move(said)), headers_(std::make_unique<http::HeaderMap>()) {
    plan::Tracing plan;
    plan.kind = kind;
    plan.zipkin = zipkin;
    tracing_ = std::make_unique<Tracing>(plan, false, nullptr, spans_);
    for (const auto& [name, value] : said_) headers_->add(http::HeaderId::Other, name, value);
    begun = beginSpan({*tracing_, *headers_, random_, is_traced, 1'700'000'000'000'000}, &ids,
                      &baggage);
    if (begun) tellHost({*tracing_, ids, baggage, "/op", "10.0.0.1:80"}, *headers_, arena_);
  }

  // Empty: the host does not hear it.
  std::string heard(std::string_view name) const {
    const http::HeaderEntry* const entry = headers_->find(name);
    return entry ? std::string(entry->value()) : std::string();
  }

  bool begun = false;
  SpanIds ids;
  Baggage baggage;

 private:
  const std::vector<std::pair<std::string, std::string>> said_;
  const std::unique_ptr<http::HeaderMap> headers_;
  Spans spans_{1, nullptr};
  std::unique_ptr<Tracing> tracing_;
  Random random_{1};
  Arena arena_{1024};
};

}  // namespace

TEST("A trace of Zipkin begins with a span whose id it has") {
  const Exchange fresh(Kind::Zipkin, {});
  EXPECT(fresh.begun);
  EXPECT_EQ(fresh.ids.span, fresh.ids.trace_low);
  EXPECT(!fresh.ids.has_parent);
  EXPECT_EQ(fresh.heard("x-b3-sampled"), "1");
  EXPECT_EQ(fresh.heard("x-b3-traceid").size(), 16u);
  const Exchange unsampled(Kind::Zipkin, {}, {.trace_id_128bit = true}, false);
  EXPECT_EQ(unsampled.heard("x-b3-sampled"), "0");
  EXPECT_EQ(unsampled.heard("x-b3-traceid").size(), 32u);
}

TEST("A server’s span of Zipkin is its client’s, unless contexts are not shared") {
  const std::vector<std::pair<std::string, std::string>> said = {
      {"x-b3-traceid", "00000000000000010000000000000002"},
      {"x-b3-spanid", "0000000000000003"},
      {"x-b3-parentspanid", "0000000000000004"},
      {"x-b3-sampled", "0"}};
  const Exchange shared(Kind::Zipkin, said);
  EXPECT_EQ(shared.ids.span, 3u);
  EXPECT_EQ(shared.ids.parent, 4u);
  EXPECT(!shared.ids.is_sampled);
  const Exchange own(Kind::Zipkin, said, {.shared_context = false});
  EXPECT_EQ(own.ids.parent, 3u);
  EXPECT(own.ids.span != 3u);
  EXPECT_EQ(own.heard("x-b3-traceid"), "00000000000000010000000000000002");
  EXPECT_EQ(own.heard("x-b3-parentspanid"), "0000000000000003");
}

TEST("What came as one header of Zipkin goes on as one") {
  const Exchange whole(
      Kind::Zipkin,
      {{"b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90"}});
  EXPECT_EQ(whole.heard("b3"),
            "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90");
  EXPECT_EQ(whole.heard("x-b3-traceid"), "");
  const Exchange no(Kind::Zipkin, {{"b3", "0"}});
  EXPECT(no.heard("b3").ends_with("-0"));
  for (const char* wrong : {"", "x", "abc", "80f198ee56343ba8-e457b5a2e4d86bd1-",
                            "80f198ee56343ba8-e457b5a2e4d86bd1-1-", "80f198ee56343ba8:1"}) {
    EXPECT(!Exchange(Kind::Zipkin, {{"b3", wrong}}).begun);
  }
}

TEST("Headers of the W3C stand in for those of Zipkin where that is configured") {
  const std::vector<std::pair<std::string, std::string>> said = {
      {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  const Exchange with(Kind::Zipkin, said, {.shared_context = true, .with_w3c = true});
  EXPECT_EQ(with.heard("x-b3-traceid"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(with.heard("traceparent"), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  const Exchange without(Kind::Zipkin, said);
  EXPECT(without.heard("x-b3-traceid") != "0af7651916cd43dd8448eb211c80319c");
}

TEST("OpenTelemetry goes on with a traceparent, and with no wrong one") {
  const Exchange goes(Kind::OpenTelemetry,
                      {{"traceparent", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},
                       {"tracestate", "a=b"}});
  EXPECT_EQ(goes.ids.trace_high, 0x0af7651916cd43ddu);
  EXPECT_EQ(goes.ids.parent, 0xb7ad6b7169203331u);
  EXPECT(!goes.ids.is_sampled);
  EXPECT(goes.heard("traceparent").starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
  EXPECT_EQ(goes.heard("tracestate"), "a=b");
  for (const char* wrong : {"", "zz", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g"}) {
    const Exchange broken(Kind::OpenTelemetry, {{"traceparent", wrong}});
    EXPECT(!broken.begun);
    EXPECT_EQ(broken.heard("traceparent"), wrong);
  }
}

TEST("Datadog speaks decimal, and hands on what it was told") {
  const Exchange goes(Kind::Datadog, {{"x-datadog-trace-id", "123"},
                                      {"x-datadog-parent-id", "456"},
                                      {"x-datadog-sampling-priority", "0"},
                                      {"x-datadog-origin", "o"}});
  EXPECT_EQ(goes.heard("x-datadog-trace-id"), "123");
  EXPECT_EQ(goes.heard("x-datadog-sampling-priority"), "0");
  EXPECT_EQ(goes.ids.parent, 456u);
  EXPECT(goes.heard("tracestate").starts_with("dd=s:0;p:"));
  EXPECT(goes.heard("tracestate").ends_with(";o:o"));
  EXPECT(goes.heard("traceparent").starts_with("00-0000000000000000000000000000007b-"));
  const Exchange fresh(Kind::Datadog, {});
  EXPECT_EQ(fresh.heard("x-datadog-sampling-priority"), "1");
  EXPECT_EQ(fresh.heard("x-datadog-tags"), "_dd.p.tid=6553f10000000000,_dd.p.dm=-0");
}

TEST("SkyWalking goes on with a segment, and begins a trace where there is none") {
  const Exchange goes(
      Kind::Skywalking,
      {{"sw8", "1-MQ==-NQ==-3-bWVzaA==-aW5zdGFuY2U=-L2FwaQ==-ZXhhbXBsZS5jb206ODA4MA=="}});
  EXPECT_EQ(goes.baggage.trace, "1");
  EXPECT(goes.heard("sw8").starts_with("1-MQ==-"));
  EXPECT(goes.heard("sw8").ends_with("-L29w-MTAuMC4wLjE6ODA="));
  const Exchange fresh(Kind::Skywalking, {{"sw8", "bad"}});
  EXPECT(fresh.begun);
  EXPECT_EQ(fresh.baggage.trace.size(), 36u);
}

}  // namespace fairlead::tracing
