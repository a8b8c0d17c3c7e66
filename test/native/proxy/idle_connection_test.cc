#include <malloc.h>

#include <new>

#include "http/http1/server_connection.h"
#include "proxy/downstream.h"
#include "test/native/test.h"

namespace fairlead::proxy {

namespace {

// What an object costs, with what the allocator adds: its own word, and rounding.
size_t costOf(size_t size) {
  void* object = ::operator new(size);
  const size_t cost = ::malloc_usable_size(object) + sizeof(size_t);
  ::operator delete(object);
  return cost;
}

}  // namespace

TEST("all that an idle HTTP/1 connection holds fits into 512 bytes") {
  EXPECT(costOf(sizeof(Downstream)) + costOf(sizeof(http1::ServerConnection)) +
             costOf(sizeof(net::Connection)) <=
         512);
}

}  // namespace fairlead::proxy
