// Substitution formats: what each operator shows, and what stands for a missing value.
#include "format/format.h"

#include <string>
#include <string_view>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Headers;
using Op = plan::FormatPiece::Operator;

namespace {

plan::FormatPiece piece(Op op, std::string argument = {}, std::string alternative = {},
                        uint32_t max_length = 0) {
  return {op, std::move(argument), std::move(alternative), max_length};
}

format::Format formatOf(std::vector<plan::FormatPiece> pieces) {
  plan::Format plan;
  plan.pieces = std::move(pieces);
  return format::Format(plan);
}

std::string line(const format::FormatContext& context, std::vector<plan::FormatPiece> pieces) {
  std::string text;
  formatOf(std::move(pieces)).appendLine(context, &text);
  return text;
}
std::string shown(const format::FormatContext& context, plan::FormatPiece piece) {
  return line(context, {std::move(piece)});
}
std::string shown(const format::FormatContext& context, Op op, std::string argument = {}) {
  return shown(context, piece(op, std::move(argument)));
}

std::string header(const format::FormatContext& context, std::vector<plan::FormatPiece> pieces) {
  Arena arena(256);
  return std::string(formatOf(std::move(pieces)).formatTo(context, arena));
}

// The gRPC status of a response, as `style` shows it.
std::string grpcStatus(std::string style, const char* trailer, const char* in_headers,
                       uint16_t status) {
  Headers request, response, trailers;
  request.add("content-type", "application/grpc");
  if (trailer) trailers.add("grpc-status", trailer);
  if (in_headers) response.add("grpc-status", in_headers);
  format::FormatContext context;
  context.status = status;
  context.request_headers = &request.map();
  context.response_headers = &response.map();
  context.response_trailers = &trailers.map();
  return shown(context, Op::GrpcStatus, std::move(style));
}

}  // namespace

TEST("literals and values stand in their order") {
  format::FormatContext context;
  context.method = "GET";
  context.status = 200;
  EXPECT_EQ(line(context, {piece(Op::Literal, "["), piece(Op::Req, ":method"),
                           piece(Op::Literal, "] "), piece(Op::ResponseCode)}),
            "[GET] 200");
}

TEST("an empty context shows dashes, and zeros where a number is always known") {
  const format::FormatContext context;
  for (const Op op : {Op::Protocol,
                      Op::Duration,
                      Op::CommonDuration,
                      Op::RequestDuration,
                      Op::ResponseDuration,
                      Op::ResponseTxDuration,
                      Op::UpstreamHost,
                      Op::UpstreamCluster,
                      Op::UpstreamClusterRaw,
                      Op::UpstreamLocalAddress,
                      Op::UpstreamRemotePort,
                      Op::UpstreamProtocol,
                      Op::DownstreamRemoteAddress,
                      Op::RouteName,
                      Op::StreamId,
                      Op::ResponseCodeDetails,
                      Op::FilterChainName,
                      Op::ConnectionTerminationDetails,
                      Op::UpstreamTransportFailureReason,
                      Op::ResponseFlags,
                      Op::ResponseFlagsLong,
                      Op::Path,
                      Op::QueryParam,
                      Op::GrpcStatus,
                      Op::Absent,
                      Op::RequestedServerName,
                      Op::VirtualClusterName}) {
    EXPECT_EQ(shown(context, op), "-");
  }
  for (const Op op :
       {Op::ResponseCode, Op::BytesReceived, Op::BytesSent, Op::ConnectionId,
        Op::UpstreamRequestAttemptCount, Op::UpstreamWireBytesSent, Op::RequestHeadersBytes,
        Op::ResponseHeadersBytes, Op::ResponseTrailersBytes}) {
    EXPECT_EQ(shown(context, op), "0");
  }
  EXPECT_EQ(shown(context, Op::LocalReplyBody), "");
}

