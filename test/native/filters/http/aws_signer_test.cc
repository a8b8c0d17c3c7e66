// Signatures of AWS.
#include "filters/http/aws_signer.h"

#include "test/native/test.h"

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

}  // namespace fairlead::test
