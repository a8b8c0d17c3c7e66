// What routing reads of a request. Views; they live while the request is routed.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace fairlead::route {

struct RequestView {
  std::string_view method;
  // With its query.
  std::string_view path;
  std::string_view authority;
  std::string_view scheme;
  const http::HeaderMap* headers;
  // Draws for weights and fractions; another one for each request.
  uint64_t random;

  std::string_view pathOnly() const { return path.substr(0, path.find_first_of("?#")); }
  std::string_view query() const {
    const size_t at = path.find('?');
    return at == std::string_view::npos ? std::string_view() : path.substr(at + 1);
  }
  // A header, or a pseudo header by its name (":path"). False: there is none.
  bool header(std::string_view name, std::string_view* value) const {
    if (name[0] == ':') {
      if (name == ":method") *value = method;
      else if (name == ":path") *value = path;
      else if (name == ":authority") *value = authority;
      else if (name == ":scheme") *value = scheme;
      else return false;
      return true;
    }
    if (name == "host") {
      *value = authority;
      return true;
    }
    const http::HeaderEntry* entry = headers->find(name);
    if (!entry) return false;
    *value = entry->value();
    return true;
  }
};

}  // namespace fairlead::route
