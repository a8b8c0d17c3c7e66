// Requests that an external processor is told of, over streams of gRPC as HTTP/1 carries them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/proto_reader.h"
#include "base/proto_writer.h"
#include "http/grpc_frames.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Mode = plan::ProcessingMode;

// The fields of ProcessingRequest are one more than those of ProcessingResponse.
constexpr uint32_t kRequestHead = 2;
constexpr uint32_t kResponseHead = 3;
constexpr uint32_t kRequestBody = 4;
constexpr uint32_t kResponseBody = 5;

plan::ExtProc& processorOf(plan::Update& plan) { return *managerOf(plan).http_filters[0].ext_proc; }

// "origin", and a cluster "ext" that is told of requests, at their heads alone.
plan::Update telling(uint16_t origin, uint16_t ext) {
  plan::Update plan = httpPlan({origin});
  plan::Cluster cluster = plan.clusters[0];
  cluster.name = "ext";
  cluster.enable_trailers = true;
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({ext});
  hosts.cluster_name = "ext";
  plan.assignments.push_back(hosts);
  plan::HttpFilter filter;
  plan::ExtProc& processor = filter.ext_proc.emplace();
  processor.service.emplace().cluster = "ext";
  processor.service->authority = "ext";
  processor.message_timeout_ms = 5000;
  processor.status_on_error = 500;
  processor.mode.emplace().response_head = Mode::Head::Skip;
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

std::string chunkOf(const std::string& bytes) {
  char size[16];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

std::string framed(std::string_view message) {
  std::string frame;
  http::appendGrpcFrameHeader(&frame, 0, message.size());
  return chunkOf(frame.append(message));
}

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n";
constexpr std::string_view kEnd = "0\r\ngrpc-status: 0\r\n\r\n";

// One stream, as its service sees it.
class Stream {
 public:
  explicit Stream(Socket& socket) : socket_(socket) {}

  // False: there is no more.
  bool begin() {
    const std::string head = socket_.readUntil("\r\n\r\n");
    return head.ends_with("\r\n\r\n") && socket_.write(kHead);
  }
  // The next message; empty: the stream is over.
  std::string read() {
    while (bytes_.size() < http::kGrpcFrameHeaderBytes || bytes_.size() < frameBytes()) {
      const std::string size = socket_.readUntil("\r\n");
      const size_t bytes = std::strtoul(size.c_str(), nullptr, 16);
      if (bytes == 0) return {};
      bytes_ += socket_.readExactly(bytes);
      socket_.readExactly(2);
    }
    const size_t size = frameBytes();
    std::string message =
        bytes_.substr(http::kGrpcFrameHeaderBytes, size - http::kGrpcFrameHeaderBytes);
    bytes_.erase(0, size);
    return message;
  }
  bool say(std::string_view message) { return socket_.write(framed(message)); }
  void end() { socket_.write(kEnd); }

 private:
  size_t frameBytes() const {
    size_t size = 0;
    for (size_t i = 1; i < http::kGrpcFrameHeaderBytes; ++i) {
      size = size << 8 | static_cast<uint8_t>(bytes_[i]);
    }
    return size + http::kGrpcFrameHeaderBytes;
  }

  Socket& socket_;
  std::string bytes_;
};

// Which part a message is, and its body, where it is one.
uint32_t partOf(std::string_view message, std::string* body = nullptr) {
  ProtoReader reader(message);
  if (!reader.next()) return 0;
  const uint32_t part = reader.field();
  for (ProtoReader inner(reader.bytes()); inner.next();) {
    if (body && inner.field() == 1) *body = inner.bytes();
  }
  return part;
}

std::string answerTo(uint32_t part, std::string_view common = {}) {
  ProtoWriter inner;
  if (!common.empty()) inner.bytes(1, common);
  ProtoWriter answer;
  answer.bytes(part - 1, inner.view());
  return answer.take();
}

// CommonResponse that sets one header.
std::string settingHeader(std::string_view name, std::string_view value) {
  ProtoWriter header;
  header.bytes(1, name);
  header.bytes(3, value);
  ProtoWriter option;
  option.bytes(1, header.view());
  ProtoWriter mutation;
  mutation.bytes(1, option.view());
  ProtoWriter common;
  common.bytes(2, mutation.view());
  return common.take();
}

// CommonResponse with that body.
std::string replacing(std::string_view body) {
  ProtoWriter mutation;
  mutation.bytes(1, body);
  ProtoWriter common;
  common.bytes(3, mutation.view());
  return common.take();
}

// Answers each message; an empty answer ends the stream.
template <typename Answer>
Origin::Script processing(Answer answer) {
  return [answer](Socket& socket, int) {
    Stream stream(socket);
    if (!stream.begin()) return;
    for (std::string message; !(message = stream.read()).empty();) {
      const std::string said = answer(message);
      if (said.empty()) return stream.end();
      if (!stream.say(said)) return;
    }
  };
}

// Says what it was asked.
Origin::Script telling() {
  return [](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(request.size()) +
                   "\r\n\r\n" + request);
    }
  };
}

