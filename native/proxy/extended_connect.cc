#include "proxy/extended_connect.h"

#include <optional>

namespace fairlead::proxy {

namespace {

// A header that is not sent, and is there again afterwards.
class Unsent {
 public:
  explicit Unsent(http::HeaderEntry* entry) : entry_(entry), before_(*entry) { entry->remove(); }
  Unsent(const Unsent&) = delete;
  Unsent& operator=(const Unsent&) = delete;
  ~Unsent() { *entry_ = before_; }
  std::string_view value() const { return before_.value(); }

 private:
  http::HeaderEntry* const entry_;
  const http::HeaderEntry before_;
};

}  // namespace

void sendExtendedConnect(http::ClientStream& to, http::RequestOut& head, bool end) {
  http::HeaderMap& headers = *head.headers;
  http::HeaderEntry* const asked = headers.find(http::HeaderId::Upgrade);
  http::HeaderEntry* const hop = headers.find(http::HeaderId::Connection);
  if (!asked || !hop) {
    // A route or a filter has taken away what asked for it.
    to.sendHead(head, end);
    return;
  }
  const Unsent upgrade(asked);
  const Unsent connection(hop);
  // What the tunnel carries is no body, and would be one that is too long.
  std::optional<Unsent> length;
  http::HeaderEntry* const entry = headers.find(http::HeaderId::ContentLength);
  if (entry && entry->value() == "0") length.emplace(entry);
  head.method = "CONNECT";
  head.protocol = upgrade.value();
  to.sendHead(head, end);
}

}  // namespace fairlead::proxy
