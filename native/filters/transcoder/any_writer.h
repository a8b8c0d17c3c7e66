// A google.protobuf.Any in JSON: an object whose "@type" says what its other members mean. Members
// before that one are kept. Part of a MessageWriter.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filters/transcoder/message_writer.h"

namespace fairlead::transcoder {

class AnyWriter {
 public:
  explicit AnyWriter(MessageWriter& parent) : parent_(parent) {}

  void beginObject(std::string_view name);
  // False: this was the end of the Any.
  bool endObject();
  void beginList(std::string_view name);
  void endList();
  void scalar(std::string_view name, const JsonValue& value);

 private:
  struct Event {
    enum class Kind : uint8_t { BeginObject, EndObject, BeginList, EndList, Scalar };
    Kind kind;
    std::string name;
    JsonValue value = JsonValue::null();
    // Of a value that is one.
    std::string text;
  };

  void start(const JsonValue& url);
  void replay();
  void keep(Event::Kind kind, std::string_view name = {});
  void expectValue(std::string_view name);
  void refuse(std::string_view why);
  void write();

  MessageWriter& parent_;
  std::unique_ptr<MessageWriter> message_;
  std::string url_;
  std::vector<Event> kept_;
  int depth_ = 0;
  // Its form in JSON is a value of its own, in the member "value".
  bool has_own_form_ = false;
  // That form is no object.
  bool is_scalar_ = false;
  bool is_refused_ = false;
};

}  // namespace fairlead::transcoder
