// Requests that a service is asked about: over HTTP, and over gRPC as HTTP/1 carries it.
#include <cstdio>
#include <string>

#include "base/proto_writer.h"
#include "http/grpc_frames.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// "origin", and a cluster "auth" that is asked.
plan::Update asking(uint16_t origin, uint16_t auth, bool over_http) {
  plan::Update plan = httpPlan({origin});
  plan::Cluster cluster = plan.clusters[0];
  cluster.name = "auth";
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({auth});
  hosts.cluster_name = "auth";
  plan.assignments.push_back(hosts);
  plan::HttpFilter filter;
  plan::ExtAuthz& authz = filter.ext_authz.emplace();
  authz.status_on_error = 403;
  authz.charge_cluster = true;
  plan::ExtAuthzService& service = authz.service.emplace();
  plan::Service& asked = service.service.emplace();
  asked.cluster = "auth";
  asked.timeout_ms = 5000;
  asked.is_internal = true;
  if (over_http) {
    plan::StringMatch told;
    told.kind = plan::StringMatch::Kind::Prefix;
    told.value = "x-";
    service.http.emplace().upstream_headers.emplace().any.push_back(told);
  }
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

std::string answerOf(const std::string& message) {
  std::string frame;
  http::appendGrpcFrameHeader(&frame, 0, message.size());
  frame += message;
  char size[16];
  std::snprintf(size, sizeof(size), "%zx", frame.size());
  return "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n" +
         std::string(size) + "\r\n" + frame + "\r\n0\r\ngrpc-status: 0\r\n\r\n";
}

Origin::Script saying(std::string answer) {
  return [answer = std::move(answer)](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write(answer)) return;
    }
  };
}

}  // namespace

