// An entry as it is in a file: a block of fixed size, the body, the trailers, the head. What is
// read is anybody's bytes: sizes are checked, and what describes the entry has a checksum, so that
// a file that is being changed, or is broken, is none. Any thread that may wait for a disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "caches/entry.h"

namespace fairlead::caches {

// In front of the body.
inline constexpr uint64_t kEntryFileBlockBytes = 40;

struct EntryFileSizes {
  uint64_t body_bytes = 0;
  uint32_t trailer_bytes = 0;
  uint32_t head_bytes = 0;

  uint64_t trailersAt() const { return kEntryFileBlockBytes + body_bytes; }
  uint64_t headAt() const { return trailersAt() + trailer_bytes; }
  uint64_t total() const { return headAt() + head_bytes; }
};

// Of the entry: its key is within, as names of files say too little of it.
std::string writeEntryHead(std::string_view key, const Entry& entry);
std::string writeEntryTrailers(const http::HeaderMap& trailers);
// `head`, `trailers`: as they follow.
std::string writeEntryBlock(const EntryFileSizes& sizes, std::string_view head,
                            std::string_view trailers);

// Null: it is no entry of that key.
std::shared_ptr<Entry> readEntryFile(net::FileDescriptor file, std::string_view key,
                                     EntryFileSizes* sizes);

// All of it, whatever the kernel takes at once. False: errno says why.
bool writeAll(int fd, std::string_view bytes, uint64_t at);
// As much as there is. False: errno says why.
bool readAll(int fd, std::string* bytes, size_t most, uint64_t at);

}  // namespace fairlead::caches
