// The body of a request in JSON, as frames of gRPC: one message, or those of a list. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filters/transcoder/json_reader.h"
#include "filters/transcoder/message_writer.h"
#include "filters/transcoder/request_weaver.h"

namespace fairlead::transcoder {

class RequestTranslator final : private JsonEvents {
 public:
  struct Settings {
    const TypeTable& types;
    const MessageType& type;
    // The body is a list of messages.
    bool is_stream;
    bool ignores_enum_case;
    bool refuses_collisions;
    // Where in the message the body is.
    std::vector<std::string_view> body_path;
    // Of the first message.
    std::vector<Binding> bindings;
  };
  explicit RequestTranslator(Settings settings);

  // Appends the frames that are whole. False: error() says what is wrong, and nothing more may be
  // given.
  bool add(std::string_view json, std::string* frames);
  // There is no more; a body of nothing is {}.
  bool finish(std::string* frames);
  const std::string& error() const { return error_; }
  // Of what waits for the end of its message.
  size_t keptBytes() const;

  // The message of the bindings alone, without a frame. Empty: `error` says what is wrong, unless
  // that is empty, too.
  static std::string messageOf(Settings settings, std::string* error);

 private:
  void beginObject(std::string_view name) override;
  void endObject() override;
  void beginList(std::string_view name) override;
  void endList() override;
  void scalar(std::string_view name, const JsonValue& value) override;

  void beginMessage();
  void endMessage();
  void refuse(std::string_view why);
  bool give(std::string* frames);

  Settings settings_;
  JsonReader reader_;
  // Of the message that is under way.
  std::unique_ptr<MessageWriter> writer_;
  std::unique_ptr<RequestWeaver> weaver_;
  std::string message_error_;
  std::string error_;
  // That are whole.
  std::string frames_;
  uint32_t depth_ = 0;
  bool has_begun_ = false;
  bool is_done_ = false;
};

}  // namespace fairlead::transcoder
