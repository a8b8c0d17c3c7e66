// Signatures of requests for AWS: Signature Version 4, in headers or in the query, by a secret or
// (4A) by a key that is made of it. Pure but for OpenSSL; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "http/message.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class AwsSigner {
 public:
  static Result<AwsSigner> build(const plan::AwsSigning& plan);

  // In place of a digest where the body is not signed.
  static constexpr std::string_view kUnsigned = "UNSIGNED-PAYLOAD";
  // Of a body, in hexadecimal.
  static std::string digestOf(std::string_view body);

  // Adds what AWS wants to a request at that second of the Unix time. `told`: the digest is a
  // header even where the signature is in the query.
  void sign(const plan::AwsCredentials& credentials, http::RequestHead& head,
            std::string_view digest, bool told, uint64_t now_s, Arena& arena) const;

 private:
  using Headers = std::map<std::string, std::string>;

  Headers canonicalHeaders(const http::RequestHead& head) const;
  std::string canonicalPath(std::string_view path) const;
  std::string_view algorithm() const;
  std::string scopeOf(const std::string& date) const;
  std::string signatureOf(const plan::AwsCredentials& credentials, const std::string& text,
                          const std::string& date) const;

  plan::AwsSigning plan_;
  std::vector<match::StringMatcher> excluded_;
  std::vector<match::StringMatcher> included_;
};

}  // namespace fairlead::filters
