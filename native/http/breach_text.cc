#include "http/breach_text.h"

#include <utility>

namespace fairlead::http {

namespace {

constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
    {"http.invalid_authority",
     "http/1.1 protocol error: request headers failed spec compliance checks"},
    {"http1.body_disallowed", "http/1.1 protocol error: unsupported content length"},
    {"http1.codec_error", "http/1.1 protocol error: HPE_INVALID_URL"},
    {"http1.connection_header_rejected", "Invalid nominated headers in Connection."},
    {"http1.content_length_and_chunked_not_allowed",
     "http/1.1 protocol error: both 'Content-Length' and 'Transfer-Encoding' are set."},
    {"http1.headers_too_large", "http/1.1 protocol error: headers size exceeds limit"},
    {"http1.https_url_on_plaintext_connection", "http/1.1 protocol error: https in the clear"},
    {"http1.invalid_characters", "http/1.1 protocol error: header value contains invalid chars"},
    {"http1.invalid_scheme", "http/1.1 protocol error: invalid scheme"},
    {"http1.invalid_transfer_encoding", "http/1.1 protocol error: unsupported transfer encoding"},
    {"http1.invalid_url", "http/1.1 protocol error: invalid url in request line"},
    {"http1.multiple_host_headers",
     "http/1.1 protocol error: request headers failed spec compliance checks"},
    {"http1.too_many_headers", "http/1.1 protocol error: headers count exceeds limit"},
    {"http1.transfer_encoding_in_http_1_0",
     "http/1.1 protocol error: unsupported transfer encoding"},
    {"http1.unexpected_underscore", "http/1.1 protocol error: header name contains underscores"},
    {"http2.bad_preface", "Received bad client magic byte string"},
    {"http2.inbound_empty_frames_flood", "Too many consecutive frames with an empty payload"},
    {"http2.inbound_priority_frames_flood", "Too many PRIORITY frames"},
    {"http2.inbound_window_update_frames_flood", "Too many WINDOW_UPDATE frames"},
    {"http2.outbound_control_frames_flood", "Too many control frames in the outbound queue."},
    {"http2.outbound_frames_flood", "Too many frames in the outbound queue."},
    {"low_version", "Upgrade required for HTTP/1.0 or HTTP/0.9"},
};

}  // namespace

std::string_view breachText(std::string_view details) {
  for (const auto& [of, text] : kTexts) {
    if (of == details) return text;
  }
  // As HTTP/2 says of nearly everything.
  return "The user callback function failed";
}

}  // namespace fairlead::http
