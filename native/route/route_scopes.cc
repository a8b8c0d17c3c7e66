#include "route/route_scopes.h"

#include <cstring>

namespace fairlead::route {

namespace {

void appendPart(std::string_view part, std::string* key) {
  const uint64_t length = part.size();
  key->append(reinterpret_cast<const char*>(&length), sizeof(length));
  key->append(part);
}

// Takes what comes before the separator, and the separator, off the rest. Empty separators part
// nothing.
std::string_view takeElement(std::string_view separator, std::string_view* rest) {
  const size_t end = separator.empty() ? std::string_view::npos : rest->find(separator);
  const std::string_view element = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + separator.size());
  return element;
}

}  // namespace

RouteScopes::RouteScopes(const plan::ScopedRoutes& plan, NameIds& tables) {
  for (const plan::ScopeFragment& fragment : plan.fragments) {
    fragments_.push_back({HeaderName(fragment.header), fragment.element_separator, fragment.index,
                          fragment.key_separator, fragment.key});
  }
  for (const plan::RouteScope& scope : plan.scopes) {
    std::string key;
    for (const std::string& part : scope.key) appendPart(part, &key);
    scopes_.emplace(std::move(key), Scope{tables.hold(scope.route_table), scope.on_demand});
  }
}

bool RouteScopes::Fragment::read(const RequestView& request, std::string* to) const {
  std::string_view value;
  if (!request.header(header, &value)) return false;
  if (element_separator.empty() && key_separator.empty()) {
    if (index > 0) return false;
    appendPart(value, to);
    return true;
  }
  bool has_more = true;
  for (uint32_t place = 0; has_more; ++place) {
    has_more = !element_separator.empty() && value.find(element_separator) != value.npos;
    std::string_view element = takeElement(element_separator, &value);
    if (key_separator.empty()) {
      if (place < index) continue;
      appendPart(element, to);
      return true;
    }
    const bool has_value = element.find(key_separator) != element.npos;
    if (takeElement(key_separator, &element) != key) continue;
    appendPart(has_value ? element : std::string_view(), to);
    return true;
  }
  return false;
}

const RouteScopes::Scope* RouteScopes::find(const RequestView& request) const {
  std::string key;
  for (const Fragment& fragment : fragments_) {
    if (!fragment.read(request, &key)) return nullptr;
  }
  const auto found = scopes_.find(key);
  return found == scopes_.end() ? nullptr : &found->second;
}

}  // namespace fairlead::route
