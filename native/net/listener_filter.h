// What looks at a connection before its filter chain is chosen: it may read what has come, change
// the addresses, and say what the client speaks. One object per connection, made when its turn
// comes; the worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "net/downstream_connection.h"

namespace fairlead::net {

// A socket whose bytes belong to listener filters, for now.
class EarlySocket {
 public:
  virtual AcceptedSocket& socket() = 0;
  Findings& findings() { return *socket().findings; }
  // What has come and is not taken yet, as much as the loop's buffer holds; until the next call.
  virtual std::string_view peek() = 0;
  // Takes as many bytes of what peek() gave: nobody sees them any more. False: it cannot be done.
  virtual bool take(size_t bytes) = 0;

 protected:
  ~EarlySocket() = default;
};

class ListenerFilter {
 public:
  virtual ~ListenerFilter() = default;

  enum class Verdict : uint8_t {
    // The next filter's turn.
    Continue,
    // Called again when more has come.
    Wait,
    // The connection is closed.
    Refuse,
  };
  // Called once, and again whenever there may be more to peek at.
  virtual Verdict look(EarlySocket& socket) = 0;
};

// A filter as a listener has it. Immutable; any worker's thread.
class ListenerFilterConfig {
 public:
  virtual ~ListenerFilterConfig() = default;
  // `worker`: whose statistics it counts in.
  virtual std::unique_ptr<ListenerFilter> make(unsigned worker) const = 0;
  // False: it has not come yet, and nobody passes. That worker's thread.
  virtual bool isThere(unsigned) const { return true; }
};

// Which connections something is for, by what is known of them so far.
class ListenerPredicate {
 public:
  explicit ListenerPredicate(const plan::ListenerPredicate& plan) : plan_(plan) {}
  bool matches(const AcceptedSocket& socket) const { return matches(plan_, socket); }

 private:
  static bool matches(const plan::ListenerPredicate& rule, const AcceptedSocket& socket);

  const plan::ListenerPredicate plan_;
};

struct ListenerFilterEntry {
  std::shared_ptr<const ListenerFilterConfig> config;
  // Connections that it leaves alone; null: none.
  std::shared_ptr<const ListenerPredicate> disabled;
};

using ListenerFilters = std::vector<ListenerFilterEntry>;

}  // namespace fairlead::net
