// Requests of which a service says how many there may be, over gRPC as HTTP/1 carries it.
#include <cstdio>
#include <string>

#include "base/proto_writer.h"
#include "http/grpc_frames.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr uint64_t kFine = 1;
constexpr uint64_t kTooMany = 2;

// "origin", and a cluster "limits" that is asked about all requests that have a header x-user.
plan::Update limiting(uint16_t origin, uint16_t limits) {
  plan::Update plan = httpPlan({origin});
  plan::Cluster cluster = plan.clusters[0];
  cluster.name = "limits";
  cluster.enable_trailers = true;
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({limits});
  hosts.cluster_name = "limits";
  plan.assignments.push_back(hosts);
  plan::HttpFilter filter;
  plan::Ratelimit& ratelimit = filter.ratelimit.emplace();
  ratelimit.domain = "shop";
  ratelimit.status = 429;
  ratelimit.status_on_error = 500;
  plan::Service& service = ratelimit.service.emplace();
  service.cluster = "limits";
  service.authority = "limits";
  service.timeout_ms = 5000;
  plan::RateLimitAction action;
  action.kind = plan::RateLimitAction::Kind::Header;
  action.key = "user";
  action.name = "x-user";
  plan::RateLimit limit;
  limit.actions.push_back(action);
  ratelimit.own_limits.emplace().limits.push_back(limit);
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

plan::Ratelimit& ratelimitOf(plan::Update& plan) {
  return *managerOf(plan).http_filters[0].ratelimit;
}

// RateLimitResponse, with a header for the answer.
std::string answerOf(uint64_t code) {
  ProtoWriter header;
  header.bytes(1, "x-left");
  header.bytes(2, "7");
  ProtoWriter message;
  message.number(1, code);
  message.bytes(3, header.view());
  std::string frame;
  http::appendGrpcFrameHeader(&frame, 0, message.view().size());
  frame += message.view();
  char size[16];
  std::snprintf(size, sizeof(size), "%zx", frame.size());
  return "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n" +
         std::string(size) + "\r\n" + frame + "\r\n0\r\ngrpc-status: 0\r\n\r\n";
}

Origin::Script saying(uint64_t code) {
  return [answer = answerOf(code)](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write(answer)) return;
    }
  };
}

// Says that it is well with calls that have this line, and turns others away.
Origin::Script wanting(std::string line) {
  return [line = std::move(line)](Socket& socket, int) {
    for (std::string call; !(call = socket.readMessage()).empty();) {
      const bool is_there = call.find("\r\n" + line + "\r\n") != std::string::npos;
      if (!socket.write(answerOf(is_there ? kFine : kTooMany))) return;
    }
  };
}

Origin::Script fine() {
  return [](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    }
  };
}

}  // namespace

TEST("A request within its limit goes on, and its answer says what is left") {
  Origin origin(fine());
  Origin limits(saying(kFine));
  Proxy proxy(limiting(origin.port(), limits.port()));
  const std::string answer = get(proxy, "/", "x-user: ann\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(has(answer, "x-left: 7\r\n"));
  proxy.expectQuiet();
}

TEST("A request beyond its limit is refused; one that nobody limits is not asked about") {
  Origin origin(fine());
  Origin limits(saying(kTooMany));
  Proxy proxy(limiting(origin.port(), limits.port()));
  const std::string answer = get(proxy, "/", "x-user: ann\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 429 "));
  EXPECT(has(answer, "x-envoy-ratelimited: true\r\n"));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(proxy.stat("cluster.limits.upstream_rq_total"), 1u);
}

TEST("Metadata of calls that is binary goes as Base64, of texts and formats") {
  Origin origin(fine());
  const auto statusOf = [&](bool is_google, std::string line) {
    Origin limits(wanting(std::move(line)));
    plan::Update plan = limiting(origin.port(), limits.port());
    plan::Service& service = *ratelimitOf(plan).service;
    if (is_google) service.stat_prefix = "google";
    plan::HeaderAddition& addition = service.metadata.emplace_back();
    addition.name = "x-user-bin";
    addition.action = plan::HeaderAddition::Action::OverwriteOrAdd;
    std::vector<plan::FormatPiece>& pieces = addition.value.emplace().pieces;
    pieces.resize(2);
    pieces[0].argument = "a ";
    pieces[1].op = plan::FormatPiece::Operator::Req;
    pieces[1].argument = "x-user";
    Proxy proxy(plan);
    return get(proxy, "/", "x-user: ann\r\n").substr(9, 3);
  };
  EXPECT_EQ(statusOf(false, "x-user-bin: YSBhbm4="), "200");
  EXPECT_EQ(statusOf(true, "x-user-bin: YSBhbm4"), "200");
}

TEST("Without its service a request goes on, unless it must not") {
  Origin origin(fine());
  Origin limits(saying(kFine));
  plan::Update open = limiting(origin.port(), limits.port());
  ratelimitOf(open).service->cluster = "nobody";
  plan::Update strict = open;
  ratelimitOf(strict).failure_mode_deny = true;
  Proxy lenient(open);
  EXPECT(get(lenient, "/", "x-user: ann\r\n").starts_with("HTTP/1.1 200 "));
  Proxy closed(strict);
  EXPECT(get(closed, "/", "x-user: ann\r\n").starts_with("HTTP/1.1 500 "));
}

}  // namespace fairlead::test
