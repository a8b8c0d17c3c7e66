// Tokens, what is required of them, and keys that come later.
#include "base/base64.h"
#include "filters/jwt/key_set.h"
#include "filters/jwt/token_cache.h"
#include "http/query.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"
#include "tls/hmac.h"

namespace fairlead::test {

namespace {

using filters::JwtKeySet;
using filters::JwtStatus;
using filters::JwtToken;

constexpr std::string_view kSecret = "a secret of thirty-two bytes, ok";

std::string tokenOf(std::string_view header, std::string_view payload) {
  const std::string text = encodeBase64Url(header) + "." + encodeBase64Url(payload);
  return text + "." + encodeBase64Url(tls::hmacOf(tls::Digest::Sha256, kSecret, text));
}

std::string goodToken() {
  return tokenOf(R"({"alg":"HS256","kid":"k"})", R"({"iss":"one","sub":"ann","exp":4102444800})");
}

JwtStatus statusOf(const std::string& token) {
  static Arena arena(4096);
  JwtToken parsed;
  return JwtToken::parse(token, arena, &parsed);
}

plan::Jwks secretKey(const std::string& alg = "") {
  plan::Jwks keys;
  keys.keys.push_back({plan::Jwk::Kind::Octets, "k", alg, std::string(kSecret)});
  return keys;
}

plan::Update withJwt(uint16_t port) {
  plan::JwtAuthn jwt;
  plan::JwtProvider provider;
  provider.name = provider.issuer = "one";
  provider.from_headers.push_back({"authorization", "Bearer "});
  provider.local = secretKey();
  provider.claim_headers.push_back({"x-sub", {"sub"}});
  jwt.providers.push_back(std::move(provider));
  plan::JwtRule rule;
  rule.match.emplace().path = "/";
  plan::JwtRequirement& requirement = rule.requirement.emplace();
  requirement.kind = plan::JwtRequirement::Kind::Provider;
  requirement.providers.push_back(0);
  jwt.rules.push_back(std::move(rule));
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].jwt_authn = std::move(jwt);
  return plan;
}

}  // namespace

TEST("A token is taken apart strictly") {
  EXPECT(statusOf(goodToken()) == JwtStatus::Ok);
  EXPECT(statusOf("a.b") == JwtStatus::BadFormat);
  EXPECT(statusOf("a.b.c.d") == JwtStatus::BadFormat);
  EXPECT(statusOf("!.b.c") == JwtStatus::HeaderBadBase64);
  EXPECT(statusOf(tokenOf("[]", "{}")) == JwtStatus::HeaderBadJson);
  EXPECT(statusOf(tokenOf("{}", "{}")) == JwtStatus::HeaderBadAlg);
  EXPECT(statusOf(tokenOf(R"({"alg":"none"})", "{}")) == JwtStatus::HeaderUnknownAlg);
  EXPECT(statusOf(tokenOf(R"({"alg":"HS256","kid":1})", "{}")) == JwtStatus::HeaderBadKid);
  const std::string header = R"({"alg":"HS256"})";
  EXPECT(statusOf(tokenOf(header, R"({"iss":"a","iss":"b"})")) == JwtStatus::PayloadBadJson);
  EXPECT(statusOf(tokenOf(header, R"({"exp":"5"})")) == JwtStatus::ExpNotInteger);
  EXPECT(statusOf(tokenOf(header, R"({"exp":-1})")) == JwtStatus::ExpOutOfRange);
  EXPECT(statusOf(tokenOf(header, R"({"aud":["a",1]})")) == JwtStatus::AudNotString);
  EXPECT(statusOf(tokenOf(header, "{" + std::string(100000, ' '))) == JwtStatus::PayloadBadJson);
  EXPECT(statusOf(tokenOf(header, std::string(100000, '['))) == JwtStatus::PayloadBadJson);
}

