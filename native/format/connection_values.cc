#include "format/connection_values.h"

#include "base/json.h"

namespace fairlead::format {

bool appendConnectionValue(const net::Findings::Values* values, std::string_view key,
                           std::string* out) {
  if (!values || values->empty()) return false;
  if (!key.empty()) {
    const auto found = values->find(key);
    if (found == values->end()) return false;
    for (const char c : found->second) {
      out->push_back(c == '\0' || c == '\r' || c == '\n' ? ' ' : c);
    }
    return true;
  }
  char separator = '{';
  for (const auto& [name, value] : *values) {
    out->push_back(separator);
    separator = ',';
    appendJsonString(out, name);
    out->push_back(':');
    appendJsonString(out, value);
  }
  out->push_back('}');
  return true;
}

}  // namespace fairlead::format
