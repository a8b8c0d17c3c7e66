// Bodies of any type as they pass in pieces: a request's as messages of google.api.HttpBody, and an
// answer's messages of it as the bytes that they have. Of one call; the worker's thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/transcoder/http_body.h"

namespace fairlead::transcoder {

class HttpBodyRequest {
 public:
  // `head`: what path and query say, which goes before the first piece.
  void begin(std::string head, std::string_view content_type) {
    head_ = std::move(head);
    content_type_ = content_type;
  }
  void add(std::string_view data) { data_.append(data); }
  size_t keptBytes() const { return data_.size(); }
  // All that was added as the next message, in a frame of gRPC. Nothing: only the first.
  void give(const std::vector<uint32_t>& path, const UnknownParameters& unknown, std::string* out);

 private:
  std::string data_;
  std::string head_;
  std::string content_type_;
  bool is_first_given_ = false;
};

class HttpBodyAnswer {
 public:
  // Frames of gRPC, in any pieces. Of a call that answers once (`is_stream`: it does not), the
  // first message says it all. False: one is no HttpBody.
  bool add(std::string_view data, const std::vector<uint32_t>& path, bool is_stream,
           std::string* out);
  // Of the frame that is under way.
  size_t keptBytes() const { return kept_.size(); }
  bool hasBody() const { return has_body_; }
  const std::string& contentType() const { return content_type_; }

 private:
  std::string kept_;
  std::string content_type_;
  bool has_body_ = false;
};

}  // namespace fairlead::transcoder
