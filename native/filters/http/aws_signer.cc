#include "filters/http/aws_signer.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/hex.h"
#include "http/query.h"
#include "tls/hmac.h"
#include "tls/private_key.h"

namespace fairlead::filters {

namespace {

using AwsParameters = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kAwsAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kAwsKeyAlgorithm = "AWS4-ECDSA-P256-SHA256";
constexpr std::string_view kAwsDigestHeader = "x-amz-content-sha256";

std::string hmacSha256(std::string_view key, std::string_view text) {
  return tls::hmacOf(tls::Digest::Sha256, key, text);
}

// A key of P-256 that is made of a secret: SP 800-108's KDF in counter mode, until what comes out
// is below the order of the curve by two or more; and one more than that. Empty: there is none.
std::string awsKeyOf(const plan::AwsCredentials& credentials) {
  // The order of the curve, less two.
  static constexpr unsigned char kMost[] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                                            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                            0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
                                            0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x4f};
  const std::string_view most(reinterpret_cast<const char*>(kMost), sizeof(kMost));
  constexpr int kTries = 254;
  for (int counter = 1; counter <= kTries; ++counter) {
    std::string input("\0\0\0\x01", 4);
    input.append(kAwsKeyAlgorithm).push_back('\0');
    input.append(credentials.access_key_id).push_back(static_cast<char>(counter));
    input.append("\0\0\x01\0", 4);
    std::string key = hmacSha256("AWS4A" + credentials.secret_access_key, input);
    if (std::string_view(key) > most) continue;
    for (size_t i = key.size(); i-- > 0;) {
      key[i] = static_cast<char>(static_cast<uint8_t>(key[i]) + 1);
      if (key[i] != '\0') break;
    }
    return key;
  }
  return {};
}

bool isAwsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

void appendEscaped(char c, std::string_view before, std::string* out) {
  appendUpperHex(&out->append(before), c);
}

// A name or a value of a query.
std::string encodedParameter(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (isAwsPlain(c) || c == '%') {
      encoded.push_back(c);
    } else if (c == '+') {
      encoded.append("%20");
    } else {
      appendEscaped(c, c == '=' ? "%25" : "%", &encoded);
    }
  }
  return encoded;
}

// Blanks at the ends and all but one between words do not count.
std::string singleSpaced(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t';
    if (is_blank && (made.empty() || made.back() == ' ')) continue;
    made.push_back(is_blank ? ' ' : c);
  }
  if (made.ends_with(' ')) made.pop_back();
  return made;
}

AwsParameters parametersOf(std::string_view path) {
  AwsParameters parameters;
  const size_t mark = path.find('?');
  std::string_view rest =
      mark == std::string_view::npos ? std::string_view() : path.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    parameters.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
  return parameters;
}

std::string canonicalQuery(std::string_view path) {
  AwsParameters parameters = parametersOf(path);
  std::ranges::sort(parameters);
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (!text.empty()) text.push_back('&');
    text.append(encodedParameter(name)).append("=").append(encodedParameter(value));
  }
  return text;
}

std::string timeText(uint64_t now_s, const char* format) {
  const auto seconds = static_cast<time_t>(now_s);
  tm broken{};
  gmtime_r(&seconds, &broken);
  char text[32];
  return {text, std::strftime(text, sizeof(text), format, &broken)};
}

std::string namesOf(const std::map<std::string, std::string>& headers) {
  std::string names;
  for (const auto& [name, _] : headers) names.append(names.empty() ? "" : ";").append(name);
  return names;
}

Result<std::vector<match::StringMatcher>> matchersOf(const std::vector<plan::StringMatch>& plans) {
  std::vector<match::StringMatcher> matchers;
  for (const plan::StringMatch& plan : plans) {
    Result<match::StringMatcher> matcher = match::StringMatcher::build(plan);
    if (!matcher) return matcher.error();
    matchers.push_back(std::move(matcher.value()));
  }
  return matchers;
}

bool fitsAny(const std::vector<match::StringMatcher>& matchers, std::string_view text) {
  return std::ranges::any_of(matchers, [&](const auto& one) { return one.matches(text); });
}

void setAwsHeader(http::HeaderMap& headers, std::string_view name, std::string_view value) {
  headers.remove(name);
  headers.add(http::internHeader(name), name, value);
}

}  // namespace

Result<AwsSigner> AwsSigner::build(const plan::AwsSigning& plan) {
  AwsSigner signer;
  signer.plan_ = plan;
  auto excluded = matchersOf(plan.excluded_headers);
  if (!excluded) return excluded.error();
  signer.excluded_ = std::move(excluded.value());
  auto included = matchersOf(plan.included_headers);
  if (!included) return included.error();
  signer.included_ = std::move(included.value());
  return signer;
}

std::string AwsSigner::digestOf(std::string_view body) {
  return hexOf(tls::digestOf(tls::Digest::Sha256, body));
}

