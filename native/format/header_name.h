// A request header's name as the configuration gives it, resolved once: pseudo headers and headers
// that the proxy knows are found without comparing texts. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "http/message.h"

namespace fairlead::format {

class HeaderName {
 public:
  enum class Kind : uint8_t { Method, Path, Authority, Scheme, OtherPseudo, Header };

  HeaderName() = default;
  // In lower case. "host" is what requests call ":authority".
  explicit HeaderName(std::string text)
      : text_(std::move(text)), kind_(kindOf(text_)), id_(http::internHeader(text_)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  Kind kind() const { return kind_; }
  bool isPseudo() const { return kind_ != Kind::Header; }

  // Whether this names the entry. An entry that was removed has no name.
  bool names(const http::HeaderEntry& entry) const {
    return id_ != http::HeaderId::Other ? entry.id == id_ : entry.name() == text_;
  }
  // The first header of this name after `after` (null: from the start); null when there is none.
  // Not for pseudo headers.
  const http::HeaderEntry* find(const http::HeaderMap& headers,
                                const http::HeaderEntry* after = nullptr) const {
    for (const http::HeaderEntry* at = after ? after + 1 : headers.begin(); at != headers.end();
         ++at) {
      if (names(*at)) return at;
    }
    return nullptr;
  }

 private:
  static Kind kindOf(std::string_view name) {
    if (name == ":method") return Kind::Method;
    if (name == ":path") return Kind::Path;
    if (name == ":authority" || name == "host") return Kind::Authority;
    if (name == ":scheme") return Kind::Scheme;
    return name.starts_with(':') ? Kind::OtherPseudo : Kind::Header;
  }

  std::string text_;
  Kind kind_ = Kind::Header;
  http::HeaderId id_ = http::HeaderId::Other;
};

}  // namespace fairlead::format
