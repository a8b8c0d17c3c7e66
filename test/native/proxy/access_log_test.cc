// What access logs say of a request: its head as routing left it, and how far it came.
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "test/native/http/http2/wire.h"
#include "test/native/proxy/http2_plan.h"
#include "test/native/support/exchange.h"
#include "test/native/support/kernel.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Operator = plan::FormatPiece::Operator;

plan::FormatPiece piece(Operator op, std::string argument = {}, std::string alternative = {}) {
  return {op, std::move(argument), std::move(alternative)};
}

class LogFile {
 public:
  LogFile() { ::close(::mkstemp(path_)); }
  ~LogFile() { ::unlink(path_); }
  const char* path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  char path_[32] = "/tmp/fairlead-access-XXXXXX";
};

// Every request is logged with these pieces, and a blank after each.
void logTo(const LogFile& file, plan::Update& plan, const std::vector<plan::FormatPiece>& pieces) {
  plan::AccessLog& log = plan.listeners[0].filter_chains[0].http->access_logs.emplace_back();
  log.path = file.path();
  log.format.emplace();
  for (const plan::FormatPiece& operator_piece : pieces) {
    log.format->pieces.push_back(operator_piece);
    log.format->pieces.push_back(piece(Operator::Literal, " "));
  }
  log.format->pieces.back().argument = "\n";
}

// Adds "x-added: PATH" to requests and sends them to /new.
void rewriteAll(plan::Update& plan) {
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  plan::HeaderAddition& addition = route.mutations.emplace().request_add.emplace_back();
  addition.name = "x-added";
  addition.value.emplace().pieces.push_back(piece(Operator::Req, ":path"));
  route.mutations->request_remove.push_back("x-secret");
  plan::PathRewrite& rewrite = route.cluster->path_rewrite.emplace();
  rewrite.kind = plan::PathRewrite::Kind::Prefix;
  rewrite.value = "/new/";
}

// Over HTTP/2, with room for ten bytes of each answer.
Socket connectNarrow(Proxy& proxy) {
  using namespace http2;
  Socket client = proxy.connect();
  client.write(std::string(kPreface) + frame(FrameType::Settings, 0, 0, setting(4, 10)));
  return client;
}

std::string getOf(http2::BlockWriter& blocks, uint32_t id, const std::string& path) {
  return blocks.headers(
      id, {{":method", "GET"}, {":scheme", "http"}, {":path", path}, {":authority", "a"}}, true);
}

}  // namespace

TEST("Requests on a connection to a host ask the kernel once where it is from") {
  const LogFile file;
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  logTo(file, plan, {piece(Operator::UpstreamLocalAddress)});
  {
    Proxy proxy(plan);
    Socket client = proxy.connect();
    const auto ask = [&client] {
      client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      EXPECT(client.readMessage().ends_with("hello"));
    };
    ask();
    const uint64_t before = callCount(Call::Getsockname);
    for (int i = 0; i < 10; ++i) ask();
    EXPECT_EQ(callCount(Call::Getsockname), before);
  }
  std::string text = file.text();
  const std::string line = text.substr(0, text.find('\n') + 1);
  EXPECT(line.starts_with("127.0.0.1:"));
  std::string wanted;
  for (int i = 0; i < 11; ++i) wanted += line;
  EXPECT_EQ(text, wanted);
}

// Cut anywhere, what is broken may be seen before all of it has come.
RAW_TEST("A listener's log has a line for each connection, with all bytes of it") {
  const LogFile file;
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan::AccessLog& log = plan.listeners[0].access_logs.emplace_back();
  log.path = file.path();
  log.format.emplace().pieces = {piece(Operator::Protocol),      piece(Operator::Literal, " "),
                                 piece(Operator::ResponseFlags), piece(Operator::Literal, " "),
                                 piece(Operator::BytesReceived), piece(Operator::Literal, " "),
                                 piece(Operator::BytesSent),     piece(Operator::Literal, "\n")};
  std::string lines;
  {
    Proxy proxy(plan);
    const std::string get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    Socket good = proxy.connect();
    size_t answered = 0;
    for (int i = 0; i < 2; ++i) {
      good.write(get);
      answered += good.readMessage().size();
    }
    good.close();
    lines = "HTTP/1.1 - " + std::to_string(2 * get.size()) + " " + std::to_string(answered) + "\n";
    proxy.expectQuiet();
    Socket broken = proxy.connect();
    broken.write("broken\r\n\r\n");
    const std::string answer = broken.readMessage();
    lines += "- DPE 10 " + std::to_string(answer.size()) + "\n";
    broken.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), lines);
}