TEST("a header that is there but empty shows nothing; one that is missing, the alternative") {
  Headers headers;
  headers.add("x-empty", "").add("x-a", "abc").add("x-two", "1").add("x-two", "2");
  format::FormatContext context;
  context.request_headers = &headers.map();
  EXPECT_EQ(shown(context, Op::Req, "x-empty"), "");
  EXPECT_EQ(shown(context, Op::Req, "x-none"), "-");
  EXPECT_EQ(shown(context, piece(Op::Req, "x-empty", "x-a")), "");
  EXPECT_EQ(shown(context, piece(Op::Req, "x-none", "x-a")), "abc");
  EXPECT_EQ(shown(context, Op::Req, "x-two"), "1");
}

TEST("a value is cut to its length, a dash is not") {
  Headers headers;
  headers.add("x-a", "abc");
  format::FormatContext context;
  context.request_headers = &headers.map();
  EXPECT_EQ(shown(context, piece(Op::Req, "x-a", "", 2)), "ab");
  EXPECT_EQ(shown(context, piece(Op::Req, "x-a", "", 5)), "abc");
  EXPECT_EQ(shown(context, piece(Op::Req, "x-none", "", 2)), "-");
}

TEST("responses and trailers have their own headers, and :status is one") {
  Headers response, trailers;
  response.add("x-a", "response");
  trailers.add("x-a", "trailer");
  format::FormatContext context;
  context.status = 204;
  context.response_headers = &response.map();
  context.response_trailers = &trailers.map();
  EXPECT_EQ(shown(context, Op::Resp, ":status"), "204");
  EXPECT_EQ(shown(context, Op::Resp, "x-a"), "response");
  EXPECT_EQ(shown(context, Op::Trailer, "x-a"), "trailer");
  EXPECT_EQ(shown(context, Op::Req, "x-a"), "-");
  EXPECT_EQ(shown(context, Op::ResponseHeadersBytes), "21");
}

TEST("a header's value leaves out what is missing, and keeps a dash that is a value") {
  const format::FormatContext context;
  EXPECT_EQ(
      header(context, {piece(Op::Literal, "a"), piece(Op::Req, "none"), piece(Op::Literal, "b")}),
      "ab");
  EXPECT_EQ(header(context, {piece(Op::ResponseFlags)}), "-");
  EXPECT_EQ(header(context, {piece(Op::Req, "none")}), "");
  EXPECT_EQ(header(context, {}), "");
}

TEST("flags are shown short or long, each once, in the order in which they were set") {
  format::FormatContext context;
  context.flags.set(format::ResponseFlag::UpstreamRetryLimitExceeded);
  context.flags.set(format::ResponseFlag::UpstreamConnectionFailure);
  context.flags.set(format::ResponseFlag::UpstreamRetryLimitExceeded);
  EXPECT_EQ(shown(context, Op::ResponseFlags), "URX,UF");
  EXPECT_EQ(shown(context, Op::ResponseFlagsLong),
            "UpstreamRetryLimitExceeded,UpstreamConnectionFailure");
}

TEST("durations are whole milliseconds; what follows the response is the difference") {
  format::FormatContext context;
  context.duration_us = 5'900;
  context.response_begin_us = 2'100;
  EXPECT_EQ(shown(context, Op::Duration), "5");
  EXPECT_EQ(shown(context, Op::ResponseDuration), "2");
  EXPECT_EQ(shown(context, Op::ResponseTxDuration), "3");
}

TEST("addresses are shown whole, without their port, or by it alone") {
  net::Address address;
  net::Address v6;
  EXPECT(net::parseIp("10.1.2.3:80", &address));
  EXPECT(net::parseIp("[::1]:81", &v6));
  format::FormatContext context;
  context.downstream_remote = &address;
  context.upstream_host = context.upstream_remote = &v6;
  EXPECT_EQ(shown(context, Op::DownstreamRemoteAddress), "10.1.2.3:80");
  EXPECT_EQ(shown(context, Op::DownstreamRemoteAddressWithoutPort), "10.1.2.3");
  EXPECT_EQ(shown(context, Op::DownstreamRemotePort), "80");
  EXPECT_EQ(shown(context, Op::UpstreamHost), "[::1]:81");
  EXPECT_EQ(shown(context, Op::UpstreamRemoteAddressWithoutPort), "::1");
}

