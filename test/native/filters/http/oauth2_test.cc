// Logins by OAuth: over scripted providers.
#include <string>

#include "base/base64.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"
#include "tls/cipher.h"
#include "tls/hmac.h"

namespace fairlead::test {

namespace {

constexpr std::string_view kHmacSecret = "hush-hush";

plan::OAuth2Cookie cookieNamed(const std::string& name) { return {name, "/", {}, false}; }

plan::FormatPiece literalPiece(const std::string& text) {
  plan::FormatPiece piece;
  piece.argument = text;
  return piece;
}

// "origin", and a provider's cluster "idp".
plan::Update withLogins(uint16_t origin, uint16_t provider) {
  plan::Update plan = httpPlan({origin});
  plan::Cluster cluster = plan.clusters[0];
  cluster.name = "idp";
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({provider});
  hosts.cluster_name = "idp";
  plan.assignments.push_back(hosts);
  plan::HttpFilter filter;
  plan::OAuth2& oauth2 = filter.oauth2.emplace();
  plan::Service& service = oauth2.token_service.emplace();
  service.cluster = "idp";
  service.timeout_ms = 5000;
  oauth2.token_authority = "idp.test";
  oauth2.token_path = "/token";
  oauth2.client_id = "kit";
  oauth2.token_secret.emplace().value = "hush";
  oauth2.hmac_secret.emplace().value = kHmacSecret;
  oauth2.authorization_base = "https://idp.test/login";
  oauth2.authorization_query.push_back({"client_id", "kit"});
  oauth2.redirect_uri.emplace().pieces.push_back(literalPiece("http://a/callback"));
  oauth2.redirect_path.emplace().value = "/callback";
  oauth2.signout_path.emplace().value = "/signout";
  oauth2.use_refresh_token = true;
  oauth2.reads_cbc.emplace().value = 1;
  oauth2.bearer_token = cookieNamed("B");
  oauth2.hmac = cookieNamed("H");
  oauth2.expires = cookieNamed("E");
  oauth2.id_token = cookieNamed("I");
  oauth2.refresh_token = cookieNamed("R");
  oauth2.nonce = cookieNamed("N");
  oauth2.code_verifier = cookieNamed("V");
  oauth2.forward_bearer_token = true;
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

std::string hmacTextOf(const std::string& text) {
  return encodeBase64(tls::hmacOf(tls::Digest::Sha256, kHmacSecret, text));
}

std::string sealed(const std::string& text) {
  return encodeBase64Url(tls::seal(tls::Sealing::Cbc, kHmacSecret, text));
}

// A client that is logged in until then, with an access token, and one to refresh it.
std::string sessionUntil(const std::string& expires) {
  return "H=" + hmacTextOf("a\n" + expires + "\nacc\n\nref") + "; E=" + expires +
         "; B=" + sealed("acc") + "; R=" + sealed("ref");
}

std::string callback(const std::string& code) {
  const std::string token = "n." + hmacTextOf("n");
  const std::string state = encodeBase64Url("{\"url\":\"http://a/back\",\"csrf_token\":\"" + token +
                                            "\",\"flow_id\":\"n\"}");
  return "GET /callback?code=" + code + "&state=" + state +
         " HTTP/1.1\r\nhost: a\r\ncookie: N.n=" + token + "; V.n=" + sealed("verifier") +
         "\r\n\r\n";
}

std::string askWith(Proxy& proxy, const std::string& request) {
  Socket client = proxy.connect();
  client.write(request);
  return client.readMessage();
}

Origin::Script giving(const std::string& body) {
  return [body](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body);
    }
  };
}

Origin::Script repeating() {
  return [](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(request.size()) +
                   "\r\n\r\n" + request);
    }
  };
}

}  // namespace

TEST("Who is not known is sent to log in, with what proves later that it was us") {
  Origin origin(repeating());
  Proxy proxy(withLogins(origin.port(), origin.port()));
  const std::string answer = get(proxy, "/page?q");
  EXPECT(answer.starts_with("HTTP/1.1 302 "));
  EXPECT(has(answer, "location: https://idp.test/login?client_id=kit&code_challenge="));
  EXPECT(has(answer, "redirect_uri=http%3A%2F%2Fa%2Fcallback"));
  EXPECT(has(answer, "set-cookie: N."));
  EXPECT(has(answer, "set-cookie: V="));
  EXPECT_EQ(proxy.stat("http.in.oauth_unauthorized_rq"), 1u);
}

