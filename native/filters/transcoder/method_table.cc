#include "filters/transcoder/method_table.h"

#include "base/hex.h"

namespace fairlead::transcoder {

using Unescape = plan::GrpcJsonTranscoder::Unescape;

namespace {

// RFC 6570 §1.5, "reserved".
constexpr std::string_view kReserved = "!#$&'()*+,/:;=?@[]";

bool isKept(char c, Unescape unescape) {
  if (unescape == Unescape::AllButSlash) return c == '/';
  return unescape == Unescape::AllButReserved && kReserved.find(c) != std::string_view::npos;
}

void appendDecoded(std::string* out, std::string_view text, Unescape unescape, bool plus) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (plus && text[i] == '+') {
      out->push_back(' ');
      continue;
    }
    const int high = text[i] == '%' && i + 2 < text.size() ? hexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? hexValue(text[i + 2]) : -1;
    const char c = static_cast<char>(high << 4 | low);
    if (low < 0 || isKept(c, unescape)) {
      out->push_back(text[i]);
      continue;
    }
    out->push_back(c);
    i += 2;
  }
}

// An empty part at the end is none.
template <typename Visit>
void forEachPart(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const size_t size = std::min(text.find(separator), text.size());
    visit(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

}  // namespace

std::string decodePercents(std::string_view text) {
  std::string result;
  appendDecoded(&result, text, Unescape::All, false);
  return result;
}

MethodTable::MethodTable(const plan::GrpcJsonTranscoder& plan) : plan_(plan) {
  for (const std::string& name : plan.ignored_query_parameters) ignored_.insert(name);
  for (const plan::HttpBinding& binding : plan.bindings) add(binding);
}

void MethodTable::add(const plan::HttpBinding& binding) {
  if (!binding.verb.empty()) verbs_.insert(binding.verb);
  Node* node = &root_;
  for (const std::string& segment : binding.segments) {
    std::unique_ptr<Node>& child = node->children[segment];
    if (!child) child = std::make_unique<Node>();
    if (segment == "**") child->is_any_number = true;
    node = child.get();
  }
  const auto [entry, is_new] = node->bindings.emplace(binding.http_method + binding.verb, &binding);
  if (!is_new) entry->second = nullptr;
}

const plan::HttpBinding* MethodTable::find(std::string_view http_method, std::string_view path,
                                           std::string_view query,
                                           std::vector<BoundText>* bound) const {
  std::string_view verb;
  const Parts parts = split(path, &verb);
  std::string key(http_method);
  key.append(verb);
  const plan::HttpBinding* const binding = findIn(root_, parts, 0, key).second;
  if (!binding) return nullptr;
  bindPath(*binding, parts, bound);
  bindQuery(query, bound);
  return binding;
}

MethodTable::Parts MethodTable::split(std::string_view path, std::string_view* verb) const {
  const size_t colon = path.rfind(':');
  const size_t slash = path.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    const std::string_view last = path.substr(colon + 1);
    if (plan_.matches_unregistered_verbs || verbs_.contains(last)) {
      *verb = last;
      path = path.substr(0, colon);
    }
  }
  Parts parts;
  if (!path.empty()) {
    forEachPart(path.substr(1), '/', [&](std::string_view part) { parts.push_back(part); });
  }
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

MethodTable::Found MethodTable::bindingOf(const Node& node, const std::string& key) {
  auto entry = node.bindings.find(key);
  if (entry == node.bindings.end()) entry = node.bindings.find("*");
  if (entry == node.bindings.end()) return {false, nullptr};
  return {true, entry->second};
}

// What is literal goes before "*", and that before "**".
MethodTable::Found MethodTable::findIn(const Node& node, const Parts& parts, size_t at,
                                       const std::string& key) const {
  if (at == parts.size()) {
    const Found found = bindingOf(node, key);
    if (found.first) return found;
    // "**" may be nothing, too.
    const auto any = node.children.find("**");
    return any == node.children.end() ? found : bindingOf(*any->second, key);
  }
  const Found found = findBehind(node, parts[at], parts, at, key);
  if (found.first) return found;
  // Only literals follow it.
  if (node.is_any_number) return findIn(node, parts, at + 1, key);
  for (const std::string_view any : {"*", "**"}) {
    const Found behind = findBehind(node, any, parts, at, key);
    if (behind.first) return behind;
  }
  return {false, nullptr};
}

MethodTable::Found MethodTable::findBehind(const Node& node, std::string_view child,
                                           const Parts& parts, size_t at,
                                           const std::string& key) const {
  const auto found = node.children.find(child);
  if (found == node.children.end()) return {false, nullptr};
  return findIn(*found->second, parts, at + 1, key);
}

void MethodTable::bindPath(const plan::HttpBinding& binding, const Parts& parts,
                           std::vector<BoundText>* bound) const {
  for (const plan::PathVariable& variable : binding.variables) {
    BoundText text;
    for (const std::string& name : variable.field_path) text.field_path.push_back(name);
    const auto from_end = static_cast<int32_t>(variable.end);
    const size_t end = from_end >= 0 ? static_cast<size_t>(from_end)
                                     : parts.size() + 1 - static_cast<size_t>(-int64_t{from_end});
    const bool is_long = from_end < 0 || end > variable.first + 1;
    for (size_t i = variable.first; i < end && i < parts.size(); ++i) {
      if (i > variable.first) text.value.push_back('/');
      appendDecoded(&text.value, parts[i], is_long ? plan_.unescape : Unescape::All, false);
    }
    bound->push_back(std::move(text));
  }
}

void MethodTable::bindQuery(std::string_view query, std::vector<BoundText>* bound) const {
  forEachPart(query, '&', [&](std::string_view parameter) {
    const size_t equals = parameter.find('=');
    if (equals == 0 || equals == std::string_view::npos) return;
    const std::string_view name = parameter.substr(0, equals);
    if (ignored_.contains(name)) return;
    BoundText text;
    forEachPart(name, '.', [&](std::string_view part) { text.field_path.push_back(part); });
    appendDecoded(&text.value, parameter.substr(equals + 1), Unescape::All, plan_.unescapes_plus);
    bound->push_back(std::move(text));
  });
}

}  // namespace fairlead::transcoder
