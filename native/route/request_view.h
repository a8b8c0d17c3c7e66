// What routing reads of a request. Views; they live while the request is routed.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/header_name.h"
#include "http/message.h"
#include "net/tls_info.h"

namespace fairlead::format {
struct FormatContext;
}

namespace fairlead::route {

using format::HeaderName;

// A path up to its query or fragment.
inline std::string_view withoutQuery(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path.substr(0, path.find('#'));
}

struct RequestView {
  std::string_view method;
  // With its query. Empty: a plain CONNECT, which has none.
  std::string_view path;
  std::string_view authority;
  std::string_view scheme;
  const http::HeaderMap* headers;
  // Draws for weights and fractions; another one for each request.
  uint64_t random;
  // Of the client's connection; null: it is in the clear.
  const net::TlsInfo* tls = nullptr;
  // What else is known of it, for whoever asks; null: nothing.
  const void* stream = nullptr;
  void (*describe_stream)(const void* stream, format::FormatContext* out) = nullptr;

  void describe(format::FormatContext* out) const {
    if (describe_stream) describe_stream(stream, out);
  }
  std::string_view pathOnly() const { return withoutQuery(path); }
  std::string_view query() const {
    const size_t at = path.find('?');
    return at == std::string_view::npos ? std::string_view() : path.substr(at + 1);
  }

  // The first header of that name, or a pseudo header. False: there is none.
  bool header(const HeaderName& name, std::string_view* value) const {
    switch (name.kind()) {
      case HeaderName::Kind::Method:
        *value = method;
        return true;
      case HeaderName::Kind::Path:
        *value = path;
        return true;
      case HeaderName::Kind::Authority:
        *value = authority;
        return true;
      case HeaderName::Kind::Scheme:
        *value = scheme;
        return true;
      case HeaderName::Kind::OtherPseudo:
        return false;
      case HeaderName::Kind::Header:
        break;
    }
    const http::HeaderEntry* entry = name.find(*headers);
    if (!entry) return false;
    *value = entry->value();
    return true;
  }
};

}  // namespace fairlead::route