std::string postBody(Proxy& proxy, std::string_view body) {
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(body.size()) +
               "\r\n\r\n" + std::string(body));
  return client.readMessage();
}

}  // namespace

TEST("An external processor changes the head of a request") {
  Origin origin(telling());
  Origin ext(processing([](const std::string& message) {
    return answerTo(partOf(message), settingHeader("x-user", "ann"));
  }));
  Proxy proxy(telling(origin.port(), ext.port()));
  EXPECT(has(get(proxy, "/"), "x-user: ann\r\n"));
  EXPECT_EQ(proxy.stat("http.in.ext_proc.streams_started"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ext_proc.streams_closed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ext_proc.stream_msgs_sent"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ext_proc.stream_msgs_received"), 1u);
  proxy.expectQuiet();
}

TEST("A body that is told as a whole is what the processor makes of it") {
  Origin origin(telling());
  Origin ext(processing([](const std::string& message) {
    const uint32_t part = partOf(message);
    return answerTo(part, part == kRequestBody ? replacing("other") : std::string());
  }));
  plan::Update plan = telling(origin.port(), ext.port());
  processorOf(plan).mode->request_body = Mode::Body::Buffered;
  Proxy proxy(plan);
  EXPECT(postBody(proxy, "hello").ends_with("\r\n\r\nother"));
  EXPECT_EQ(proxy.stat("http.in.ext_proc.stream_msgs_sent"), 2u);
}

TEST("A body that is told piece by piece comes in its order, however long it is") {
  Origin origin(telling());
  Origin ext(processing([](const std::string& message) {
    std::string body;
    const uint32_t part = partOf(message, &body);
    if (part != kRequestBody || body.empty()) return answerTo(part);
    for (char& c : body) c = static_cast<char>(c == 'a' ? 'A' : c);
    return answerTo(part, replacing(body));
  }));
  plan::Update plan = telling(origin.port(), ext.port());
  processorOf(plan).mode->request_body = Mode::Body::Streamed;
  Proxy proxy(plan);
  const std::string body(3'000'000, 'a');
  const std::string answer = postBody(proxy, body);
  EXPECT_EQ(static_cast<int64_t>(std::ranges::count(answer, 'A')), 3'000'000);
  proxy.expectQuiet();
}

