#include "filters/transcoder/response_translator.h"

#include "http/grpc_frames.h"

namespace fairlead::transcoder {

bool ResponseTranslator::add(std::string_view frames, std::string* json) {
  // Of a call that answers once, nothing follows the answer.
  if (is_done_) return true;
  std::string_view rest = frames;
  if (!kept_.empty()) {
    kept_.append(frames);
    rest = kept_;
  }
  std::string_view message;
  while (!is_done_ && !rest.empty()) {
    // Who asked has not said that it takes what is compressed.
    if (rest[0] != 0) {
      error_ = "Unsupported gRPC frame flag: ";
      error_ += std::to_string(static_cast<uint8_t>(rest[0]));
      return false;
    }
    if (!http::takeGrpcFrame(&rest, &message)) break;
    if (!addMessage(message, json)) return false;
    is_done_ = !is_stream_;
  }
  if (is_done_) {
    kept_.clear();
  } else if (kept_.empty()) {
    kept_ = rest;
  } else {
    kept_.erase(0, kept_.size() - rest.size());
  }
  return true;
}

bool ResponseTranslator::addMessage(std::string_view message, std::string* json) {
  if (is_stream_ && delimiter_ == Delimiter::List) json->push_back(is_first_ ? '[' : ',');
  if (is_stream_ && delimiter_ == Delimiter::Events) json->append("data: ");
  is_first_ = false;
  if (!printer_.print(type_, message, json)) return false;
  if (is_stream_ && delimiter_ == Delimiter::Lines) json->push_back('\n');
  if (is_stream_ && delimiter_ == Delimiter::Events) json->append("\n\n");
  return true;
}

void ResponseTranslator::finish(std::string* json) {
  if (is_done_) return;
  is_done_ = true;
  if (is_stream_ && delimiter_ == Delimiter::List) json->append(is_first_ ? "[]" : "]");
}

}  // namespace fairlead::transcoder
