// Hosts that are asked for their load, on loopback.
#include <string>
#include <utility>

#include "base/proto_writer.h"
#include "http/grpc_frames.h"
#include "test/native/http/http2/wire.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using http2::FrameType;

plan::Update askingPlan(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan::Cluster& cluster = plan.clusters[0];
  plan::LoadWeights& weights = cluster.load_weights.emplace();
  weights.expiration_ms = 60'000;
  weights.update_ms = 5;
  plan::LoadQuestions& questions = cluster.load_questions.emplace();
  questions.period_ms = 2000;
  questions.authority = "orca.test";
  questions.http2 = http2::defaultOptions();
  return plan;
}

std::string reportOf(double rate, double load) {
  ProtoWriter report;
  report.real(6, rate);
  report.real(9, load);
  std::string framed;
  http::appendGrpcFrameHeader(&framed, 0, report.view().size());
  return framed.append(report.view());
}

// Answers the first stream so, and waits for the end. `heard`: where what was asked goes.
Origin::Script answeringFirst(http2::TestFields head, std::string body, bool ends = false,
                              std::string* heard = nullptr) {
  return [=, head = std::move(head), body = std::move(body)](Socket& socket, int) {
    std::string asked;
    while (asked.find("orca") == std::string::npos && asked.size() < 64 * 1024) {
      const std::string more = socket.read();
      if (more.empty()) return;
      asked += more;
      // Names are compressed: the question's own bytes end it.
      if (asked.find(std::string("\x0a\x02\x08\x02", 4)) != std::string::npos) break;
    }
    if (heard) *heard = asked;
    http2::BlockWriter writer;
    socket.write(http2::frame(FrameType::Settings, 0, 0, ""));
    socket.write(writer.headers(1, head, ends));
    if (!body.empty()) socket.write(http2::dataFrame(1, body, false));
    socket.readAll();
  };
}

const http2::TestFields kGrpc = {{":status", "200"}, {"content-type", "application/grpc"}};
const std::string kOob = "cluster.origin.lb_orca_oob.";

uint32_t weightOf(Proxy& proxy) {
  return proxy.dataPlane().clusters().at("origin")->hosts()->hosts()[0]->weight();
}

}  // namespace

TEST("What a host reports when it is asked becomes its weight") {
  Origin host(answeringFirst(kGrpc, reportOf(100, 0.5) + reportOf(100, 0.25)));
  Proxy proxy(askingPlan(host.port()));
  EXPECT(proxy.waitFor(kOob + "reports_received", 2));
  EXPECT_EQ(proxy.stat(kOob + "active_sessions"), 1u);
  EXPECT(proxy.waitUntil([&] {
    proxy.dataPlane().takeHealth();
    return weightOf(proxy) == 400;
  }));
  EXPECT_EQ(proxy.stat(kOob + "stream_failures"), 0u);
}

TEST("A report that says too little is counted; what is none breaks the stream") {
  std::string framed;
  http::appendGrpcFrameHeader(&framed, 0, 3);
  Origin host(answeringFirst(kGrpc, reportOf(0, 0.5) + framed + "\xff\xff\xff"));
  Proxy proxy(askingPlan(host.port()));
  EXPECT(proxy.waitFor(kOob + "report_errors", 1));
  EXPECT(proxy.waitFor(kOob + "stream_failures", 1));
  EXPECT_EQ(proxy.stat(kOob + "active_sessions"), 1u);
}

TEST("A host that does not know the question is asked no more") {
  for (const http2::TestFields& head :
       {http2::TestFields{{":status", "404"}},
        http2::TestFields{
            {":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "12"}}}) {
    Origin host(answeringFirst(head, "", true));
    Proxy proxy(askingPlan(host.port()));
    EXPECT(proxy.waitFor(kOob + "stream_terminated", 1));
    EXPECT(proxy.waitFor(kOob + "active_sessions", 0));
    EXPECT_EQ(proxy.stat(kOob + "stream_failures"), 0u);
    EXPECT(host.connections() == 1);
  }
}

TEST("A host that is away, or says no, is asked again") {
  http2::TestFields busy = kGrpc;
  busy.emplace_back("grpc-status", "14");
  Origin host(answeringFirst(busy, "", true));
  Proxy proxy(askingPlan(host.port()));
  EXPECT(proxy.waitUntil([&] { return proxy.stat(kOob + "stream_failures") >= 2; }));
  EXPECT(host.connections() >= 2);
  EXPECT_EQ(proxy.stat(kOob + "active_sessions"), 1u);
}

}  // namespace fairlead::test
