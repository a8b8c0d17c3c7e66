// The contract of a store of answers. One for all workers, which ask it on their own threads; what
// it cannot answer at once it answers on the asker's thread, later. Owned by the filters that use
// it (caches/cache_stores.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "caches/entry.h"
#include "http/message.h"
#include "net/loop.h"

namespace fairlead::caches {

// Where something of a store is asked.
struct Place {
  net::Loop& loop;
  unsigned worker;
};

// Who waits for a store, on its worker's thread.
class Asker {
 public:
  // Null: there is none.
  virtual void onLookup(EntryRef entry) = 0;
  // Of a body in a file. Empty: it could not be read.
  virtual void onRead(std::string bytes) = 0;
  // What an insertion was behind with has been taken.
  virtual void onWritten() {}

 protected:
  ~Asker() = default;
};

// Ties what is asked to who asks: torn, nobody hears of it any more. The asker's thread's.
class Ticket {
 public:
  explicit Ticket(Asker& asker) : asker_(&asker) {}
  Asker* asker() const { return asker_; }
  void tear() { asker_ = nullptr; }

 private:
  Asker* asker_;
};
using TicketRef = std::shared_ptr<Ticket>;

// An answer on its way into a store. It is there once it has been committed; ended before, nothing
// of it stays. The worker's thread.
class Insertion {
 public:
  virtual ~Insertion() = default;
  virtual void append(std::string_view data) = 0;
  // `trailers`: null: there are none.
  virtual void commit(const http::HeaderMap* trailers) = 0;
  // More waits to be written than should: onWritten() says when that is over.
  virtual bool isBehind() const { return false; }
};

class Cache {
 public:
  virtual ~Cache() = default;

  // True: `found` has it, or is null. False: the asker hears of it.
  virtual bool lookup(const std::string& key, const Place& place, const TicketRef& ticket,
                      EntryRef* found) = 0;
  // Of an entry in a file: at least a byte, at most so many.
  virtual void read(const EntryRef& entry, uint64_t offset, size_t most, const Place& place,
                    const TicketRef& ticket) {}
  // Without its body. Null: it is not wanted.
  virtual std::unique_ptr<Insertion> insert(std::string key, std::shared_ptr<Entry> head,
                                            const Place& place, const TicketRef& ticket) = 0;
  // In the place of what is there under the key, if that has not been replaced meanwhile.
  virtual void update(const std::string& key, const EntryRef& old, EntryRef entry,
                      const Place& place) = 0;
};

}  // namespace fairlead::caches
