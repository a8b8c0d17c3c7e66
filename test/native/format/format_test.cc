// Substitution formats: what each operator shows, and what stands for a missing value.
#include "format/format.h"

#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "format/live_text.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Headers;
using Op = plan::FormatPiece::Operator;

namespace {

plan::FormatPiece piece(Op op, std::string argument = {}, std::string alternative = {},
                        std::optional<uint32_t> max_length = std::nullopt) {
  plan::FormatPiece piece;
  piece.op = op;
  piece.argument = std::move(argument);
  piece.alternative = std::move(alternative);
  piece.max_length = max_length;
  return piece;
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
  EXPECT_EQ(shown(context, Op::ResponseTxDuration), "-");
  context.response_end_us = 5'900;
  EXPECT_EQ(shown(context, Op::Duration), "5");
  EXPECT_EQ(shown(context, Op::ResponseDuration), "2");
  EXPECT_EQ(shown(context, Op::ResponseTxDuration), "3");
}

TEST("between two moments there is so much of a precision, unless one has not come") {
  format::Exchange exchange;
  exchange.at(format::TimePoint::UpstreamTxBegin) = 1'002'500;
  exchange.at(format::TimePoint::UpstreamTxEnd) = 1'006'250;
  format::FormatContext context;
  context.started_us = 1'000'000;
  context.exchange = &exchange;
  EXPECT_EQ(shown(context, Op::CommonDuration, "US_TX_BEG:US_TX_END:ms"), "3");
  EXPECT_EQ(shown(context, Op::CommonDuration, "US_TX_BEG:US_TX_END:us"), "3750");
  EXPECT_EQ(shown(context, Op::CommonDuration, "DS_RX_BEG:US_TX_BEG:ns"), "2500000");
  EXPECT_EQ(shown(context, Op::CommonDuration, "US_TX_END:US_TX_BEG:ms"), "-");
  EXPECT_EQ(shown(context, Op::CommonDuration, "US_TX_BEG:US_RX_BEG:ms"), "-");
  EXPECT_EQ(shown(context, Op::CommonDuration, "nobody:knows:ms"), "-");
  EXPECT_EQ(shown(context, Op::RequestTxDuration), "6");
  EXPECT(format::isExchangeWanted());
}

TEST("hosts that were tried are listed, and connections that there were") {
  format::Exchange exchange;
  exchange.tried.push_back({"10.0.0.1:80", "a.test:8080", 0});
  exchange.tried.push_back({"[::1]:80", "", 7});
  format::FormatContext context;
  EXPECT_EQ(shown(context, Op::UpstreamConnectionId), "0");
  context.exchange = &exchange;
  EXPECT_EQ(shown(context, Op::UpstreamHostsAttempted), "10.0.0.1:80,[::1]:80");
  EXPECT_EQ(shown(context, Op::UpstreamHostsAttemptedWithoutPort), "10.0.0.1,[::1]");
  EXPECT_EQ(shown(context, Op::UpstreamHostNamesAttempted), "a.test:8080,[::1]:80");
  EXPECT_EQ(shown(context, Op::UpstreamHostNamesAttemptedWithoutPort), "a.test,[::1]");
  EXPECT_EQ(shown(context, Op::UpstreamConnectionIdsAttempted), "7");
  EXPECT_EQ(shown(context, Op::UpstreamConnectionId), "7");
}

TEST("what configurations say is found by its path; null is nothing") {
  const std::vector<plan::MetadataSpace> spaces = {
      {"kit", {{"", "{\"a\":1,\"n\":null}", true}, {"a", "1", true}, {"n", "null", true}}}};
  format::FormatContext context;
  const auto shownOf = [&](std::string space, std::string path) {
    plan::FormatPiece asked = piece(Op::Metadata, std::move(space), std::move(path));
    asked.metadata_source = plan::FormatPiece::MetadataSource::Cluster;
    return shown(context, asked);
  };
  EXPECT_EQ(shownOf("kit", "a"), "-");
  context.configured_metadata[static_cast<size_t>(plan::FormatPiece::MetadataSource::Cluster)] =
      &spaces;
  EXPECT_EQ(shownOf("kit", "a"), "1");
  EXPECT_EQ(shownOf("kit", ""), "{\"a\":1,\"n\":null}");
  EXPECT_EQ(shownOf("kit", "n"), "-");
  EXPECT_EQ(shownOf("kit", "b"), "-");
  EXPECT_EQ(shownOf("other", "a"), "-");
}

TEST("a client certificate's value is that of the first proxy that says it, unquoted") {
  Headers headers;
  headers.add("x-forwarded-client-cert",
              "By=a;Subject=\"CN=x,O=\\\"q\\\"\";URI=one;URI=two,Hash=h;URI=three");
  format::FormatContext context;
  context.request_headers = &headers.map();
  EXPECT_EQ(shown(context, Op::XfccValue, "uri"), "one");
  EXPECT_EQ(shown(context, Op::XfccValue, "subject"), "CN=x,O=\"q\"");
  EXPECT_EQ(shown(context, Op::XfccValue, "hash"), "h");
  EXPECT_EQ(shown(context, Op::XfccValue, "dns"), "-");
  Headers broken;
  broken.add("x-forwarded-client-cert", "By=\"a;URI=one");
  context.request_headers = &broken.map();
  EXPECT_EQ(shown(context, Op::XfccValue, "uri"), "-");
}

TEST("of alternatives the first that has a value is shown, cut twice") {
  format::FormatContext context;
  context.protocol = "HTTP/1.1";
  plan::FormatPiece either = piece(Op::Coalesce);
  either.alternatives = {piece(Op::RouteName), piece(Op::Protocol, {}, {}, 6)};
  EXPECT_EQ(shown(context, either), "HTTP/1");
  either.max_length = 2;
  EXPECT_EQ(shown(context, either), "HT");
  context.protocol = {};
  EXPECT_EQ(shown(context, either), "-");
}

TEST("an address may be shown as the network that it is in") {
  net::Address address;
  net::Address v6;
  EXPECT(net::parseIp("10.129.2.3:80", &address));
  EXPECT(net::parseIp("[2001:db8:ffff::1]:81", &v6));
  format::FormatContext context;
  context.downstream_remote = &address;
  context.upstream_remote = &v6;
  plan::FormatPiece asked = piece(Op::DownstreamRemoteAddressWithoutPort);
  asked.prefix_length = 9;
  EXPECT_EQ(shown(context, asked), "10.128.0.0/9");
  asked.prefix_length = 0;
  EXPECT_EQ(shown(context, asked), "0.0.0.0/0");
  asked.prefix_length = 128;
  EXPECT_EQ(shown(context, asked), "10.129.2.3/32");
  asked.op = Op::UpstreamRemoteAddressWithoutPort;
  asked.prefix_length = 33;
  EXPECT_EQ(shown(context, asked), "2001:db8:8000::/33");
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
  context.path = "/new/x?a=one&b&c=&%64%20e=%20f";
  EXPECT_EQ(shown(context, Op::Path, "WQ:ORIG"), "-");
  EXPECT_EQ(shown(context, Op::Path, "NQ:ORIG_OR_PATH"), "/new/x");
  context.request_headers = &headers.map();
  EXPECT_EQ(shown(context, Op::Path, "WQ:ORIG"), "/rw/x?a=one");
  EXPECT_EQ(shown(context, Op::Path, "WQ:PATH"), "/new/x?a=one&b&c=&%64%20e=%20f");
  EXPECT_EQ(shown(context, Op::Path, "NQ:ORIG_OR_PATH"), "/rw/x");
  EXPECT_EQ(shown(context, piece(Op::Path, "NQ:ORIG_OR_PATH", "", 2)), "/r");
  EXPECT_EQ(shown(context, Op::QueryParam, "a"), "one");
  EXPECT_EQ(shown(context, Op::QueryParam, "b"), "");
  EXPECT_EQ(shown(context, Op::QueryParam, "c"), "");
  EXPECT_EQ(shown(context, Op::QueryParam, "d e"), " f");
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

TEST("a text that changes is told of as it is now, by every thread and to all that have its name") {
  const auto live = [](std::string kind, std::string first, std::optional<uint32_t> length = {}) {
    plan::FormatPiece plan = piece(Op::LiveText, std::move(kind), {}, length);
    plan.live_text.emplace();
    plan.live_text->name = "a text of this test";
    plan.live_text->value = std::move(first);
    return formatOf({std::move(plan)});
  };
  const auto told = [](const format::Format& format) {
    std::string text;
    format.appendLine({}, &text);
    return text;
  };
  const auto replace = [](std::string value) {
    plan::LiveText plan;
    plan.name = "a text of this test";
    plan.value = std::move(value);
    return format::LiveText::replace(plan);
  };
  {
    const format::Format file = live({}, "first");
    const format::Format secret = live("SECRET", "is not looked at", 3);
    EXPECT_EQ(told(file), "first");
    EXPECT_EQ(told(secret), "fir");
    EXPECT(replace("second"));
    EXPECT_EQ(told(file), "second");
    std::string elsewhere;
    std::thread([&] { elsewhere = told(secret); }).join();
    EXPECT_EQ(elsewhere, "sec");
    EXPECT(replace(""));
    EXPECT_EQ(told(file), "");
    EXPECT_EQ(told(secret), "-");
  }
  EXPECT(!replace("third"));
  EXPECT_EQ(told(live({}, "anew")), "anew");
}

}  // namespace fairlead
