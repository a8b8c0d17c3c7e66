#include "caches/entry_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/native/test.h"

namespace fairlead::caches {

namespace {

// A file of those bytes.
net::FileDescriptor fileOf(std::string_view bytes) {
  net::FileDescriptor file(::memfd_create("entry", MFD_CLOEXEC));
  EXPECT(writeAll(file.get(), bytes, 0));
  return file;
}

std::string entryBytes() {
  http::HeaderMap headers;
  headers.add(http::HeaderId::Etag, "etag", "\"a\"");
  Entry entry;
  entry.status = 200;
  entry.stored_at_us = 7;
  entry.headers.save({}, {}, {}, headers);
  http::HeaderMap trailers;
  trailers.add(http::HeaderId::Other, "x-end", "b");
  const std::string head = writeEntryHead("key", entry);
  const std::string last = writeEntryTrailers(trailers);
  const EntryFileSizes sizes{4, static_cast<uint32_t>(last.size()),
                             static_cast<uint32_t>(head.size())};
  return writeEntryBlock(sizes, head, last) + "body" + last + head;
}

std::shared_ptr<Entry> readBack(std::string_view bytes, std::string_view key = "key") {
  EntryFileSizes sizes;
  return readEntryFile(fileOf(bytes), key, &sizes);
}

}  // namespace

TEST("An entry in a file is what was written") {
  const auto entry = readBack(entryBytes());
  EXPECT(entry != nullptr);
  EXPECT_EQ(entry->status, 200);
  EXPECT_EQ(entry->stored_at_us, 7u);
  EXPECT_EQ(entry->body_bytes, 4u);
  http::HeaderMap headers;
  entry->headers.restore(&headers);
  EXPECT_EQ(headers.find(http::HeaderId::Etag)->value(), "\"a\"");
  std::string body;
  EXPECT(readAll(entry->file->get(), &body, 4, entry->body_at));
  EXPECT_EQ(body, "body");
  EXPECT(entry->trailers.isSet());
}

TEST("An entry of another key is none") { EXPECT(!readBack(entryBytes(), "kez")); }

TEST("A file that was cut or changed is no entry") {
  const std::string bytes = entryBytes();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT(!readBack(bytes.substr(0, size)));
  EXPECT(!readBack(bytes + "a"));
  for (size_t i = 0; i < bytes.size(); ++i) {
    // The body may say anything, and what fills the block up.
    const bool is_body = i >= kEntryFileBlockBytes && i < kEntryFileBlockBytes + 4;
    if (is_body || (i >= 32 && i < kEntryFileBlockBytes)) continue;
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    EXPECT(!readBack(changed));
  }
}

}  // namespace fairlead::caches
