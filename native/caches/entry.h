// What a cache has under one key: an answer, or by what answers of that address vary. Immutable
// once it is shared; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "http/message.h"
#include "http/saved_head.h"
#include "net/file_descriptor.h"

namespace fairlead::caches {

struct Entry {
  uint16_t status = 0;
  // Of the wall clock: when its host has answered, or has last said that it still holds.
  uint64_t stored_at_us = 0;
  // Always saved.
  http::SavedHead headers;
  // Not set: there are none.
  http::SavedHead trailers;
  // Its headers are `vary` alone: there is an answer for each variant, under a key of its own.
  bool is_directory = false;
  uint64_t body_bytes = 0;
  // The body: either, or none. In a file it begins there.
  std::shared_ptr<const std::string> body;
  std::shared_ptr<const net::FileDescriptor> file;
  uint64_t body_at = 0;

  // With `headers` in the place of its own, and the same body.
  static std::shared_ptr<const Entry> withHeaders(const Entry& old, const http::HeaderMap& headers,
                                                  uint64_t stored_at_us) {
    auto entry = std::make_shared<Entry>();
    entry->status = old.status;
    entry->stored_at_us = stored_at_us;
    entry->headers.save({}, {}, {}, headers);
    if (old.trailers.isSet()) {
      http::HeaderMap trailers;
      old.trailers.restore(&trailers);
      entry->trailers.save({}, {}, {}, trailers);
    }
    entry->body_bytes = old.body_bytes;
    entry->body = old.body;
    entry->file = old.file;
    entry->body_at = old.body_at;
    return entry;
  }
};

using EntryRef = std::shared_ptr<const Entry>;

}  // namespace fairlead::caches