TEST("A service of HTTP lets a request go on with headers of its own") {
  Origin origin(repeatRequests);
  Origin auth(saying("HTTP/1.1 200 OK\r\nx-user: ann\r\nother: no\r\ncontent-length: 0\r\n\r\n"));
  Proxy proxy(asking(origin.port(), auth.port(), true));
  const std::string answer = get(proxy, "/");
  EXPECT(has(answer, "x-user: ann"));
  EXPECT(!has(answer, "other: no"));
  EXPECT_EQ(proxy.stat("cluster.auth.internal.upstream_rq_200"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ext_authz.ok"), 1u);
}

TEST("What a service of HTTP refuses is answered as it says") {
  Origin origin(repeatRequests);
  Origin auth(saying("HTTP/1.1 401 No\r\nx-why: because\r\ncontent-length: 2\r\n\r\nno"));
  Proxy proxy(asking(origin.port(), auth.port(), true));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 401 "));
  EXPECT(has(answer, "x-why: because"));
  EXPECT(answer.ends_with("\r\n\r\nno"));
  EXPECT_EQ(proxy.stat("http.in.ext_authz.denied"), 1u);
}

TEST("A service that is not there is an error, and so is an answer that makes no sense") {
  Origin origin(repeatRequests);
  Origin auth(saying(answerOf("\xff\xff\xff")));
  Proxy proxy(asking(origin.port(), auth.port(), false));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 403 "));
  plan::Update gone = asking(origin.port(), auth.port(), false);
  gone.clusters.pop_back();
  gone.assignments.pop_back();
  Proxy without(gone);
  EXPECT(get(without, "/").starts_with("HTTP/1.1 403 "));
  EXPECT_EQ(without.stat("http.in.ext_authz.error"), 1u);
}

TEST("A call whose metadata no head can hold fails, and its host hears nothing of it") {
  Origin origin(repeatRequests);
  Origin auth(saying(answerOf({})));
  for (const auto& [name, value] :
       {std::pair("x a", "v"), std::pair("x:a", "v"), std::pair("x-a", "a\rb")}) {
    plan::Update plan = asking(origin.port(), auth.port(), false);
    plan::HeaderAddition& added =
        managerOf(plan).http_filters[0].ext_authz->service->service->metadata.emplace_back();
    added.name = name;
    added.value.emplace().pieces.emplace_back().argument = value;
    Proxy proxy(plan);
    EXPECT(get(proxy, "/").starts_with("HTTP/1.1 403 "));
    EXPECT_EQ(proxy.stat("http.in.ext_authz.error"), 1u);
    EXPECT_EQ(proxy.stat("cluster.auth.upstream_rq_total"), 1u);
    EXPECT_EQ(proxy.stat("cluster.auth.upstream_cx_destroy_local_with_active_rq"), 1u);
    EXPECT_EQ(proxy.stat("cluster.auth.internal.upstream_rq_completed"), 0u);
  }
}

TEST("A service of gRPC changes a request, and the answer that it gets") {
  const auto option = [](std::string_view name, std::string_view value) {
    ProtoWriter header;
    header.bytes(1, name);
    header.bytes(2, value);
    ProtoWriter option;
    option.bytes(1, header.view());
    return option;
  };
  ProtoWriter ok;
  ok.bytes(2, option("x-user", "ann").view());
  ok.bytes(6, option("x-seen", "yes").view());
  ok.bytes(5, "x-secret");
  ProtoWriter message;
  message.bytes(1, {});
  message.bytes(3, ok.view());
  Origin origin(repeatRequests);
  Origin auth(saying(answerOf(message.take())));
  plan::Update plan = asking(origin.port(), auth.port(), false);
  // Of HTTP/1, which has them only where that is wanted.
  plan.clusters.back().enable_trailers = true;
  Proxy proxy(plan);
  const std::string answer = get(proxy, "/", "x-secret: s\r\n");
  EXPECT(has(answer, "x-seen: yes\r\n"));
  EXPECT(has(answer, "x-user: ann\r\n"));
  EXPECT(!has(answer, "x-secret"));
}

TEST("An answer with more headers than may be is none, where that is wanted") {
  ProtoWriter ok;
  for (int i = 0; i < 120; ++i) {
    ProtoWriter header;
    header.bytes(1, "x-r" + std::to_string(i));
    header.bytes(2, "v");
    ProtoWriter option;
    option.bytes(1, header.view());
    ok.bytes(6, option.view());
  }
  ProtoWriter message;
  message.bytes(1, {});
  message.bytes(3, ok.view());
  Origin origin(repeatRequests);
  Origin auth(saying(answerOf(message.take())));
  plan::Update plan = asking(origin.port(), auth.port(), false);
  for (plan::Cluster& cluster : plan.clusters) cluster.max_headers_count = 100;
  plan.clusters.back().enable_trailers = true;
  managerOf(plan).http_filters.back().ext_authz->limits_response_headers = true;
  Proxy proxy(plan);
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 500 "));
  EXPECT(!has(answer, "x-r0"));
  EXPECT_EQ(proxy.stat("http.in.ext_authz.response_header_limits_reached"), 1u);
}

TEST("A client that leaves while its request is asked about takes the call along") {
  Origin origin(repeatRequests);
  Origin auth([](Socket& socket, int) {
    while (!socket.readMessage().empty()) continue;
  });
  Proxy proxy(asking(origin.port(), auth.port(), true));
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(proxy.waitFor("cluster.auth.upstream_rq_active", 1));
  }
  EXPECT(proxy.waitFor("cluster.auth.upstream_rq_active", 0));
  proxy.expectQuiet();
}

TEST("Nothing that a service of gRPC says ends a line, of a request or of an answer") {
  const auto option = [](std::string_view name, std::string_view value) {
    ProtoWriter header;
    header.bytes(1, name);
    header.bytes(2, value);
    ProtoWriter option;
    option.bytes(1, header.view());
    return option;
  };
  constexpr std::string_view kEvil = "b\r\nx-evil: 1\r\nx: y";
  ProtoWriter pair;
  pair.bytes(1, "q");
  pair.bytes(2, "1 HTTP/1.1\r\nx-evil: 1\r\n\r\n");
  ProtoWriter good_pair;
  good_pair.bytes(1, "p");
  good_pair.bytes(2, "2");
  ProtoWriter ok;
  ok.bytes(2, option("x-a", kEvil).view());
  ok.bytes(2, option("x-b", "fine").view());
  ok.bytes(6, option("x-c", kEvil).view());
  ok.bytes(6, option("x-d", "fine").view());
  ok.bytes(7, pair.view());
  ok.bytes(7, good_pair.view());
  ProtoWriter passed;
  passed.bytes(1, {});
  passed.bytes(3, ok.view());
  ProtoWriter no;
  no.bytes(2, option("x-c", kEvil).view());
  no.bytes(2, option("x-e\r\nx-evil", "1").view());
  no.bytes(2, option("x-d", "fine").view());
  ProtoWriter code;
  code.number(1, 7);
  ProtoWriter denied;
  denied.bytes(1, code.view());
  denied.bytes(2, no.view());
  for (const std::string& message : {passed.take(), denied.take()}) {
    Origin origin(repeatRequests);
    Origin auth(saying(answerOf(message)));
    plan::Update plan = asking(origin.port(), auth.port(), false);
    plan.clusters.back().enable_trailers = true;
    Proxy proxy(plan);
    const std::string answer = get(proxy, "/?a=0");
    EXPECT(has(answer, "x-d: fine\r\n"));
    EXPECT(!has(answer, "evil"));
    if (!answer.starts_with("HTTP/1.1 200 ")) continue;
    EXPECT(has(answer, "GET /?a=0&p=2 HTTP/1.1\r\n"));
    EXPECT(has(answer, "x-b: fine\r\n"));
  }
}

}  // namespace fairlead::test