TEST("details are shown with underscores for blanks") {
  format::FormatContext context;
  context.details = "a{b c d}";
  EXPECT_EQ(shown(context, Op::ResponseCodeDetails), "a{b_c_d}");
}

TEST("the path is the original one or the rewritten one, with its query or without") {
  Headers headers;
  headers.add("x-envoy-original-path", "/rw/x?a=one");
  format::FormatContext context;
  context.path = "/new/x?a=one&b&c=";
  EXPECT_EQ(shown(context, Op::Path, "WQ:ORIG"), "-");
  EXPECT_EQ(shown(context, Op::Path, "NQ:ORIG_OR_PATH"), "/new/x");
  context.request_headers = &headers.map();
  EXPECT_EQ(shown(context, Op::Path, "WQ:ORIG"), "/rw/x?a=one");
  EXPECT_EQ(shown(context, Op::Path, "WQ:PATH"), "/new/x?a=one&b&c=");
  EXPECT_EQ(shown(context, Op::Path, "NQ:ORIG_OR_PATH"), "/rw/x");
  EXPECT_EQ(shown(context, piece(Op::Path, "NQ:ORIG_OR_PATH", "", 2)), "/r");
  EXPECT_EQ(shown(context, Op::QueryParam, "a"), "one");
  EXPECT_EQ(shown(context, Op::QueryParam, "b"), "");
  EXPECT_EQ(shown(context, Op::QueryParam, "c"), "");
  EXPECT_EQ(shown(context, Op::QueryParam, "none"), "-");
}

TEST("a gRPC status comes from the trailers, then the headers, then HTTP's status") {
  EXPECT_EQ(grpcStatus("CAMEL_STRING", "0", "5", 200), "OK");
  EXPECT_EQ(grpcStatus("CAMEL_STRING", nullptr, "5", 200), "NotFound");
  EXPECT_EQ(grpcStatus("CAMEL_STRING", nullptr, nullptr, 200), "Unknown");
  EXPECT_EQ(grpcStatus("SNAKE_STRING", nullptr, nullptr, 503), "UNAVAILABLE");
  EXPECT_EQ(grpcStatus("NUMBER", nullptr, nullptr, 404), "12");
  EXPECT_EQ(grpcStatus("SNAKE_STRING", "1", nullptr, 200), "CANCELLED");
  EXPECT_EQ(grpcStatus("CAMEL_STRING", "99", nullptr, 200), "99");
  EXPECT_EQ(grpcStatus("CAMEL_STRING", "abc", nullptr, 200), "-1");
  EXPECT_EQ(grpcStatus("CAMEL_STRING", nullptr, nullptr, 0), "-");
}

TEST("a request that is no gRPC has no gRPC status") {
  Headers request, response;
  response.add("grpc-status", "5");
  format::FormatContext context;
  context.status = 200;
  context.request_headers = &request.map();
  context.response_headers = &response.map();
  EXPECT_EQ(shown(context, Op::GrpcStatus, "NUMBER"), "-");
}

TEST("every unique id is another one, in the form of a random UUID") {
  const std::string one = shown({}, Op::UniqueId);
  EXPECT_EQ(one.size(), 36u);
  EXPECT_EQ(one[14], '4');
  EXPECT(one != shown({}, Op::UniqueId));
}

TEST("the bytes of a request's headers count its pseudo headers") {
  Headers headers;
  headers.add("x-a", "abc");
  format::FormatContext context;
  context.request_headers = &headers.map();
  context.method = "GET";
  context.path = "/";
  context.authority = "h";
  context.scheme = "http";
  EXPECT_EQ(shown(context, Op::RequestHeadersBytes), "44");
}

TEST("a format of one literal, or of nothing, needs no context") {
  EXPECT_EQ(*format::Format(test::literalFormat("text")).literal(), "text");
  EXPECT_EQ(*format::Format().literal(), "");
  EXPECT(format::Format(test::requestHeaderFormat("x")).literal() == nullptr);
}

}  // namespace fairlead