TEST("A key verifies what was signed with it, by the algorithms of its kind alone") {
  Arena arena(1024);
  JwtToken token;
  const std::string text = goodToken();
  EXPECT(JwtToken::parse(text, arena, &token) == JwtStatus::Ok);
  const auto verified = [&](const plan::Jwks& keys) {
    return JwtKeySet::build(keys).value()->verify(token);
  };
  EXPECT(verified(secretKey()) == JwtStatus::Ok);
  EXPECT(verified(secretKey("HS512")) == JwtStatus::KidAlgMismatch);
  plan::Jwks other = secretKey();
  other.keys[0].key = "another";
  EXPECT(verified(other) == JwtStatus::VerificationFails);
  other.keys[0].kid = "other";
  EXPECT(verified(other) == JwtStatus::KidAlgMismatch);
  plan::Jwks broken;
  broken.keys.push_back({plan::Jwk::Kind::Rsa, "k", "", "no key"});
  EXPECT(!JwtKeySet::build(broken));
}

TEST("Tokens are good for a while, give or take") {
  JwtToken token;
  token.nbf = 1000;
  token.exp = 2000;
  EXPECT(token.checkTime(900, 60) == JwtStatus::NotYetValid);
  EXPECT(token.checkTime(940, 60) == JwtStatus::Ok);
  EXPECT(token.checkTime(2060, 60) == JwtStatus::Ok);
  EXPECT(token.checkTime(2061, 60) == JwtStatus::Expired);
}

TEST("The latest tokens are remembered, and no longer ones than are wanted") {
  filters::JwtTokenCache cache(1, 200);
  const std::string first = goodToken();
  const std::string second = tokenOf(R"({"alg":"HS256"})", R"({"iss":"two"})");
  cache.keep(first);
  EXPECT(cache.find(first, 5) != nullptr);
  EXPECT(cache.find(first, 5000000000) == nullptr);
  cache.keep(first);
  cache.keep(second);
  EXPECT(cache.find(first, 5) == nullptr);
  cache.keep(tokenOf(R"({"alg":"HS256"})", R"({"iss":")" + std::string(200, 'x') + "\"}"));
  EXPECT(cache.find(second, 5) != nullptr);
}

TEST("A parameter is taken out of a query, and the rest stays as it was sent") {
  EXPECT_EQ(http::Query::without("/p?b=%20&t%6fk=x&a=1", "tok"), "/p?a=1&b=%20");
  EXPECT_EQ(http::Query::without("/p?tok=x", "tok"), "/p");
}

TEST("Who has a good token comes in, and its host hears of the claims") {
  Origin origin(answering("origin"));
  Proxy proxy(withJwt(origin.port()));
  const std::string none = get(proxy, "/p");
  EXPECT(none.starts_with("HTTP/1.1 401 "));
  EXPECT(has(none, "www-authenticate: Bearer realm=\"http://a/p\"\r\n"));
  EXPECT(has(none, "Jwt is missing"));
  const std::string wrong = get(proxy, "/p", "authorization: Bearer x.y.z\r\n");
  EXPECT(has(wrong, ", error=\"invalid_token\"\r\n"));
  EXPECT(has(get(proxy, "/p", "authorization: Bearer " + goodToken() + "\r\n"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.jwt_authn.allowed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.jwt_authn.denied"), 2u);
}

TEST("Whether a token is for others is asked before how long it is good") {
  Origin origin(answering("origin"));
  plan::Update plan = withJwt(origin.port());
  plan::JwtProvider& provider = managerOf(plan).http_filters[0].jwt_authn->providers[0];
  provider.audiences.push_back("you");
  provider.max_lifetime_s = 10;
  Proxy proxy(std::move(plan));
  const std::string answer = get(proxy, "/p", "authorization: Bearer " + goodToken() + "\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 403 "));
  EXPECT(has(answer, "Audiences in Jwt are not allowed"));
}

TEST("A claim that would end a line is not told") {
  Origin origin(repeatRequests);
  Proxy proxy(withJwt(origin.port()));
  const std::string token = tokenOf(R"({"alg":"HS256","kid":"k"})",
                                    R"({"iss":"one","sub":"ann\r\nx-evil: 1","exp":4102444800})");
  const std::string answer = get(proxy, "/", "authorization: Bearer " + token + "\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(!has(answer, "x-sub"));
  EXPECT(!has(answer, "evil"));
}

}  // namespace fairlead::test
