// What one handler writes to one connection, gathered so that it leaves in one system call: heads
// composed in scratch bytes and views of body bytes that are not copied. One per worker; empty
// whenever no handler runs.
//
// What is short may be posted: it stays in the scratch bytes until the handlers of many events have
// run, and all that they posted leaves one after the other. So neither the handlers nor the
// kernel's way out is pushed out of the processor's caches by the other between any two events.
#pragma once

#include <sys/uio.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/stale.h"

namespace fairlead::net {

class Connection;

class OutBatch {
 public:
  static constexpr int kMaxParts = 64;
  static constexpr size_t kScratchBytes = 64 * 1024;
  // About a frame of HTTP/2: more is sent faster than copied.
  static constexpr size_t kMostWaiting = 20 * 1024;
  // Posted at most: more is worth a system call of its own at once.
  static constexpr size_t kMostPostedBytes = 4 * 1024;
  static constexpr int kMostPosted = 64;
  // Views up to this size are copied behind the head: cheaper than one more part (512 bytes copy in
  // ~10 ns; a second part costs the kernel ~100 ns).
  static constexpr size_t kCopyBytes = 1024;

  OutBatch()
      : scratch_(std::make_unique_for_overwrite<char[]>(kScratchBytes)), kept_end_(scratch_.get()) {
    clear();
  }

  bool empty() const { return parts_ == 0; }
  // Says for whom bytes are gathered: one connection at a time. What is here of another one goes
  // out first, so that nobody ever gets another's bytes.
  void claim(Connection& owner) {
    if (parts_ > 0 && owner_ != &owner) [[unlikely]]
      sendToOwner();
    owner_ = &owner;
  }
  // What was gathered for `owner`, which has ended, is dropped.
  void dropOf(const Connection& owner) {
    if (owner_ == &owner && parts_ > 0) clear();
  }
  bool isOf(const Connection& connection) const { return parts_ > 0 && owner_ == &connection; }
  size_t size() const { return size_; }
  // What is short is not sent at once but with the turn: one read tells of several connections in
  // turns, and may come back to each.
  void letWait(bool lets_wait) { lets_wait_ = lets_wait; }
  bool mayWait() const { return lets_wait_ && size_ <= kMostWaiting; }
  // One short part in the scratch bytes.
  bool mayBePosted() const {
    return parts_ == 1 && size_ <= kMostPostedBytes && parts_list_[0].iov_base >= scratch_.get() &&
           parts_list_[0].iov_base < scratch_.get() + kScratchBytes;
  }
  // What is here goes to `to` with deliver(), which is called from here where little more has room.
  void post(Connection& to) {
    char* const begin = static_cast<char*>(parts_list_[0].iov_base);
    posted_[posted_count_++] = {&to, {begin, size_}};
    kept_end_ = begin + size_;
    clear();
    const bool has_room = scratch_end_ - scratch_next_ >= kLeastScratchBytes;
    if (posted_count_ == kMostPosted || !has_room) deliver();
  }
  bool hasPosted() const { return posted_count_ > 0; }
  void deliver();
  // Few parts are left: send what is here first.
  bool isAlmostFull() const { return parts_ + 8 > kMaxParts; }

  // A place for up to `bytes` composed bytes; finish with commit().
  char* reserve(size_t bytes) {
    if (bytes > static_cast<size_t>(scratch_end_ - scratch_next_)) grow(bytes);
    markFresh(scratch_next_, bytes);
    return scratch_next_;
  }
  void commit(char* end) {
    char* begin = scratch_next_;
    scratch_next_ = end;
    push(begin, static_cast<size_t>(end - begin));
  }
  void copy(std::string_view bytes) {
    char* to = reserve(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    commit(to + bytes.size());
  }
  // `bytes` must stay until the batch is sent.
  void addView(std::string_view bytes) {
    if (bytes.size() <= kCopyBytes) {
      copy(bytes);
    } else {
      push(const_cast<char*>(bytes.data()), bytes.size());
    }
  }

  iovec* parts() { return parts_list_; }
  int partCount() const { return parts_; }
  void clear() {
    parts_ = 0;
    size_ = 0;
    scratch_next_ = kept_end_;
    scratch_end_ = scratch_.get() + kScratchBytes;
    markStale(scratch_next_, static_cast<size_t>(scratch_end_ - scratch_next_));
    if (!large_.empty()) large_.clear();
  }

 private:
  static constexpr ptrdiff_t kLeastScratchBytes = 16 * 1024;

  struct Posted {
    Connection* to;
    std::string_view bytes;
  };

  void sendToOwner();

  // A head larger than the scratch (max_request_headers_kb goes up to 8 MiB).
  void grow(size_t bytes) {
    const size_t size = bytes > kScratchBytes ? bytes : kScratchBytes;
    large_.push_back(std::make_unique_for_overwrite<char[]>(size));
    scratch_next_ = large_.back().get();
    scratch_end_ = scratch_next_ + size;
  }

  void push(char* data, size_t bytes) {
    if (bytes == 0) return;
    size_ += bytes;
    if (parts_ > 0) {
      iovec& last = parts_list_[parts_ - 1];
      if (static_cast<char*>(last.iov_base) + last.iov_len == data) {
        last.iov_len += bytes;
        return;
      }
    }
    if (parts_ == kMaxParts) joinParts();
    parts_list_[parts_++] = {data, bytes};
  }

  // All that is here becomes one part: whoever did not send in time pays a copy.
  void joinParts() {
    const size_t size = partBytes();
    large_.push_back(std::make_unique_for_overwrite<char[]>(size));
    char* to = large_.back().get();
    for (const iovec& part : parts_list_) {
      std::memcpy(to, part.iov_base, part.iov_len);
      to += part.iov_len;
    }
    parts_list_[0] = {large_.back().get(), size};
    parts_ = 1;
  }
  size_t partBytes() const {
    size_t size = 0;
    for (int i = 0; i < parts_; ++i) size += parts_list_[i].iov_len;
    return size;
  }

  Connection* owner_ = nullptr;
  bool lets_wait_ = false;
  int parts_ = 0;
  size_t size_ = 0;
  char* scratch_next_;
  char* scratch_end_;
  iovec parts_list_[kMaxParts];
  int posted_count_ = 0;
  Posted posted_[kMostPosted];
  std::unique_ptr<char[]> scratch_;
  char* kept_end_;  // Of what is posted.
  std::vector<std::unique_ptr<char[]>> large_;
};

}  // namespace fairlead::net
