// Signed requests, with and without bodies, and before their credentials are there.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withSigning(uint16_t port, plan::AwsCredentials credentials) {
  plan::Update plan = httpPlan({port});
  plan::HttpFilter filter;
  plan::AwsSigning& signing = filter.aws_request_signing.emplace();
  signing.service = "s3";
  signing.region = "eu-west-1";
  signing.host_rewrite = "bucket.test";
  signing.credentials = std::move(credentials);
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

plan::AwsCredentials someCredentials() {
  plan::AwsCredentials credentials;
  credentials.id = 1;
  credentials.access_key_id = "AKID";
  credentials.secret_access_key = "secret";
  return credentials;
}

Origin::Script reflecting() {
  return [](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(request.size()) +
                   "\r\n\r\n" + request);
    }
  };
}

}  // namespace

TEST("A request is signed, whole: with the digest of its body") {
  Origin origin(reflecting());
  Proxy proxy(withSigning(origin.port(), someCredentials()));
  const std::string plain = get(proxy, "/");
  EXPECT(has(plain, "authorization: AWS4-HMAC-SHA256 Credential=AKID/"));
  EXPECT(has(plain, "host: bucket.test"));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx");
  const std::string posted = client.readMessage();
  EXPECT(has(posted,
             "x-amz-content-sha256: "
             "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"));
  EXPECT_EQ(proxy.stat("http.in.aws_request_signing.signing_added"), 2u);
  EXPECT_EQ(proxy.stat("http.in.aws_request_signing.payload_signing_added"), 1u);
}

TEST("Without credentials a request is not signed; it waits for those that are on their way") {
  Origin origin(reflecting());
  Proxy without(withSigning(origin.port(), {}));
  EXPECT(!has(get(without, "/"), "authorization"));
  plan::AwsCredentials pending;
  pending.id = 1;
  pending.is_pending = true;
  Proxy proxy(withSigning(origin.port(), pending));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  plan::Update update;
  update.aws_credentials.push_back(someCredentials());
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(has(client.readMessage(), "Credential=AKID/"));
}

TEST("Credentials that nobody wants are told of") {
  Origin origin(reflecting());
  Proxy proxy(withSigning(origin.port(), {}));
  plan::Update update;
  update.aws_credentials.push_back(someCredentials());
  plan::Secret secret;
  secret.id = 7;
  update.secrets.push_back(secret);
  EXPECT_EQ(proxy.dataPlane().apply(update).size(), 2u);
}

}  // namespace fairlead::test
