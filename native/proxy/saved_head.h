// A head that outlives the buffer it was read into: what waits for a connection, and what an access
// log will speak of. Keeps its memory from use to use.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace fairlead::proxy {

class SavedHead {
 public:
  bool isSet() const { return set_; }
  // What was restored of it stays valid, until clear() or save().
  void unset() { set_ = false; }
  // Memory beyond what most heads need is given back.
  void clear() {
    set_ = false;
    if (capacity_ <= kKeptBytes) return;
    bytes_.reset();
    capacity_ = 0;
    entries_ = {};
  }

  void save(std::string_view method, std::string_view path, std::string_view authority,
            const http::HeaderMap& headers) {
    size_t bytes = method.size() + path.size() + authority.size();
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
    }
    if (bytes > capacity_) {
      bytes_ = std::make_unique_for_overwrite<char[]>(bytes);
      capacity_ = bytes;
    }
    next_ = bytes_.get();
    method_ = keep(method);
    path_ = keep(path);
    authority_ = keep(authority);
    entries_.clear();
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name_size == 0) continue;
      const std::string_view name = keep(entry.name());
      const std::string_view value = keep(entry.value());
      entries_.push_back({name.data(), value.data(), entry.value_size, entry.name_size, entry.id});
    }
    set_ = true;
  }

  void restore(http::HeaderMap* headers) const {
    headers->clear();
    for (const http::HeaderEntry& entry : entries_) {
      headers->add(entry.id, entry.name(), entry.value());
    }
  }
  std::string_view method() const { return method_; }
  std::string_view path() const { return path_; }
  std::string_view authority() const { return authority_; }

 private:
  static constexpr size_t kKeptBytes = 8 * 1024;

  std::string_view keep(std::string_view text) {
    // Nothing may be nowhere: a CONNECT has no path.
    if (!text.empty()) std::memcpy(next_, text.data(), text.size());
    const std::string_view kept(next_, text.size());
    next_ += text.size();
    return kept;
  }

  bool set_ = false;
  size_t capacity_ = 0;
  char* next_ = nullptr;
  std::unique_ptr<char[]> bytes_;
  std::vector<http::HeaderEntry> entries_;
  std::string_view method_, path_, authority_;
};

}  // namespace fairlead::proxy
