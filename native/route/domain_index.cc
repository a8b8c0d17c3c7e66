#include "route/domain_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "base/text.h"
#include "route/same_bytes.h"

namespace fairlead::route {

namespace {

// Longer authorities are lowered on the heap.
constexpr size_t kInlineBytes = 256;
constexpr size_t kFirstSlots = 16;

uint64_t mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Words of 8 bytes; the last one overlaps. Keys come from the configuration alone, so nobody can
// crowd the table on purpose.
uint64_t hashOf(uint64_t seed, std::string_view text) {
  constexpr uint64_t kOne = 0x9e3779b97f4a7c15;
  constexpr uint64_t kTwo = 0xd6e8feb86659fd93;
  const auto word = [&](size_t at) {
    uint64_t value;
    std::memcpy(&value, text.data() + at, sizeof(value));
    return value;
  };
  uint64_t hash = mix(seed ^ kOne, text.size() ^ kTwo);
  if (text.size() < 8) {
    uint64_t last = 0;
    if (!text.empty()) std::memcpy(&last, text.data(), text.size());
    return mix(hash ^ last, kTwo);
  }
  size_t at = 0;
  for (; at + 8 < text.size(); at += 8) hash = mix(hash ^ word(at), kOne);
  return mix(hash ^ word(text.size() - 8), kTwo);
}

// Eight letters at once: 0x20 is added to the bytes between 'A' and 'Z'.
uint64_t lowerWord(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t low_bits = word & (kOnes * 0x7f);
  const uint64_t from_a = low_bits + kOnes * (0x80 - 'A');
  const uint64_t past_z = low_bits + kOnes * (0x80 - 'Z' - 1);
  const uint64_t is_upper = (from_a & ~past_z & ~word) & (kOnes * 0x80);
  return word | is_upper >> 2;
}

// Words as hashOf() reads them, so that no load waits for two stores.
void lowerTo(char* to, std::string_view from) {
  if (from.size() < 8) {
    for (size_t at = 0; at < from.size(); ++at) to[at] = lowerAscii(from[at]);
    return;
  }
  const auto lowerAt = [&](size_t at) {
    uint64_t word;
    std::memcpy(&word, from.data() + at, sizeof(word));
    word = lowerWord(word);
    std::memcpy(to + at, &word, sizeof(word));
  };
  for (size_t at = 0; at + 8 < from.size(); at += 8) lowerAt(at);
  lowerAt(from.size() - 8);
}

void addLength(std::vector<size_t>& lengths, size_t length) {
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
  if (at == lengths.end() || *at != length) lengths.insert(at, length);
}

}  // namespace

void DomainIndex::add(std::string_view domain, const VirtualHost* host) {
  if (domain == "*") {
    if (!any_) any_ = host;
    return;
  }
  Kind kind = Kind::Exact;
  if (domain.starts_with('*')) {
    kind = Kind::Suffix;
    domain.remove_prefix(1);
    addLength(suffix_lengths_, domain.size());
  } else if (domain.ends_with('*')) {
    kind = Kind::Prefix;
    domain.remove_suffix(1);
    addLength(prefix_lengths_, domain.size());
  }
  if (lookUp(kind, domain)) return;
  entries_.push_back(
      {static_cast<uint32_t>(names_.size()), static_cast<uint32_t>(domain.size()), kind, host});
  names_.append(domain);
  // At most half full, so that most searches end where they begin.
  if (entries_.size() * 2 > slots_.size()) {
    grow();
  } else {
    insert(static_cast<uint32_t>(entries_.size() - 1));
  }
}

void DomainIndex::grow() {
  slots_.assign(std::max(kFirstSlots, std::bit_ceil(entries_.size() * 4)), Slot());
  for (uint32_t i = 0; i < entries_.size(); ++i) insert(i);
}

void DomainIndex::insert(uint32_t entry) {
  const Entry& added = entries_[entry];
  const uint64_t hash = hashOf(static_cast<uint64_t>(added.kind), textOf(added));
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].entry != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<uint32_t>(hash >> 32), entry + 1};
}

const VirtualHost* DomainIndex::lookUp(Kind kind, std::string_view text) const {
  if (slots_.empty()) return nullptr;
  const uint64_t hash = hashOf(static_cast<uint64_t>(kind), text);
  const uint32_t upper = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash & (slots_.size() - 1); slots_[at].entry != 0;
       at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != upper) continue;
    const Entry& entry = entries_[slots_[at].entry - 1];
    if (entry.kind != kind || entry.name_size != text.size()) continue;
    if (text.empty() || sameBytes(textOf(entry).data(), text.data(), text.size())) {
      return entry.host;
    }
  }
  return nullptr;
}

const VirtualHost* DomainIndex::find(std::string_view authority) const {
  if (slots_.empty()) return any_;
  if (authority.size() <= kInlineBytes) {
    char lowered[kInlineBytes];
    lowerTo(lowered, authority);
    return findLowered({lowered, authority.size()});
  }
  std::string lowered(authority.size(), '\0');
  lowerTo(lowered.data(), authority);
  return findLowered(lowered);
}

const VirtualHost* DomainIndex::findLowered(std::string_view domain) const {
  if (const VirtualHost* host = lookUp(Kind::Exact, domain)) return host;
  // At least one byte stands for the asterisk.
  for (const size_t length : suffix_lengths_) {
    if (length >= domain.size()) continue;
    const std::string_view suffix = domain.substr(domain.size() - length);
    if (const VirtualHost* host = lookUp(Kind::Suffix, suffix)) return host;
  }
  for (const size_t length : prefix_lengths_) {
    if (length >= domain.size()) continue;
    if (const VirtualHost* host = lookUp(Kind::Prefix, domain.substr(0, length))) return host;
  }
  return any_;
}

}  // namespace fairlead::route
