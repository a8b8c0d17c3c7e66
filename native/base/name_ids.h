// Small numbers that stand for names, so that whoever meets a name again and again finds what bears
// it in a list instead of searching. A number is kept while anybody holds it, whether anything
// bears the name or not, and is given out again after that. The control thread's; what is held may
// be read by anyone.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace fairlead {

class NameIds {
 public:
  // Holds a number. Must not outlive the NameIds.
  class Ref {
   public:
    Ref() = default;
    Ref(const Ref& other) : ids_(other.ids_), name_(other.name_), id_(other.id_) {
      if (ids_) ++ids_->entries_[id_].holders;
    }
    Ref(Ref&& other) noexcept
        : ids_(std::exchange(other.ids_, nullptr)), name_(other.name_), id_(other.id_) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(ids_, other.ids_);
      std::swap(name_, other.name_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Ref() {
      if (ids_) ids_->letGo(id_);
    }

    explicit operator bool() const { return ids_ != nullptr; }
    uint32_t id() const { return id_; }
    // Where there is one.
    const std::string& name() const { return *name_; }

   private:
    friend class NameIds;
    Ref(NameIds* ids, uint32_t id) : ids_(ids), name_(&ids->entries_[id].name), id_(id) {
      ++ids->entries_[id].holders;
    }

    NameIds* ids_ = nullptr;
    const std::string* name_ = nullptr;
    uint32_t id_ = 0;
  };

  NameIds() = default;
  NameIds(const NameIds&) = delete;
  NameIds& operator=(const NameIds&) = delete;

  Ref hold(std::string_view name) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return Ref(this, known->second);
    uint32_t id = static_cast<uint32_t>(entries_.size());
    if (free_.empty()) {
      entries_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    entries_[id].name = name;
    by_name_.emplace(entries_[id].name, id);
    return Ref(this, id);
  }

  // Of names that are held.
  size_t count() const { return by_name_.size(); }

 private:
  struct Entry {
    std::string name;
    uint32_t holders = 0;
  };

  void letGo(uint32_t id) {
    Entry& entry = entries_[id];
    FL_DCHECK(entry.holders > 0);
    if (--entry.holders > 0) return;
    by_name_.erase(entry.name);
    entry.name = {};
    free_.push_back(id);
  }

  // By number. They stay where they are.
  std::deque<Entry> entries_;
  std::vector<uint32_t> free_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

}  // namespace fairlead
