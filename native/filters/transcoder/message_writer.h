// One message of protobuf, written as its JSON comes: no tree is built. Lengths of messages within
// it are put in at its end. Unknown fields are left out; of what is wrong the latest is kept, with
// the path of fields to it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filters/transcoder/json_events.h"
#include "filters/transcoder/types.h"

namespace fairlead::transcoder {

class AnyWriter;

class MessageWriter final : public JsonEvents {
 public:
  // `error`: where what is wrong goes; it outlives the writer.
  MessageWriter(const TypeTable& types, const MessageType& type, bool ignores_enum_case,
                std::string& error);
  ~MessageWriter();

  void beginObject(std::string_view name) override;
  void endObject() override;
  void beginList(std::string_view name) override;
  void endList() override;
  void scalar(std::string_view name, const JsonValue& value) override;

  // The message has ended.
  bool isDone() const { return is_done_; }
  // Of what has come so far, about.
  size_t bytes() const { return bytes_.size(); }
  // Appends the message, once it has ended.
  void appendTo(std::string* out) const;

 private:
  friend class AnyWriter;

  enum class Holds : uint8_t { Fields, MapEntries, Any };

  // A message or a list that has begun. The first is the message itself.
  struct Level {
    // Whose fields come.
    const MessageType* type;
    // The one that it is the value of; null: it is the message itself.
    const Field* field;
    Holds holds;
    // It is not there in JSON, and ends with what is around it.
    bool is_implied;
    bool is_list;
    // Of a list: how many elements have begun, as far as errors need it.
    int32_t elements;
    // Its place in lengths_; -1: it has no length before it.
    int32_t length;
    // Where its bytes begin, and how many more the lengths within it will take.
    size_t begin;
    size_t more;
    // Where its oneofs and required fields begin, in taken_ and seen_.
    size_t taken;
    size_t seen;
    std::unique_ptr<std::unordered_set<std::string>> keys;
    std::unique_ptr<AnyWriter> any;
  };
  struct Length {
    size_t at;
    size_t value;
  };

  Level& top() { return levels_.back(); }
  void begin(const MessageType& type);
  void addLevel(const MessageType& type, const Field* field, Holds holds, bool is_implied,
                bool is_list);
  void push(std::string_view name, Holds holds, bool is_implied, bool is_list);
  void pushList();
  // What a field of a known type has instead of its fields. False: it is none of these.
  bool pushKnownObject(const MessageType& type);
  void pop();
  void popOne();

  // Of the top; null: it has no such field. What is wrong with a name is said.
  const Field* lookUp(std::string_view name);
  bool takeOneof(const Field& field, std::string_view name);
  bool takeKey(std::string_view name);
  void noteField(const Field& field);
  // An entry of a map, up to its value.
  bool beginEntry(std::string_view name);

  void writeScalar(std::string_view name, const JsonValue& value);
  bool writeValue(const Field& field, const JsonValue& value);
  // Of a known type that has a scalar for its form. False: `why` is set.
  bool writeKnown(KnownType known, const JsonValue& value, std::string* why);
  bool writeTime(KnownType known, const JsonValue& value, std::string* why);
  bool writeMask(const JsonValue& value, std::string* why);

  // Of the top, or of a field of it.
  std::string location(const Field* field = nullptr);
  void refuseName(std::string_view why);
  void refuseValue(std::string_view type, std::string_view why, const Field* field = nullptr);

  const TypeTable& types_;
  const MessageType& type_;
  const bool ignores_enum_case_;
  std::string& error_;
  std::vector<Level> levels_;
  std::string bytes_;
  std::vector<Length> lengths_;
  std::vector<uint32_t> taken_;
  std::vector<const Field*> seen_;
  // Objects and lists that have begun where none may be: all in them is left out.
  uint32_t left_out_ = 0;
  bool is_done_ = false;
};

}  // namespace fairlead::transcoder
