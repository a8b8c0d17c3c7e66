// What filters keep with a request under names, for those behind them, for formats and for what
// goes to hosts: texts, and things that formats ask in several ways. The worker's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::net {

// Whether anything that was ever built asks for what is kept. For good, once it is so; any thread.
inline std::atomic<bool> filter_state_wanted{false};
inline bool isFilterStateWanted() { return filter_state_wanted.load(std::memory_order_relaxed); }
inline void wantFilterState() { filter_state_wanted.store(true, std::memory_order_relaxed); }

// Of these, false: there is no such thing, and nothing was appended.
class StateObject {
 public:
  virtual ~StateObject() = default;
  // The same for all of a class, and for no other.
  virtual const void* kind() const = 0;
  virtual bool appendText(std::string*) const { return false; }
  virtual bool appendJson(std::string*) const { return false; }
  virtual bool appendField(std::string_view, std::string*) const { return false; }
};

// What becomes of a value where connections to hosts are made.
struct StateSharing {
  // Internal listeners that are connected to are told of it.
  bool is_shared = false;
  // And whom they connect to.
  bool goes_on = false;
  // Hosts may be chosen by it; where it is shared, requests with another value share no
  // connections.
  bool is_hashable = false;
};

// As in the real server, where the two live for different times, neither takes the other's place.
class FilterState {
 public:
  // What a text is, which decides who asks for it and what is shown of it.
  enum class Form : uint8_t {
    Quoted,
    // As it is, in JSON, too.
    Bare,
    // A number so large that it is a text in JSON.
    Digits,
    // Not in JSON.
    Untold,
    // It has fields, and is not in JSON.
    Address,
    // Nowhere.
    Hidden,
  };

  // False: it is there already, and may not be changed.
  bool set(std::string_view key, std::string_view value, bool is_read_only,
           Form form = Form::Quoted, StateSharing sharing = {}) {
    Entry& entry = entryFor(key);
    if (entry.object || entry.is_read_only) return false;
    entry.value = value;
    entry.form = form;
    entry.sharing = sharing;
    entry.is_set = true;
    entry.is_read_only = is_read_only;
    return true;
  }
  bool put(std::string_view key, std::shared_ptr<StateObject> object) {
    Entry& entry = entryFor(key);
    if (entry.is_set) return false;
    entry.object = std::move(object);
    return true;
  }
  // Null: there is none that is shown. `form`: what it is; null: nobody wants to know.
  const std::string* find(std::string_view key, Form* form = nullptr) const {
    const Entry* const entry = entryOf(key);
    if (!entry || !entry->is_set || entry->form == Form::Hidden) return nullptr;
    if (form) *form = entry->form;
    return &entry->value;
  }
  // Null: there is none that is such a one.
  const std::string* findAs(Form form, std::string_view key) const {
    const Entry* const entry = entryOf(key);
    return entry && entry->is_set && entry->form == form ? &entry->value : nullptr;
  }
  // Of what may be hashed, as find().
  const std::string* findHashable(std::string_view key) const {
    const Entry* const entry = entryOf(key);
    return entry && entry->is_set && entry->sharing.is_hashable ? &entry->value : nullptr;
  }
  const StateObject* findObject(std::string_view key) const {
    const Entry* const entry = entryOf(key);
    return entry ? entry->object.get() : nullptr;
  }
  std::shared_ptr<StateObject> shareObject(std::string_view key) const {
    const Entry* const entry = entryOf(key);
    return entry ? entry->object : nullptr;
  }

  // Calls visit(key, value, form, is_read_only, sharing) for each text that is shared.
  template <typename Visit>
  void forEachShared(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.is_set && entry.sharing.is_shared) {
        visit(entry.key, entry.value, entry.form, entry.is_read_only, entry.sharing);
      }
    }
  }

 private:
  struct Entry {
    std::string key;
    std::string value;
    // It is a text.
    bool is_set = false;
    bool is_read_only = false;
    Form form = Form::Quoted;
    StateSharing sharing = {};
    // In place of one; null: it is none.
    std::shared_ptr<StateObject> object = nullptr;
  };

  const Entry* entryOf(std::string_view key) const {
    for (const Entry& entry : entries_) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
  Entry& entryFor(std::string_view key) {
    if (const Entry* const entry = entryOf(key)) return *const_cast<Entry*>(entry);
    Entry& entry = entries_.emplace_back();
    entry.key = key;
    return entry;
  }

  std::vector<Entry> entries_;
};

// What is kept with a request, or else with its connection, that is such a one. Null: neither has
// it, or there is no such state.
inline const std::string* findAs(FilterState::Form form, std::string_view key,
                                 const FilterState* request, const FilterState* connection) {
  const std::string* const found = request ? request->findAs(form, key) : nullptr;
  return found || !connection ? found : connection->findAs(form, key);
}

// Of a request or a connection whose first it may be.
inline FilterState& ensureFilterState(std::unique_ptr<FilterState>& state) {
  if (!state) state = std::make_unique<FilterState>();
  return *state;
}

}  // namespace fairlead::net
