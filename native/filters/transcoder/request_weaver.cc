#include "filters/transcoder/request_weaver.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace fairlead::transcoder {

RequestWeaver::RequestWeaver(JsonEvents& out, std::vector<std::string_view> prefix,
                             std::vector<Binding> bindings, bool refuses_collisions,
                             std::string& error)
    : out_(out),
      prefix_(std::move(prefix)),
      refuses_collisions_(refuses_collisions),
      error_(error) {
  for (Binding& binding : bindings) add(root_, std::move(binding));
}

void RequestWeaver::add(Node& root, Binding binding) {
  Node* node = &root;
  for (size_t i = 0; i + 1 < binding.path.size(); ++i) {
    const Field* const field = binding.path[i];
    Node* inner = find(*node, field->name);
    if (!inner) {
      node->messages.push_back({field, {}, {}});
      inner = &node->messages.back();
    }
    node = inner;
  }
  if (!binding.path.empty()) {
    node->values.emplace_back(binding.path.back(), std::move(binding.value));
  }
}

RequestWeaver::Node* RequestWeaver::find(Node& node, std::string_view name) {
  for (Node& message : node.messages) {
    if (message.field->name == name) return &message;
  }
  return nullptr;
}

// ---- under the prefix ----

std::string_view RequestWeaver::beginPrefix(std::string_view name) {
  for (const std::string_view field : prefix_) {
    openObject(name);
    name = field;
  }
  return name;
}

void RequestWeaver::endPrefix() {
  for (size_t i = 0; i < prefix_.size(); ++i) closeObject();
}

void RequestWeaver::beginObject(std::string_view name) {
  if (depth_++ == 0) name = beginPrefix(name);
  openObject(name);
}

void RequestWeaver::endObject() {
  closeObject();
  if (--depth_ == 0) endPrefix();
}

void RequestWeaver::beginList(std::string_view name) {
  if (depth_++ == 0) name = beginPrefix(name);
  out_.beginList(name);
  ++apart_;
}

void RequestWeaver::endList() {
  out_.endList();
  --apart_;
  if (--depth_ == 0) endPrefix();
}

void RequestWeaver::scalar(std::string_view name, const JsonValue& value) {
  if (depth_ == 0) name = beginPrefix(name);
  if (apart_ == 0 && !current_.empty() && !value.isNull()) dropBound(name, value);
  out_.scalar(name, value);
  if (depth_ == 0) endPrefix();
}

// ---- among the body's members ----

void RequestWeaver::openObject(std::string_view name) {
  out_.beginObject(name);
  if (current_.empty()) {
    current_.push_back(&root_);
    return;
  }
  Node* const inner = apart_ == 0 ? find(*current_.back(), name) : nullptr;
  if (inner) {
    current_.push_back(inner);
  } else {
    ++apart_;
  }
}

void RequestWeaver::closeObject() {
  if (apart_ > 0) {
    --apart_;
  } else {
    weave(*current_.back());
    current_.pop_back();
  }
  out_.endObject();
}

void RequestWeaver::weave(Node& node) {
  for (const auto& [field, value] : node.values) {
    out_.scalar(field->name, JsonValue::of(std::string_view(value)));
  }
  node.values.clear();
  for (Node& message : node.messages) {
    if (message.values.empty() && message.messages.empty()) continue;
    out_.beginObject(message.field->name);
    weave(message);
    out_.endObject();
  }
  node.messages.clear();
}

// The body has a value of that name.
void RequestWeaver::dropBound(std::string_view name, const JsonValue& value) {
  auto& values = current_.back()->values;
  for (auto it = values.begin(); it != values.end();) {
    if (it->first->name != name) {
      ++it;
      continue;
    }
    const JsonValue bound = JsonValue::of(std::string_view(it->second));
    if (it->first->is_repeated) {
      out_.scalar(name, bound);
    } else if (refuses_collisions_) {
      saysTheSame(*it->first, value, bound);
    }
    it = values.erase(it);
  }
}

bool RequestWeaver::saysTheSame(const Field& field, const JsonValue& body, const JsonValue& bound) {
  const auto check = [&](const char* type, const auto& ours, const auto& theirs) {
    if (ours && theirs && *ours == *theirs) return true;
    if (ours) {
      error_ = "The binding value " + bound.text() + " of the field " + field.name +
               " is conflicting with the value " + body.text() + " in the body.";
    } else {
      error_ = "Failed to convert binding value " + field.name + ":" + bound.text() + " to " + type;
    }
    return false;
  };
  switch (body.type()) {
    case JsonValue::Type::Bool:
      return check("bool", bound.toBool(), body.toBool());
    case JsonValue::Type::Int:
      return check("int64", bound.toInt64(), body.toInt64());
    case JsonValue::Type::UInt:
      return check("uint64", bound.toUInt64(), body.toUInt64());
    case JsonValue::Type::String:
      return check("string", bound.toString(), body.toString());
    case JsonValue::Type::Double: {
      const std::optional<double> ours = bound.toDouble();
      // As far as a float tells them apart.
      constexpr double kClose = 32 * static_cast<double>(std::numeric_limits<float>::epsilon());
      if (ours && std::fabs(*ours - *body.toDouble()) < kClose) return true;
      return check("double", ours, std::optional<double>());
    }
    case JsonValue::Type::Null:
      break;
  }
  return true;
}

}  // namespace fairlead::transcoder
