#include "http/http1/framing.h"

#include <memory>
#include <string>

#include "test/native/test.h"

namespace fairlead::http1 {

namespace {

using Headers = std::initializer_list<std::pair<std::string_view, std::string_view>>;

std::string shown(const FramingResult& result) {
  if (!result.ok) {
    return std::to_string(result.error.status) + " " + std::string(result.error.details);
  }
  switch (result.framing.kind) {
    case BodyFraming::Kind::None:
      return "none";
    case BodyFraming::Kind::Length:
      return "length " + std::to_string(result.framing.length_bytes);
    case BodyFraming::Kind::Chunked:
      return "chunked";
    case BodyFraming::Kind::UntilClose:
      break;
  }
  return "until close";
}

void fill(http::HeaderMap& map, const Headers& headers) {
  for (const auto& [name, value] : headers) map.add(http::internHeader(name), name, value);
}

std::string ofRequest(const Headers& headers, FramingRules rules = {}) {
  const auto head = std::make_unique<http::RequestHead>();
  fill(head->headers, headers);
  const FramingResult result = requestFraming(*head, rules);
  std::string text = shown(result);
  if (result.ok && head->headers.find(http::HeaderId::ContentLength)) text += " (length kept)";
  return text;
}

std::string ofHttp10Request(const Headers& headers, FramingRules rules = {}) {
  const auto head = std::make_unique<http::RequestHead>();
  head->version = http::Version::Http10;
  fill(head->headers, headers);
  return shown(requestFraming(*head, rules));
}

std::string ofResponse(uint16_t status, const Headers& headers,
                       AnsweredMethod method = AnsweredMethod::Other) {
  const auto head = std::make_unique<http::ResponseHead>();
  head->status = status;
  fill(head->headers, headers);
  return shown(responseFraming(*head, method, {}));
}

constexpr const char* kBad = "400 http1.codec_error";
constexpr const char* kBoth = "400 http1.content_length_and_chunked_not_allowed";
constexpr const char* kCoding = "501 http1.invalid_transfer_encoding";

}  // namespace

TEST("a request without framing headers has no body") { EXPECT_EQ(ofRequest({}), "none"); }

TEST("a content-length is a number and nothing else") {
  EXPECT_EQ(ofRequest({{"content-length", "5"}}), "length 5 (length kept)");
  EXPECT_EQ(ofRequest({{"content-length", "02"}}), "length 2 (length kept)");
  EXPECT_EQ(ofRequest({{"content-length", "0"}}), "none (length kept)");
  EXPECT_EQ(ofRequest({{"content-length", "18446744073709551615"}}),
            "length 18446744073709551615 (length kept)");
  for (const char* value : {"", "-1", "+2", "abc", "2, 2", "0x5", "5 ", "18446744073709551616"}) {
    EXPECT_EQ(ofRequest({{"content-length", value}}), kBad);
  }
}

TEST("a second content-length is refused, be it the same") {
  EXPECT_EQ(ofRequest({{"content-length", "2"}, {"content-length", "2"}}), kBad);
  EXPECT_EQ(
      ofRequest(
          {{"content-length", "2"}, {"content-length", "2"}, {"transfer-encoding", "chunked"}},
          {.allow_chunked_length = true}),
      kBad);
}

TEST("chunked, in any case, is the only coding of a request") {
  EXPECT_EQ(ofRequest({{"transfer-encoding", "Chunked"}}), "chunked");
  for (const char* value : {"gzip", "gzip, chunked", "chunked, gzip", "chunked,", "identity", "",
                            "chunked;q=1", "chunked, chunked"}) {
    EXPECT_EQ(ofRequest({{"transfer-encoding", value}}), kCoding);
  }
  EXPECT_EQ(ofRequest({{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}}),
            kCoding);
  EXPECT_EQ(ofRequest({{"transfer-encoding", "identity"}, {"transfer-encoding", "chunked"}}),
            kCoding);
}

TEST("length and coding together are refused, whatever they say") {
  EXPECT_EQ(ofRequest({{"content-length", "5"}, {"transfer-encoding", "chunked"}}), kBoth);
  EXPECT_EQ(ofRequest({{"transfer-encoding", "gzip"}, {"content-length", "5"}}), kBoth);
}

TEST("of two faults that of two lengths comes first, then both, then the coding, then the length") {
  constexpr std::pair<std::string_view, std::string_view> kChunked = {"transfer-encoding",
                                                                      "chunked"};
  const FramingRules allowed = {.allow_chunked_length = true};
  EXPECT_EQ(ofRequest({{"transfer-encoding", "gzip"}, {"content-length", "x"}}), kBoth);
  EXPECT_EQ(ofRequest({kChunked, kChunked}), kCoding);
  EXPECT_EQ(ofRequest({kChunked, kChunked, {"content-length", "5"}}), kBoth);
  EXPECT_EQ(ofRequest({kChunked, kChunked, {"content-length", "x"}}), kBoth);
  EXPECT_EQ(ofRequest({kChunked, kChunked, {"content-length", "5"}}, allowed), kCoding);
  EXPECT_EQ(ofRequest({kChunked, kChunked, {"content-length", "x"}}, allowed), kCoding);
}

TEST("where both are allowed, chunked wins and the length goes no further") {
  const FramingRules rules = {.allow_chunked_length = true};
  EXPECT_EQ(ofRequest({{"content-length", "5"}, {"transfer-encoding", "chunked"}}, rules),
            "chunked");
  EXPECT_EQ(ofRequest({{"content-length", "x"}, {"transfer-encoding", "chunked"}}, rules),
            "chunked");
  EXPECT_EQ(ofRequest({{"content-length", "5"}, {"transfer-encoding", "gzip"}}, rules), kBoth);
}

TEST("a transfer coding in an HTTP/1.0 request is refused, whatever else it says") {
  constexpr const char* kOld = "400 http1.transfer_encoding_in_http_1_0";
  EXPECT_EQ(ofHttp10Request({{"transfer-encoding", "chunked"}}), kOld);
  EXPECT_EQ(ofHttp10Request({{"transfer-encoding", "gzip"}}),
            "501 http1.invalid_transfer_encoding");
  EXPECT_EQ(ofHttp10Request({{"content-length", "5"}, {"transfer-encoding", "chunked"}},
                            {.allow_chunked_length = true}),
            kOld);
  EXPECT_EQ(ofHttp10Request({{"content-length", "5"}}), "length 5");
  EXPECT_EQ(ofHttp10Request({}), "none");
}

TEST("an answer without framing headers lasts until the connection ends") {
  EXPECT_EQ(ofResponse(200, {}), "until close");
  EXPECT_EQ(ofResponse(200, {{"content-length", "0"}}), "none");
  EXPECT_EQ(ofResponse(205, {{"content-length", "2"}}), "length 2");
  EXPECT_EQ(ofResponse(200, {{"transfer-encoding", "chunked"}}), "chunked");
}

TEST("an answer to HEAD, a 304 and an accepted CONNECT have no body, whatever they announce") {
  EXPECT_EQ(ofResponse(200, {{"content-length", "5"}}, AnsweredMethod::Head), "none");
  EXPECT_EQ(ofResponse(200, {{"transfer-encoding", "chunked"}}, AnsweredMethod::Head), "none");
  EXPECT_EQ(ofResponse(304, {{"content-length", "5"}}), "none");
  EXPECT_EQ(ofResponse(200, {}, AnsweredMethod::Connect), "none");
  EXPECT_EQ(ofResponse(407, {{"content-length", "5"}}, AnsweredMethod::Connect), "length 5");
}

TEST("a 204 or 1xx that announces a body is refused") {
  EXPECT_EQ(ofResponse(204, {}), "none");
  EXPECT_EQ(ofResponse(204, {{"content-length", "0"}}), "none");
  EXPECT_EQ(ofResponse(204, {{"content-length", "2"}}), kBad);
  EXPECT_EQ(ofResponse(204, {{"transfer-encoding", "chunked"}}), kBad);
  EXPECT_EQ(ofResponse(101, {}), "none");
  EXPECT_EQ(ofResponse(103, {{"content-length", "2"}}), kBad);
}

TEST("an answer's framing is checked as a request's is") {
  EXPECT_EQ(ofResponse(200, {{"content-length", "2"}, {"content-length", "2"}}), kBad);
  EXPECT_EQ(ofResponse(200, {{"transfer-encoding", "gzip, chunked"}}), kCoding);
  EXPECT_EQ(ofResponse(200, {{"content-length", "2"}, {"transfer-encoding", "chunked"}}), kBoth);
}

}  // namespace fairlead::http1
