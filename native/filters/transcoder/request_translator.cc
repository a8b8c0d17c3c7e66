#include "filters/transcoder/request_translator.h"

#include <utility>

#include "http/grpc_frames.h"

namespace fairlead::transcoder {

RequestTranslator::RequestTranslator(Settings settings)
    : settings_(std::move(settings)), reader_(*this) {
  if (!settings_.is_stream) beginMessage();
}

bool RequestTranslator::add(std::string_view json, std::string* frames) {
  // What follows the end of it in a later piece is nobody's.
  if (is_done_ || json.empty()) return true;
  has_begun_ = true;
  if (!reader_.read(json)) {
    error_ = reader_.error();
    return false;
  }
  return give(frames);
}

bool RequestTranslator::finish(std::string* frames) {
  if (is_done_) return true;
  if (!has_begun_ && !add("{}", frames)) return false;
  if (is_done_) return true;
  if (!reader_.finish()) {
    error_ = reader_.error();
    return false;
  }
  return give(frames);
}

bool RequestTranslator::give(std::string* frames) {
  if (!settings_.is_stream) {
    if (!message_error_.empty()) error_ = message_error_;
    if (error_.empty() && writer_->isDone()) {
      endMessage();
      is_done_ = true;
    }
  }
  if (!error_.empty()) return false;
  frames->append(frames_);
  frames_.clear();
  return true;
}

size_t RequestTranslator::keptBytes() const {
  return reader_.keptBytes() + frames_.size() + (writer_ ? writer_->bytes() : 0);
}

std::string RequestTranslator::messageOf(Settings settings, std::string* error) {
  MessageWriter writer(settings.types, settings.type, settings.ignores_enum_case, *error);
  // Where the body goes there is an empty message, which takes in what follows.
  RequestWeaver weaver(writer, std::move(settings.body_path), std::move(settings.bindings), false,
                       *error);
  weaver.beginObject({});
  weaver.endObject();
  std::string message;
  if (error->empty()) writer.appendTo(&message);
  return message;
}

void RequestTranslator::beginMessage() {
  message_error_.clear();
  writer_ = std::make_unique<MessageWriter>(settings_.types, settings_.type,
                                            settings_.ignores_enum_case, message_error_);
  weaver_ = std::make_unique<RequestWeaver>(*writer_, settings_.body_path,
                                            std::exchange(settings_.bindings, {}),
                                            settings_.refuses_collisions, message_error_);
}

void RequestTranslator::endMessage() {
  if (!message_error_.empty() || !writer_->isDone()) {
    error_ = message_error_.empty() ? "Invalid object" : message_error_;
    return;
  }
  const size_t begin = frames_.size();
  frames_.append(http::kGrpcFrameHeaderBytes, '\0');
  writer_->appendTo(&frames_);
  std::string header;
  http::appendGrpcFrameHeader(&header, 0, frames_.size() - begin - http::kGrpcFrameHeaderBytes);
  frames_.replace(begin, header.size(), header);
  if (settings_.is_stream) {
    weaver_.reset();
    writer_.reset();
  }
}

// ---- what the reader finds ----

void RequestTranslator::refuse(std::string_view why) { error_ = why; }

void RequestTranslator::beginObject(std::string_view name) {
  if (!error_.empty()) return;
  if (settings_.is_stream) {
    if (depth_ == 0) return refuse("Expected an array instead of an object");
    if (depth_ == 1) beginMessage();
    ++depth_;
  }
  weaver_->beginObject(name);
}

void RequestTranslator::endObject() {
  if (!error_.empty()) return;
  weaver_->endObject();
  if (settings_.is_stream && --depth_ == 1) endMessage();
}

void RequestTranslator::beginList(std::string_view name) {
  if (!error_.empty()) return;
  if (settings_.is_stream) {
    if (depth_++ == 0) return;
    if (depth_ == 2) beginMessage();
  }
  weaver_->beginList(name);
}

void RequestTranslator::endList() {
  if (!error_.empty()) return;
  if (settings_.is_stream && depth_ == 1) {
    depth_ = 0;
    is_done_ = true;
    return;
  }
  weaver_->endList();
  if (settings_.is_stream && --depth_ == 1) endMessage();
}

void RequestTranslator::scalar(std::string_view name, const JsonValue& value) {
  if (!error_.empty()) return;
  if (!settings_.is_stream || depth_ > 1) return weaver_->scalar(name, value);
  if (depth_ == 0) return refuse("Expected an array instead of a scalar value.");
  beginMessage();
  weaver_->scalar(name, value);
  endMessage();
}

}  // namespace fairlead::transcoder
