// Puts what a request's path and query say into the message that its body makes: under the fields
// that the rule gives the body, and beside what the body has. What the body says itself goes
// before; of repeated fields both are taken. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/transcoder/json_events.h"
#include "filters/transcoder/types.h"

namespace fairlead::transcoder {

// A value for the field that these lead to, from the message.
struct Binding {
  std::vector<const Field*> path;
  std::string value;
};

class RequestWeaver final : public JsonEvents {
 public:
  // `prefix`: names of fields, which the body is put under. `refuses_collisions`: a binding that
  // says otherwise than the body is an error.
  RequestWeaver(JsonEvents& out, std::vector<std::string_view> prefix,
                std::vector<Binding> bindings, bool refuses_collisions, std::string& error);

  void beginObject(std::string_view name) override;
  void endObject() override;
  void beginList(std::string_view name) override;
  void endList() override;
  void scalar(std::string_view name, const JsonValue& value) override;

 private:
  // What is to be put into a message.
  struct Node {
    const Field* field = nullptr;
    std::vector<std::pair<const Field*, std::string>> values;
    std::vector<Node> messages;
  };

  static void add(Node& root, Binding binding);
  static Node* find(Node& node, std::string_view name);
  void weave(Node& node);
  void dropBound(std::string_view name, const JsonValue& value);
  // False: what is wrong has been said.
  bool saysTheSame(const Field& field, const JsonValue& body, const JsonValue& bound);

  // These pass what comes under the prefix.
  std::string_view beginPrefix(std::string_view name);
  void endPrefix();
  void openObject(std::string_view name);
  void closeObject();

  JsonEvents& out_;
  const std::vector<std::string_view> prefix_;
  const bool refuses_collisions_;
  std::string& error_;
  Node root_;
  std::vector<Node*> current_;
  // Of objects and lists that nothing is put into.
  uint32_t apart_ = 0;
  // Of what comes, without the prefix.
  uint32_t depth_ = 0;
};

}  // namespace fairlead::transcoder
