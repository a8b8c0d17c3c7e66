// A head that outlives the buffer it was read into: what waits for a connection, and what an access
// log will speak of. Keeps its memory from use to use.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/message.h"

namespace fairlead::http {

class SavedHead {
 public:
  bool isSet() const { return set_; }
  // What was restored of it stays valid, until clear() or save().
  void unset() { set_ = false; }
  // Memory beyond what most heads need is given back.
  void clear() {
    set_ = false;
    if (kept_ && kept_->capacity > kKeptBytes) kept_.reset();
  }

  // None of it may be what is saved here already.
  void save(std::string_view method, std::string_view path, std::string_view authority,
            const HeaderMap& headers) {
    size_t bytes = method.size() + path.size() + authority.size();
    for (const HeaderEntry& entry : headers) {
      if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
    }
    if (!kept_) kept_ = std::make_unique<Kept>();
    Kept& kept = *kept_;
    FL_DCHECK(!kept.holds(method) && !kept.holds(path) && !kept.holds(authority));
    if (bytes > kept.capacity) {
      kept.bytes = std::make_unique_for_overwrite<char[]>(bytes);
      kept.capacity = bytes;
    }
    char* next = kept.bytes.get();
    kept.method = keep(method, &next);
    kept.path = keep(path, &next);
    kept.authority = keep(authority, &next);
    kept.entries.clear();
    for (const HeaderEntry& entry : headers) {
      if (entry.name_size == 0) continue;
      FL_DCHECK(!kept.holds(entry.name()) && !kept.holds(entry.value()));
      const std::string_view name = keep(entry.name(), &next);
      const std::string_view value = keep(entry.value(), &next);
      kept.entries.push_back(
          {name.data(), value.data(), entry.value_size, entry.name_size, entry.id});
    }
    set_ = true;
  }

  // These four: of a head that was saved.
  void restore(HeaderMap* headers) const {
    headers->clear();
    for (const HeaderEntry& entry : kept_->entries) {
      headers->add(entry.id, entry.name(), entry.value());
    }
  }
  std::string_view method() const { return kept_->method; }
  std::string_view path() const { return kept_->path; }
  std::string_view authority() const { return kept_->authority; }

 private:
  static constexpr size_t kKeptBytes = 8 * 1024;

  // Apart, because few streams keep a head, and all of them are as large as this is.
  struct Kept {
    size_t capacity = 0;
    std::unique_ptr<char[]> bytes;
    std::vector<HeaderEntry> entries;
    std::string_view method, path, authority;

    bool holds(std::string_view text) const {
      return !text.empty() && text.data() >= bytes.get() && text.data() < bytes.get() + capacity;
    }
  };

  static std::string_view keep(std::string_view text, char** next) {
    // Nothing may be nowhere: a CONNECT has no path.
    if (!text.empty()) std::memcpy(*next, text.data(), text.size());
    const std::string_view kept(*next, text.size());
    *next += text.size();
    return kept;
  }

  bool set_ = false;
  std::unique_ptr<Kept> kept_;
};

}  // namespace fairlead::http
