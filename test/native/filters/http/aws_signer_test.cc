// Signatures of AWS.
#include "filters/http/aws_signer.h"

#include "base/hex.h"
#include "test/native/test.h"
#include "tls/private_key.h"

namespace fairlead::test {

TEST("A request is signed as AWS wants it") {
  plan::AwsSigning plan;
  plan.service = "service";
  plan.region = "us-east-1";
  plan::AwsCredentials credentials;
  credentials.access_key_id = "AKIDEXAMPLE";
  credentials.secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  // The digest is not signed in the example of AWS (get-vanilla).
  plan.excluded_headers.emplace_back().value = "x-amz-content-sha256";
  auto signer = filters::AwsSigner::build(plan);
  EXPECT(bool(signer));
  http::RequestHead head;
  head.method = "GET";
  head.path = "/";
  head.authority = "example.amazonaws.com";
  Arena arena(1024);
  // 2015-08-30 12:36:00
  signer.value().sign(credentials, head, filters::AwsSigner::digestOf(""), true, 1440938160, arena);
  const http::HeaderEntry* const made = head.headers.find(http::HeaderId::Authorization);
  EXPECT(made != nullptr);
  EXPECT_EQ(made->value(),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST("A request is signed by a key that is made of the secret, for a set of regions") {
  plan::AwsSigning plan;
  plan.service = "service";
  plan.region = "us-east-1,eu-*";
  plan.is_asymmetric = true;
  plan::AwsCredentials credentials;
  credentials.access_key_id = "AKISORANDOMAASORANDOM";
  credentials.secret_access_key = "q+jcrXGc+0zWN6uzclKVhvMmUsIfRPa4rlRandom";
  auto signer = filters::AwsSigner::build(plan);
  EXPECT(bool(signer));
  http::RequestHead head;
  head.method = "GET";
  head.path = "/";
  head.authority = "example.amazonaws.com";
  Arena arena(1024);
  signer.value().sign(credentials, head, filters::AwsSigner::digestOf(""), true, 1440938160, arena);
  const std::string made(head.headers.find(http::HeaderId::Authorization)->value());
  EXPECT(made.starts_with(
      "AWS4-ECDSA-P256-SHA256 Credential=AKISORANDOMAASORANDOM/20150830/service/aws4_request, "
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-region-set, Signature=30"));
  EXPECT_EQ(head.headers.find("x-amz-region-set")->value(), "us-east-1,eu-*");
}

TEST("A key of P-256 is its number") {
  const auto bytesOf = [](std::string_view hex) {
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
      bytes.push_back(static_cast<char>(hexValue(hex[i]) << 4 | hexValue(hex[i + 1])));
    }
    return bytes;
  };
  // AWS's example of a key that is made of a secret.
  auto key = tls::PrivateKey::ofP256(
      bytesOf("7fd3bd010c0d9c292141c2b77bfbde1042c92e6836fff749d1269ec890fca1bd"));
  EXPECT(bool(key));
  auto other = tls::PublicKey::load(
      bytesOf("3059301306072a8648ce3d020106082a8648ce3d03010703420004"
              "15d242ceebf8d8169fd6a8b5a746c41140414c3b07579038da06af89190fffcb"
              "0515242cedd82e94799482e4c0514b505afccf2c0c98d6a553bf539f424c5ec0"));
  EXPECT(bool(other));
  const std::string signature = key.value().sign(tls::Digest::Sha256, "text");
  EXPECT(other.value().verifies(tls::PublicKey::Scheme::Ecdsa, tls::Digest::Sha256, "text",
                                signature));
  EXPECT(!tls::PrivateKey::ofP256("short"));
}

}  // namespace fairlead::test