TEST("A line speaks of the request's head as routing left it") {
  const LogFile file;
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  rewriteAll(plan);
  logTo(file, plan,
        {piece(Operator::Req, ":path"), piece(Operator::Req, "x-envoy-original-path", ":path"),
         piece(Operator::Req, "x-added"), piece(Operator::Req, "x-secret"),
         piece(Operator::StreamId), piece(Operator::LocalReplyBody)});
  {
    Proxy proxy(plan);
    Socket client = proxy.connect();
    for (int i = 0; i < 2; ++i) {
      // First a connection has to be made, then one is at hand.
      client.write("GET /a HTTP/1.1\r\nhost: a\r\nx-secret: s\r\nx-request-id: id\r\n\r\n");
      EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
    }
    client.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), "/new/a /a /a - id \n/new/a /a /a - id \n");
}

RAW_TEST("A client that leaves is logged with what was known of its request") {
  const LogFile file;
  Origin origin([](Socket& socket, int) { socket.readAll(); });
  plan::Update plan = httpPlan({origin.port()});
  rewriteAll(plan);
  logTo(file, plan,
        {piece(Operator::Req, ":path"), piece(Operator::Req, ":scheme"),
         piece(Operator::ResponseCode), piece(Operator::ResponseFlags),
         piece(Operator::UpstreamProtocol), piece(Operator::ResponseHeadersBytes)});
  {
    Proxy proxy(plan);
    Socket whole = proxy.connect();
    whole.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_total", 1));
    whole.close();
    proxy.expectQuiet();
    Socket part = proxy.connect();
    part.write("GET /a HT");
    EXPECT(proxy.waitFor("http.in.downstream_cx_rx_bytes_buffered", 9));
    part.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), "/new/a http 0 DC HTTP/1.1 0\n- - 0 DC - 0\n");
}

TEST("Bytes on the wire are those of one exchange, the next request's begin at none") {
  const LogFile file;
  const std::string answer =
      "HTTP/1.1 200 OK\r\nx-a:  b\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
  Origin origin([&](Socket& socket, int) {
    while (!socket.readMessage().empty()) socket.write(answer);
  });
  plan::Update plan = httpPlan({origin.port()});
  logTo(file, plan,
        {piece(Operator::DownstreamWireBytesReceived),
         piece(Operator::DownstreamHeaderBytesReceived), piece(Operator::DownstreamWireBytesSent),
         piece(Operator::UpstreamWireBytesReceived), piece(Operator::UpstreamHeaderBytesReceived)});
  std::string expected;
  {
    Proxy proxy(plan);
    Socket client = proxy.connect();
    for (const std::string request :
         {"GET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET /2 HTTP/1.1\r\nhost:a\r\n\r\n"}) {
      client.write(request);
      const std::string got = client.readMessage();
      EXPECT(got.ends_with("\r\n1\r\na\r\n0\r\n\r\n"));
      // Of header lines: "host", "a" and three more; "x-a", "b", and the coding.
      expected += std::to_string(request.size()) + " 8 " + std::to_string(got.size()) + " " +
                  std::to_string(answer.size()) + " " + std::to_string(7 + 17 + 7 + 3) + "\n";
    }
    client.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), expected);
}

TEST("A request that no host gets is prepared as one that does, and has no host") {
  const LogFile file;
  plan::Update plan = httpPlan({});
  plan.route_tables[0].virtual_hosts[0].include_attempt_count_in_response = true;
  rewriteAll(plan);
  logTo(file, plan,
        {piece(Operator::Req, ":path"), piece(Operator::Req, "x-added"),
         piece(Operator::UpstreamRequestAttemptCount), piece(Operator::UpstreamHost)});
  {
    Proxy proxy(plan);
    Socket client = proxy.connect();
    client.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\n");
    const std::string answer = client.readMessage();
    EXPECT(answer.find("\r\nx-envoy-attempt-count: 1\r\n") != std::string::npos);
    EXPECT(answer.ends_with("no healthy upstream"));
    client.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), "/new/a /a 1 -\n");
}

