// Sessions with the hosts of a cluster that later connections may resume, the latest first. One
// worker's; its thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "tls/openssl.h"

namespace fairlead::tls {

class SessionStore {
 public:
  explicit SessionStore(size_t capacity) : capacity_(capacity) {}

  // `server_name`: that the connection has sent.
  void keep(SessionPtr session, std::string_view server_name) {
    if (capacity_ == 0) return;
    if (entries_.size() >= capacity_) entries_.pop_back();
    entries_.push_front({std::move(session), std::string(server_name)});
  }
  // Has the connection resume the latest that was made with this name, as nobody looks at the
  // certificate again. Those of TLS 1.3 are good for one use.
  void offer(SSL* ssl, std::string_view server_name) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      SSL_SESSION* const session = at->session.get();
      if (!SSL_SESSION_is_resumable(session)) {
        at = entries_.erase(at);
        continue;
      }
      if (server_name != at->server_name) {
        ++at;
        continue;
      }
      SSL_set_session(ssl, session);
      if (SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION) entries_.erase(at);
      return;
    }
  }

 private:
  struct Entry {
    SessionPtr session;
    std::string server_name;
  };
  const size_t capacity_;
  std::deque<Entry> entries_;
};

}  // namespace fairlead::tls