void AwsSigner::sign(const plan::AwsCredentials& credentials, http::RequestHead& head,
                     std::string_view digest, bool told, uint64_t now_s, Arena& arena) const {
  const bool is_in_query = plan_.query_expiration_s.has_value();
  if (told || !is_in_query) setAwsHeader(head.headers, kAwsDigestHeader, arena.copy(digest));
  if (credentials.access_key_id.empty()) return;
  // What the client says of itself is not signed, and not sent.
  head.headers.remove(http::HeaderId::Authorization);
  const std::string time = timeText(now_s, "%Y%m%dT%H%M%SZ");
  const std::string date = time.substr(0, time.find('T'));
  const std::string scope = scopeOf(date);
  const std::string credential = credentials.access_key_id + "/" + scope;
  if (!is_in_query) {
    if (!credentials.session_token.empty()) {
      setAwsHeader(head.headers, "x-amz-security-token", credentials.session_token);
    }
    setAwsHeader(head.headers, "x-amz-date", arena.copy(time));
    if (plan_.is_asymmetric) setAwsHeader(head.headers, "x-amz-region-set", plan_.region);
  }
  const Headers headers = canonicalHeaders(head);
  const std::string names = namesOf(headers);
  http::Query query = http::Query::of(head.path, http::Query::Decoding::None);
  const std::string path(head.path.substr(0, head.path.find('?')));
  if (is_in_query) {
    query.overwrite("X-Amz-Algorithm", algorithm());
    if (plan_.is_asymmetric) query.overwrite("X-Amz-Region-Set", encodedParameter(plan_.region));
    query.overwrite("X-Amz-Date", time);
    query.overwrite("X-Amz-Expires", std::to_string(*plan_.query_expiration_s));
    if (!credentials.session_token.empty()) {
      query.overwrite("X-Amz-Security-Token", http::percentEncoded(credentials.session_token));
    }
    query.overwrite("X-Amz-Credential", encodedParameter(credential));
    query.overwrite("X-Amz-SignedHeaders", encodedParameter(names));
    head.path = arena.copy(path + query.text());
  }
  std::string request(head.method);
  request.append("\n").append(canonicalPath(path)).append("\n");
  request.append(canonicalQuery(head.path)).append("\n");
  for (const auto& [name, value] : headers) {
    request.append(name).append(":").append(value).append("\n");
  }
  request.append("\n").append(names).append("\n").append(digest);
  const std::string text =
      std::string(algorithm()) + "\n" + time + "\n" + scope + "\n" + digestOf(request);
  const std::string signature = signatureOf(credentials, text, date);
  if (is_in_query) {
    query.overwrite("X-Amz-Signature", signature);
    head.path = arena.copy(path + query.text());
    return;
  }
  const std::string authorization = std::string(algorithm()) + " Credential=" + credential +
                                    ", SignedHeaders=" + names + ", Signature=" + signature;
  head.headers.add(http::HeaderId::Authorization, "authorization", arena.copy(authorization));
}

AwsSigner::Headers AwsSigner::canonicalHeaders(const http::RequestHead& head) const {
  Headers headers;
  for (const http::HeaderEntry& entry : head.headers) {
    if (entry.name().empty() || entry.value().empty() || fitsAny(excluded_, entry.name())) continue;
    if (!included_.empty() && !fitsAny(included_, entry.name())) continue;
    const auto [at, is_new] = headers.emplace(entry.name(), singleSpaced(entry.value()));
    if (!is_new) at->second.append(",").append(singleSpaced(entry.value()));
  }
  if (head.authority.empty()) return headers;
  // The ports that are meant anyway are not said.
  std::string host(head.authority);
  for (const std::string_view port : {":80", ":443"}) {
    if (host.ends_with(port)) host.resize(host.size() - port.size());
  }
  headers.emplace("host", host);
  return headers;
}

// S3's are as they are; of others parts that are empty do not count.
std::string AwsSigner::canonicalPath(std::string_view path) const {
  const bool is_s3 = plan_.service == "s3";
  std::string made;
  const auto append = [&made](std::string_view part) {
    for (const char c : part) {
      if (isAwsPlain(c) || c == '/') {
        made.push_back(c);
      } else {
        appendEscaped(c, "%", &made);
      }
    }
  };
  if (is_s3) {
    append(path.empty() ? "/" : path);
    return made;
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty()) continue;
    made.push_back('/');
    append(part);
  }
  if (made.empty()) return "/";
  if (path.ends_with('/')) made.push_back('/');
  return made;
}

std::string_view AwsSigner::algorithm() const {
  return plan_.is_asymmetric ? kAwsKeyAlgorithm : kAwsAlgorithm;
}

// A key is of all regions.
std::string AwsSigner::scopeOf(const std::string& date) const {
  std::string scope = date + "/";
  if (!plan_.is_asymmetric) scope.append(plan_.region).append("/");
  return scope.append(plan_.service).append("/aws4_request");
}

std::string AwsSigner::signatureOf(const plan::AwsCredentials& credentials, const std::string& text,
                                   const std::string& date) const {
  if (plan_.is_asymmetric) {
    const Result<tls::PrivateKey> key = tls::PrivateKey::ofP256(awsKeyOf(credentials));
    return key ? hexOf(key.value().signInDer(tls::Digest::Sha256, text)) : std::string();
  }
  std::string key = hmacSha256("AWS4" + credentials.secret_access_key, date);
  for (const std::string& part : {plan_.region, plan_.service, std::string("aws4_request")}) {
    key = hmacSha256(key, part);
  }
  return hexOf(hmacSha256(key, text));
}

}  // namespace fairlead::filters
