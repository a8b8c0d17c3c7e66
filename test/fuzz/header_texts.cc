// What clients and hosts say in headers and bodies, in the small languages that proxies read: any
// bytes are taken or refused, and what was taken, written again, reads the same.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "base/check.h"
#include "base/json_tree.h"
#include "caches/byte_range.h"
#include "caches/directives.h"
#include "caches/http_date.h"
#include "filters/http/accept_encoding.h"
#include "filters/http/cookie_jar.h"
#include "filters/http/metadata_value.h"
#include "filters/jwt/token.h"
#include "http/grpc_timeout.h"
#include "http/query.h"
#include "tls/cipher.h"
#include "upstream/load_report.h"

using namespace fairlead;

namespace {

http::HeaderMap only(std::string_view name, std::string_view value) {
  http::HeaderMap headers;
  headers.add(http::internHeader(name), name, value);
  return headers;
}

void checkJson(std::string_view text) {
  for (const JsonRepeats repeats : {JsonRepeats::LastWins, JsonRepeats::Refused}) {
    Arena arena(1024);
    const JsonNode* const node = parseJson(text, arena, repeats);
    if (!node) continue;
    std::string once;
    appendJson(&once, *node);
    const JsonNode* const again = parseJson(once, arena, repeats);
    FL_CHECK(again != nullptr);
    std::string twice;
    appendJson(&twice, *again);
    FL_CHECK(once == twice);
  }
}

void checkCookies(std::string_view text) {
  const http::HeaderMap headers = only("cookie", text);
  size_t count = 0;
  http::forEachCookie(headers, [&](std::string_view name, std::string_view value) {
    FL_CHECK(name.find('=') == std::string_view::npos && name.find(';') == std::string_view::npos);
    FL_CHECK(value.find(';') == std::string_view::npos);
    ++count;
    return true;
  });
  const filters::CookieJar jar(headers);
  FL_CHECK(jar.all().size() <= count);
  const std::string written = jar.text();
  const filters::CookieJar again(only("cookie", written));
  // A value in quotes has lost them.
  FL_CHECK(again.all().size() == jar.all().size());
  for (size_t i = 0; i < jar.all().size(); ++i) {
    FL_CHECK(again.all()[i].first == jar.all()[i].first);
  }
}

void checkBase64(std::string_view text) {
  std::string coded = encodeBase64(text);
  std::string back;
  FL_CHECK(decodeBase64(coded, &back) && back == text);
  back.clear();
  coded = encodeBase64Url(text);
  FL_CHECK(decodeBase64Url(coded, &back) && back == text);
  std::string decoded;
  if (decodeBase64(text, &decoded)) FL_CHECK(decoded.size() <= text.size());
  decoded.clear();
  if (decodeBase64Url(text, &decoded)) FL_CHECK(decoded.size() <= text.size());
}

// What the cookies of logins are sealed with: chance does not make any that opens.
void checkSeals(std::string_view text) {
  for (const tls::Sealing sealing : {tls::Sealing::Cbc, tls::Sealing::Gcm}) {
    std::string opened;
    if (!tls::unseal(sealing, "secret", text, &opened)) {
      FL_CHECK(sealing == tls::Sealing::Cbc && opened.size() < text.size());
    }
    // Of nothing there is no seal.
    if (text.empty()) continue;
    opened.clear();
    const std::string sealed = tls::seal(sealing, "secret", text);
    FL_CHECK(!tls::unseal(sealing, "secret", sealed, &opened) && opened == text);
  }
}

void checkToken(std::string_view text) {
  Arena arena(1024);
  filters::JwtToken token;
  if (filters::JwtToken::parse(text, arena, &token) != filters::JwtStatus::Ok) return;
  FL_CHECK(token.header && token.payload && !token.alg.empty());
  FL_CHECK(text.starts_with(token.signed_text));
  token.checkTime(2'000'000'000, 60);
}

void checkCaches(std::string_view text) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, UINT64_MAX}) {
    if (const auto range = caches::rangeOf(text, size)) {
      FL_CHECK(range->begin <= range->end && range->end <= size);
    }
  }
  caches::parseHttpDate(text);
  for (const char* name : {"cache-control", "pragma"}) {
    const auto request = caches::RequestDirectives::of(only(name, text));
    for (const auto& seconds : {request.max_age_s, request.min_fresh_s, request.max_stale_s}) {
      FL_CHECK(!seconds || *seconds >= 0);
    }
    const auto response = caches::ResponseDirectives::of(only(name, text));
    FL_CHECK(!response.max_age_s || *response.max_age_s >= 0);
  }
}

void checkQueries(std::string_view text) {
  FL_CHECK(http::percentDecoded(http::percentEncoded(text)) == text);
  for (const auto decoding : {http::Query::Decoding::None, http::Query::Decoding::Percent}) {
    http::Query query = http::Query::of(text, decoding);
    query.find("a");
    query.overwrite("a", "b");
    FL_CHECK(query.find("a") == "b");
    query.remove("a");
    FL_CHECK(!query.find("a"));
  }
  http::Query::without(text, "a");
}

void checkSmall(std::string_view text) {
  Arena arena(256);
  if (const auto ms = http::readGrpcTimeout(text)) {
    const auto again = http::readGrpcTimeout(http::writeGrpcTimeout(*ms, arena));
    FL_CHECK(again.has_value());
  }
  constexpr filters::OfferedCoding kOffers[] = {{"gzip", true}, {"br"}, {"zstd"}};
  FL_CHECK(!filters::chooseCoding(text, kOffers).name.empty());
  for (const char* name : {"endpoint-load-metrics", "endpoint-load-metrics-bin"}) {
    const auto report = upstream::readLoadReport(only(name, text));
    if (!report) continue;
    FL_CHECK(report->highestOf({"named_metrics.*", "cpu_utilization"}) >= 0);
  }
  filters::numberNode(text, arena);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkJson(text);
  checkCookies(text);
  checkBase64(text);
  checkToken(text);
  checkSeals(text);
  checkCaches(text);
  checkQueries(text);
  checkSmall(text);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {R"({"a":[1,-2.5e3,"\u00e9\n",null,{"b":true}],"c":{"d":false}})",
          "a=b; c=\"d\"; B=x%20y; e",
          "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ.eyJpc3MiOiJvbmUiLCJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4"
          "MDAsImF1ZCI6WyJhIl19.c2lnbmF0dXJl",
          "bytes=0-99",
          "bytes=-5",
          "Sun, 06 Nov 1994 08:49:37 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994",
          "no-cache, max-age=60, s-maxage=\"5\", max-stale, private=\"x\"",
          "/path?a=1&b=%20&c&a=2#d",
          "100m",
          "99999999H",
          "gzip;q=0.5, br, *;q=0, identity;q=0.1",
          "TEXT cpu_utilization:0.5,named_metrics.q:1,rps_fractional:10",
          R"(JSON {"cpu_utilization":0.5,"namedMetrics":{"q":1}})",
          "BIN MQAAAAAAAFlASQAAAAAAANA/",
          "MQAAAAAAAFlASQAAAAAAANA/"};
}
