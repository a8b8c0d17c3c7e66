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

  // What a session is good for: the name that was sent, and the one that the certificate had to
  // be for.
  static std::string keyOf(std::string_view server_name, std::string_view wanted_names) {
    return std::string(server_name).append(1, '\0').append(wanted_names);
  }
  void keep(SessionPtr session, std::string_view key) {
    if (capacity_ == 0) return;
    if (entries_.size() >= capacity_) entries_.pop_back();
    entries_.push_front({std::move(session), std::string(key)});
  }
  // Has the connection resume the latest that was made with this key, as nobody looks at the
  // certificate again. Those of TLS 1.3 are good for one use.
  void offer(SSL* ssl, std::string_view key) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      SSL_SESSION* const session = at->session.get();
      if (!SSL_SESSION_is_resumable(session)) {
        at = entries_.erase(at);
        continue;
      }
      if (key != at->key) {
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
    std::string key;
  };
  const size_t capacity_;
  std::deque<Entry> entries_;
};

}  // namespace fairlead::tls
