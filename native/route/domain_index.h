// Finds a virtual host by the domain of a request: exact, then the longest suffix ("*.a.b"), then
// the longest prefix ("a.*"), then "*". One open-addressed table of hashes; a name is compared
// once. Immutable once filled; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::route {

struct VirtualHost;

class DomainIndex {
 public:
  // In lower case, as the configuration has it. Of equal domains the first counts. Lent.
  void add(std::string_view domain, const VirtualHost* host);

  // The authority in any case. Null: no domain fits.
  const VirtualHost* find(std::string_view authority) const;
  // That of "*", where there is no other domain. Null: there are others, or it is not there.
  const VirtualHost* onlyOne() const { return entries_.empty() ? any_ : nullptr; }

 private:
  enum class Kind : uint8_t { Exact, Suffix, Prefix };
  // Its text, without the asterisk, is in names_.
  struct Entry {
    uint32_t name;
    uint32_t name_size;
    Kind kind;
    const VirtualHost* host;
  };
  // An entry's place and the upper half of its hash, which tells most others apart.
  struct Slot {
    uint32_t hash = 0;
    // 1 more than the place in entries_; 0: free.
    uint32_t entry = 0;
  };

  const VirtualHost* findLowered(std::string_view domain) const;
  const VirtualHost* lookUp(Kind kind, std::string_view text) const;
  std::string_view textOf(const Entry& entry) const {
    return {names_.data() + entry.name, entry.name_size};
  }
  void insert(uint32_t entry);
  void grow();

  std::vector<Entry> entries_;
  std::string names_;
  std::vector<Slot> slots_;
  // Bytes after and before asterisks, each length once, longest first.
  std::vector<size_t> suffix_lengths_;
  std::vector<size_t> prefix_lengths_;
  const VirtualHost* any_ = nullptr;
};

}  // namespace fairlead::route
