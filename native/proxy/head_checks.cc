#include "proxy/head_checks.h"

#include "base/text.h"
#include "format/grpc_status.h"
#include "http/target.h"

namespace fairlead::proxy {

using filters::LocalReply;
using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;

namespace {

LocalReply badRequest(std::string_view details) { return {400, {}, details}; }

std::optional<LocalReply> normalizePath(http::RequestHead& head, HttpServer& server) {
  using Result = http::NormalizedPath::Result;
  const auto refused = [&server] {
    server.stats().add(Counter::DownstreamRqFailedPathNormalization);
    return badRequest("path_normalization_failed");
  };
  if (head.path.find('#') != std::string_view::npos) return refused();
  const http::PathRules& rules = server.config().path_rules;
  const bool nothing = !rules.normalize && !rules.merge_slashes &&
                       rules.escaped_slashes == http::EscapedSlashes::Keep;
  if (nothing) return std::nullopt;
  const http::NormalizedPath path = http::normalizePath(head.path, rules, server.context().arena);
  head.path = path.path;
  if (path.result == Result::Rejected) return refused();
  // Who speaks gRPC follows no redirect.
  const HeaderEntry* const type = head.headers.find(HeaderId::ContentType);
  const bool is_grpc = type && format::isGrpcContentType(type->value());
  if (path.result == Result::Redirect && is_grpc) return refused();
  if (path.result != Result::Redirect) return std::nullopt;
  server.stats().add(Counter::DownstreamRqRedirectedWithNormalizedPath);
  LocalReply answer{307, {}, "path_normalization_failed"};
  answer.location = path.path;
  return answer;
}

}  // namespace

bool acceptUnderscores(HeaderMap& headers, HttpServer& server, bool is_http2) {
  using Underscores = plan::HttpConnectionManager::Underscores;
  const Underscores action = server.config().plan.underscores;
  if (action == Underscores::Allow) return true;
  for (HeaderEntry& entry : headers) {
    if (entry.name().find('_') == std::string_view::npos) continue;
    if (action == Underscores::Reject) {
      if (is_http2) {
        server.http2Stats().add(
            stats::Http2Codec::Counter::RequestsRejectedWithUnderscoresInHeaders);
      } else {
        server.codecStats().add(
            stats::Http1Codec::Counter::RequestsRejectedWithUnderscoresInHeaders);
      }
      return false;
    }
    if (is_http2) {
      server.http2Stats().add(stats::Http2Codec::Counter::DroppedHeadersWithUnderscores);
    } else {
      server.codecStats().add(stats::Http1Codec::Counter::DroppedHeadersWithUnderscores);
    }
    entry.remove();
  }
  return true;
}

std::optional<LocalReply> refuseHead(http::RequestHead& head, HttpServer& server) {
  const plan::HttpConnectionManager& plan = server.config().plan;
  // With a protocol of its own it asks for an upgrade of a path.
  const bool is_connect = head.method == "CONNECT";
  if (!head.authority.data() && head.version == http::Version::Http10 &&
      !plan.default_host_for_http_10.empty()) {
    head.authority = plan.default_host_for_http_10;
    // Codecs have looked at what came from outside.
    if (!http::isValidAuthority(head.authority)) return badRequest("http.invalid_authority");
  }
  if (!head.authority.data()) return badRequest("missing_host_header");
  if (head.method == "QUERY" && !head.headers.find(HeaderId::ContentType)) {
    return badRequest("query_missing_content_type");
  }
  if (!is_connect && head.path[0] != '/') {
    server.stats().add(Counter::DownstreamRqNonRelativePath);
    return LocalReply{404, {}, "absolute_path_rejected"};
  }
  if (!is_connect) {
    if (std::optional<LocalReply> answer = normalizePath(head, server)) return answer;
  }
  return std::nullopt;
}

}  // namespace fairlead::proxy
