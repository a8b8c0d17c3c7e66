// How the body of an answer that is the proxy's own reads, and what it is called. Immutable; any
// thread.
#pragma once

#include <string>
#include <utility>

#include "format/format.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class ReplyBody {
 public:
  explicit ReplyBody(const plan::ReplyFormat& plan)
      : format_(plan.format.value_or(plan::Format())), content_type_(plan.content_type) {}

  const std::string& contentType() const { return content_type_; }
  bool readsRequestHead() const { return format_.readsRequestHead(); }
  // In place of `body`, which the context may have as local_reply_body.
  void write(const FormatContext& context, std::string* body) const {
    std::string text;
    format_.appendLine(context, &text);
    *body = std::move(text);
  }

 private:
  Format format_;
  std::string content_type_;
};

}  // namespace fairlead::format