TEST("A host that a request had no place in the queue for is not the request's") {
  const LogFile file;
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_pending_requests = 0;
  logTo(file, plan, {piece(Operator::ResponseFlags), piece(Operator::UpstreamHost)});
  {
    Proxy proxy(plan);
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503 "));
    client.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(file.text(), "UO -\n");
}

TEST("A request that the router sheds is prepared as one that is tried, at no host") {
  const LogFile file;
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  rewriteAll(plan);
  logTo(file, plan,
        {piece(Operator::Req, ":path"), piece(Operator::ResponseCodeDetails),
         piece(Operator::UpstreamRequestAttemptCount), piece(Operator::UpstreamHost)});
  {
    Proxy proxy(plan);
    proxy.shed(plan::OverloadLevel::Subject::PointDownstreamFilterCheck);
    Socket client = proxy.connect();
    client.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503 "));
    EXPECT_EQ(proxy.stat("http.in.rq_overload_local_reply"), 1u);
    client.close();
    proxy.expectQuiet();
  }
  EXPECT_EQ(origin.connections(), 0);
  EXPECT_EQ(file.text(), "/new/a overload 1 -\n");
}

TEST("A request whose client takes no more of its answer goes on until it does, or leaves") {
  using namespace http2;
  const LogFile file;
  Origin origin(answering(std::string(300, 'x')));
  plan::Update plan = http2Plan(origin.port());
  logTo(file, plan,
        {piece(Operator::Req, ":path"), piece(Operator::ResponseFlags),
         piece(Operator::ResponseCodeDetails), piece(Operator::BytesSent)});
  {
    Proxy proxy(plan);
    BlockWriter blocks;
    Socket client = connectNarrow(proxy);
    client.write(getOf(blocks, 1, "/taken"));
    client.write(getOf(blocks, 3, "/left"));
    EXPECT(proxy.waitFor("http.in.downstream_rq_2xx", 2));
    EXPECT_EQ(proxy.stat("http.in.downstream_rq_active"), 2u);
    // Nothing of it is with the host any more.
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 0));
    client.write(windowUpdate(1, 300));
    EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
    client.close();
    proxy.expectQuiet();
    EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
    EXPECT_EQ(proxy.stat("http.in.downstream_cx_destroy_remote_active_rq"), 1u);
  }
  EXPECT_EQ(file.text(), "/taken - via_upstream 300\n/left DC downstream_remote_disconnect 300\n");
}

TEST(
    "What filters and the host were is told of a request that its client takes late, host or "
    "none") {
  using namespace http2;
  const LogFile file;
  Origin origin(answering(std::string(300, 'x')));
  plan::Update plan = http2Plan(origin.port());
  plan::SetMetadataEntry entry;
  entry.space = "space";
  entry.value = R"({"a":"a text that is too long to be within its object"})";
  plan.listeners[0]
      .filter_chains[0]
      .http->http_filters.emplace_back()
      .set_metadata.emplace()
      .entries.push_back(entry);
  logTo(file, plan, {piece(Operator::DynamicMetadata, "space"), piece(Operator::UpstreamHost)});
  {
    Proxy proxy(plan);
    BlockWriter blocks;
    Socket client = connectNarrow(proxy);
    client.write(getOf(blocks, 1, "/"));
    EXPECT(proxy.waitFor("http.in.downstream_rq_2xx", 1));
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 0));
    plan::Update without;
    without.assignments = plan.assignments;
    without.assignments[0].hosts.clear();
    EXPECT(proxy.dataPlane().apply(without).empty());
    EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 0));
    client.write(windowUpdate(1, 300));
    EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  }
  EXPECT_EQ(file.text(), R"({"a":"a text that is too long to be within its object"} 127.0.0.1:)" +
                             std::to_string(origin.port()) + "\n");
}

}  // namespace fairlead::test
