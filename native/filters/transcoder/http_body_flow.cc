#include "filters/transcoder/http_body_flow.h"

#include <utility>

#include "http/grpc_frames.h"

namespace fairlead::transcoder {

void HttpBodyRequest::give(const std::vector<uint32_t>& path, const UnknownParameters& unknown,
                           std::string* out) {
  if (is_first_given_ && data_.empty()) return;
  is_first_given_ = true;
  std::string message = std::exchange(head_, {});
  appendHttpBody(&message, path, std::exchange(content_type_, {}), data_, unknown);
  http::appendGrpcFrameHeader(out, 0, message.size());
  out->append(message);
  data_.clear();
}

bool HttpBodyAnswer::add(std::string_view data, const std::vector<uint32_t>& path, bool is_stream,
                         std::string* out) {
  kept_.append(data);
  std::string_view rest = kept_;
  std::string_view message;
  while (http::takeGrpcFrame(&rest, &message)) {
    if (message.empty() || (has_body_ && !is_stream)) continue;
    HttpBody body;
    if (!readHttpBody(message, path, &body)) return false;
    if (!std::exchange(has_body_, true)) content_type_ = std::move(body.content_type);
    out->append(body.data);
  }
  kept_.erase(0, kept_.size() - rest.size());
  return true;
}

}  // namespace fairlead::transcoder