TEST("A code is exchanged for tokens, which are cookies from then on") {
  Origin origin(repeating());
  Origin provider(giving("{\"access_token\":\"acc\",\"expires_in\":60}"));
  Proxy proxy(withLogins(origin.port(), provider.port()));
  const std::string answer = askWith(proxy, callback("c"));
  EXPECT(answer.starts_with("HTTP/1.1 302 "));
  EXPECT(has(answer, "location: http://a/back"));
  EXPECT(has(answer, "set-cookie: B="));
  EXPECT(has(answer, ";Max-Age=60;"));
  EXPECT(has(answer, "set-cookie: N.n=deleted"));
  EXPECT_EQ(proxy.stat("http.in.oauth_success"), 1u);
}

TEST("A provider that gives no token logs nobody in, whatever it says") {
  for (const char* const body :
       {"", "x", "[]", "{}", "{\"access_token\":1}", "{\"access_token\":\"a\"}",
        "{\"access_token\":\"a\",\"expires_in\":-1}",
        "{\"access_token\":\"a\",\"expires_in\":1e99}"}) {
    Origin origin(repeating());
    Origin provider(giving(body));
    Proxy proxy(withLogins(origin.port(), provider.port()));
    EXPECT(askWith(proxy, callback("c")).starts_with("HTTP/1.1 401 "));
    EXPECT_EQ(proxy.stat("http.in.oauth_failure"), 1u);
  }
}

TEST("Who is known goes on with its token, and without what is of logins") {
  Origin origin(repeating());
  Proxy proxy(withLogins(origin.port(), origin.port()));
  const std::string answer = get(proxy, "/", "cookie: x=y; " + sessionUntil("4000000000") + "\r\n");
  EXPECT(has(answer, "authorization: Bearer acc"));
  EXPECT(has(answer, "cookie: x=y; B=acc\r\n"));
  EXPECT_EQ(proxy.stat("http.in.oauth_legacy_cbc_decrypt"), 2u);
}

TEST("A token that is over is refreshed on the way; a forged session is not known") {
  Origin origin(repeating());
  Origin provider(giving("{\"access_token\":\"new\",\"expires_in\":60}"));
  Proxy proxy(withLogins(origin.port(), provider.port()));
  const std::string answer = get(proxy, "/", "cookie: " + sessionUntil("1") + "\r\n");
  EXPECT(has(answer, "authorization: Bearer new"));
  EXPECT(has(answer, "set-cookie: R="));
  EXPECT_EQ(proxy.stat("http.in.oauth_refreshtoken_success"), 1u);
  const std::string forged = get(proxy, "/", "cookie: H=x; E=4000000000; B=acc\r\n");
  EXPECT(forged.starts_with("HTTP/1.1 302 "));
}

TEST("A state that nobody was given is refused, and so is one without its cookie") {
  Origin origin(repeating());
  Proxy proxy(withLogins(origin.port(), origin.port()));
  for (const char* const path : {"/callback", "/callback?code=1&state=%%", "/callback?error=no",
                                 "/callback?code=1&state=e30"}) {
    EXPECT(get(proxy, path).starts_with("HTTP/1.1 401 "));
  }
  EXPECT_EQ(proxy.stat("http.in.oauth_failure"), 4u);
}

TEST("What a client says of its flow ends no line of the answer, nor do a provider's tokens") {
  Origin origin(repeating());
  Origin provider(giving(R"({"access_token":"a\r\nset-cookie: evil=1","expires_in":60})"));
  Proxy proxy(withLogins(origin.port(), provider.port()));
  // As it was given to whoever attacks, who has the cookie without a suffix, too.
  const std::string token = "n." + hmacTextOf("n");
  for (const char* url : {"http://a/back", "nowhere"}) {
    const std::string state =
        encodeBase64Url("{\"url\":\"" + std::string(url) + "\",\"csrf_token\":\"" + token +
                        R"(","flow_id":"n\r\nset-cookie: evil=1\r\nx"})");
    const std::string answer =
        get(proxy, "/callback?code=c&state=" + state, "cookie: N=" + token + "\r\n");
    EXPECT(answer.starts_with("HTTP/1.1 401 "));
    EXPECT(!has(answer, "evil"));
  }
  const std::string answer = askWith(proxy, callback("c"));
  EXPECT(answer.starts_with("HTTP/1.1 401 "));
  EXPECT(!has(answer, "evil"));
}

}  // namespace fairlead::test