TEST("A processor that is given bodies whole has no more of them than may wait") {
  Origin origin(telling());
  Origin ext(processing([](const std::string& message) { return answerTo(partOf(message)); }));
  plan::Update plan = telling(origin.port(), ext.port());
  plan.listeners[0].per_connection_buffer_limit_bytes = 16 * 1024;
  processorOf(plan).mode->request_body = Mode::Body::Buffered;
  Proxy proxy(plan);
  EXPECT(postBody(proxy, std::string(40'000, 'a')).starts_with("HTTP/1.1 413 "));
  proxy.expectQuiet();
}

TEST("An answer is changed in its head and in its pieces") {
  Origin origin(telling());
  Origin ext(processing([](const std::string& message) {
    std::string body;
    const uint32_t part = partOf(message, &body);
    if (part == kResponseHead) return answerTo(part, settingHeader("x-seen", "yes"));
    if (part == kResponseBody && !body.empty()) return answerTo(part, replacing("short"));
    return answerTo(part);
  }));
  plan::Update plan = telling(origin.port(), ext.port());
  Mode& mode = *processorOf(plan).mode;
  mode.request_head = Mode::Head::Skip;
  mode.response_head = Mode::Head::Send;
  mode.response_body = Mode::Body::Streamed;
  Proxy proxy(plan);
  const std::string answer = get(proxy, "/");
  EXPECT(has(answer, "x-seen: yes\r\n"));
  EXPECT(has(answer, "short"));
  EXPECT(!has(answer, "GET / HTTP"));
}

TEST("A request that a processor answers itself goes nowhere") {
  Origin origin(telling());
  Origin ext(processing([](const std::string&) {
    ProtoWriter status;
    status.number(1, 403);
    ProtoWriter immediate;
    immediate.bytes(1, status.view());
    immediate.bytes(3, "no way");
    ProtoWriter answer;
    answer.bytes(7, immediate.view());
    return answer.take();
  }));
  Proxy proxy(telling(origin.port(), ext.port()));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 403 "));
  EXPECT(answer.ends_with("\r\n\r\nno way"));
  EXPECT_EQ(proxy.stat("http.in.ext_proc.immediate_responses_sent"), 1u);
}

TEST("A processor that leaves lets requests go on; one that breaks off does not") {
  Origin origin(telling());
  Origin leaving(processing([](const std::string&) { return std::string(); }));
  Proxy proxy(telling(origin.port(), leaving.port()));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(proxy.stat("http.in.ext_proc.server_half_closed"), 1u);
  Origin breaking([](Socket& socket, int) {
    Stream stream(socket);
    stream.begin();
    stream.read();
    socket.close();
  });
  Proxy strict(telling(origin.port(), breaking.port()));
  EXPECT(get(strict, "/").starts_with("HTTP/1.1 500 "));
  plan::Update lenient = telling(origin.port(), breaking.port());
  processorOf(lenient).failure_mode_allow = true;
  Proxy open(lenient);
  EXPECT(get(open, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(open.stat("http.in.ext_proc.failure_mode_allowed"), 1u);
}

TEST("A processor has so long for each answer, and no longer") {
  Origin origin(telling());
  Origin ext([](Socket& socket, int) {
    Stream stream(socket);
    stream.begin();
    while (!stream.read().empty()) continue;
  });
  plan::Update plan = telling(origin.port(), ext.port());
  processorOf(plan).message_timeout_ms = 20;
  Proxy proxy(plan);
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 504 "));
  EXPECT_EQ(proxy.stat("http.in.ext_proc.message_timeouts"), 1u);
  proxy.expectQuiet();
}

TEST("What makes no sense as an answer is an error") {
  Origin origin(telling());
  for (const std::string& said : {std::string("\xff\xff\xff"), answerTo(kResponseBody)}) {
    Origin ext(processing([said](const std::string&) { return said; }));
    Proxy proxy(telling(origin.port(), ext.port()));
    EXPECT(get(proxy, "/").starts_with("HTTP/1.1 500 "));
    proxy.expectQuiet();
  }
}

TEST("A client that leaves takes the processor's stream along") {
  Origin origin(telling());
  Origin ext([](Socket& socket, int) {
    Stream stream(socket);
    stream.begin();
    while (!stream.read().empty()) continue;
  });
  Proxy proxy(telling(origin.port(), ext.port()));
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(proxy.waitFor("cluster.ext.upstream_rq_active", 1));
  }
  EXPECT(proxy.waitFor("cluster.ext.upstream_rq_active", 0));
  EXPECT(proxy.waitFor("http.in.ext_proc.streams_closed", 1));
  proxy.expectQuiet();
}

}  // namespace fairlead::test
