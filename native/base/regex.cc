#include "base/regex.h"

#include <algorithm>
#include <cstring>

namespace fairlead {

namespace {

constexpr uint32_t kMagic = 0x31786572;
constexpr uint32_t kMaxInstructions = 65'536;
constexpr uint32_t kMaxSlots = 256;
constexpr uint32_t kInvalidRune = 0xfffd;
// No character: before the first, after the last.
constexpr uint32_t kNoRune = UINT32_MAX;

enum Empty : uint32_t {
  kBeginLine = 1,
  kEndLine = 2,
  kBeginText = 4,
  kEndText = 8,
  kWordBoundary = 16,
  kNoWordBoundary = 32,
};

bool isWord(uint32_t rune) {
  return (rune >= 'a' && rune <= 'z') || (rune >= 'A' && rune <= 'Z') ||
         (rune >= '0' && rune <= '9') || rune == '_';
}

uint32_t emptyFlags(uint32_t before, uint32_t after) {
  uint32_t flags = 0;
  if (before == kNoRune) flags |= kBeginText | kBeginLine;
  if (before == '\n') flags |= kBeginLine;
  if (after == kNoRune) flags |= kEndText | kEndLine;
  if (after == '\n') flags |= kEndLine;
  const bool boundary = (before != kNoRune && isWord(before)) != (after != kNoRune && isWord(after));
  return flags | (boundary ? kWordBoundary : kNoWordBoundary);
}

// The code point at `at` and its length in bytes.
uint32_t decode(std::string_view text, size_t at, uint32_t* width) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0;
  };
  const auto isTail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint32_t first = byte(0);
  *width = 1;
  if (first < 0x80) return first;
  if (first >= 0xc2 && first < 0xe0 && isTail(1)) {
    *width = 2;
    return (first & 0x1f) << 6 | (byte(1) & 0x3f);
  }
  if (first >= 0xe0 && first < 0xf0 && isTail(1) && isTail(2)) {
    const uint32_t rune = (first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    if (rune < 0x800 || (rune >= 0xd800 && rune < 0xe000)) return kInvalidRune;
    *width = 3;
    return rune;
  }
  if (first >= 0xf0 && first < 0xf5 && isTail(1) && isTail(2) && isTail(3)) {
    const uint32_t rune = (first & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
                          (byte(3) & 0x3f);
    if (rune < 0x10000 || rune > 0x10ffff) return kInvalidRune;
    *width = 4;
    return rune;
  }
  return kInvalidRune;
}

}  // namespace

// Runs all ways through the program side by side, one character at a time (Pike). Ways are kept in
// order of preference, so that the first that matches is the one a backtracking engine would find.
class Regex::Machine {
 public:
  enum class Anchor : uint8_t { Both, None };

  // The match's slots (begin and end of each group; SIZE_MAX: did not take part), or null.
  // `slots`: how many of them are wanted; 0: only whether there is a match.
  const size_t* run(const Program& program, std::string_view text, size_t from, Anchor anchor,
                    uint32_t slots) {
    prepare(program, text, anchor, slots);
    uint32_t width = 0;
    uint32_t before = kNoRune;
    if (from > 0) before = static_cast<uint8_t>(text[from - 1]);
    uint32_t rune = from < text.size() ? decode(text, from, &width) : kNoRune;
    bool matched = false;
    for (size_t at = from;;) {
      const bool may_start = anchor == Anchor::None ? !matched : at == from;
      if (current_.size == 0 && !may_start) break;
      if (may_start) {
        std::fill(scratch_.begin(), scratch_.end(), SIZE_MAX);
        add(current_, program.start, at, emptyFlags(before, rune), scratch_.data());
      }
      const size_t after = at + width;
      uint32_t next_width = 0;
      const uint32_t next_rune =
          rune != kNoRune && after < text.size() ? decode(text, after, &next_width) : kNoRune;
      matched |= step(at, after, rune, next_rune);
      if (matched && slots_ == 0) return matched_.data();
      if (rune == kNoRune) break;
      std::swap(current_, next_);
      next_.size = 0;
      at = after;
      before = rune;
      rune = next_rune;
      width = next_width;
    }
    return matched ? matched_.data() : nullptr;
  }

 private:
  // Instructions in order of preference, each once; with the slots of the way that came there.
  struct Set {
    std::vector<uint32_t> dense;
    std::vector<uint32_t> sparse;
    std::vector<size_t> slots;
    uint32_t size = 0;

    bool contains(uint32_t pc) const { return sparse[pc] < size && dense[sparse[pc]] == pc; }
  };

  void prepare(const Program& program, std::string_view text, Anchor anchor, uint32_t slots) {
    program_ = &program;
    text_ = text;
    anchor_ = anchor;
    slots_ = slots;
    const size_t count = program.instructions.size();
    for (Set* set : {&current_, &next_}) {
      set->size = 0;
      if (set->dense.size() < count) {
        set->dense.resize(count);
        set->sparse.resize(count);
      }
      if (set->slots.size() < count * slots) set->slots.resize(count * slots);
    }
    // At least one, so that data() is a pointer even when no slot is wanted.
    scratch_.resize(std::max<size_t>(slots, 1));
    matched_.resize(std::max<size_t>(slots, 1));
  }

  // Moves every way over one character. True: one of them matched.
  bool step(size_t at, size_t after, uint32_t rune, uint32_t next_rune) {
    const uint32_t flags = emptyFlags(rune, next_rune);
    for (uint32_t i = 0; i < current_.size; ++i) {
      const uint32_t pc = current_.dense[i];
      const Instruction& instruction = program_->instructions[pc];
      const size_t* slots = current_.slots.data() + size_t{pc} * slots_;
      if (instruction.op == Op::Match) {
        if (anchor_ == Anchor::Both && at != text_.size()) continue;
        std::copy(slots, slots + slots_, matched_.begin());
        if (slots_ > 1) matched_[1] = at;
        // Ways after this one are less preferred.
        return true;
      }
      if (instruction.op == Op::Rune && rune != kNoRune && fits(instruction, rune)) {
        std::copy(slots, slots + slots_, scratch_.begin());
        add(next_, instruction.out, after, flags, scratch_.data());
      }
    }
    return false;
  }

  // Adds all instructions that are reached from `pc` without a character. `slots` is as before when
  // this returns.
  void add(Set& set, uint32_t start, size_t at, uint32_t flags, size_t* slots) {
    stack_.clear();
    stack_.push_back({start, kNoRestore, 0});
    while (!stack_.empty()) {
      const Pending pending = stack_.back();
      stack_.pop_back();
      if (pending.restore_slot != kNoRestore) {
        slots[pending.restore_slot] = pending.value;
        continue;
      }
      const uint32_t pc = pending.pc;
      if (set.contains(pc)) continue;
      set.sparse[pc] = set.size;
      set.dense[set.size++] = pc;
      const Instruction& instruction = program_->instructions[pc];
      switch (instruction.op) {
        case Op::Alt:
        case Op::AltMatch:
          stack_.push_back({instruction.arg, kNoRestore, 0});
          stack_.push_back({instruction.out, kNoRestore, 0});
          break;
        case Op::EmptyWidth:
          if ((instruction.arg & ~flags) == 0) stack_.push_back({instruction.out, kNoRestore, 0});
          break;
        case Op::Nop:
          stack_.push_back({instruction.out, kNoRestore, 0});
          break;
        case Op::Capture:
          if (instruction.arg < slots_) {
            stack_.push_back({0, instruction.arg, slots[instruction.arg]});
            slots[instruction.arg] = at;
          }
          stack_.push_back({instruction.out, kNoRestore, 0});
          break;
        case Op::Rune:
        case Op::Match: {
          size_t* own = set.slots.data() + size_t{pc} * slots_;
          std::copy(slots, slots + slots_, own);
          // The whole match begins where its first way did.
          if (slots_ > 0 && own[0] == SIZE_MAX) own[0] = at;
          break;
        }
        case Op::Fail:
          break;
      }
    }
  }

  bool fits(const Instruction& instruction, uint32_t rune) const {
    if (rune < 128) return (instruction.ascii[rune >> 6] >> (rune & 63) & 1) != 0;
    const Range* begin = program_->ranges.data() + instruction.first_range;
    const Range* end = begin + instruction.range_count;
    const Range* found = std::lower_bound(
        begin, end, rune, [](const Range& range, uint32_t value) { return range.last < value; });
    return found != end && found->first <= rune;
  }

  static constexpr uint32_t kNoRestore = UINT32_MAX;
  struct Pending {
    uint32_t pc;
    uint32_t restore_slot;
    size_t value;
  };

  const Program* program_ = nullptr;
  std::string_view text_;
  Anchor anchor_ = Anchor::None;
  uint32_t slots_ = 0;
  Set current_;
  Set next_;
  std::vector<Pending> stack_;
  std::vector<size_t> scratch_;
  std::vector<size_t> matched_;
};

Result<Regex> Regex::load(std::string_view bytes) {
  size_t at = 0;
  bool enough = true;
  const auto word = [&]() -> uint32_t {
    if (bytes.size() - at < 4) {
      enough = false;
      return 0;
    }
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    at += 4;
    return value;
  };
  const auto refused = [](const char* why) { return Error{std::string("regex program: ") + why}; };
  if (word() != kMagic) return refused("not a program");
  auto program = std::make_shared<Program>();
  program->start = word();
  program->slots = word();
  const uint32_t count = word();
  if (!enough || count == 0 || count > kMaxInstructions || program->start >= count) {
    return refused("its header is out of range");
  }
  if (program->slots > kMaxSlots) return refused("too many groups");
  for (uint32_t i = 0; i < count; ++i) {
    Instruction instruction = {};
    const uint32_t op = word();
    instruction.out = word();
    instruction.arg = word();
    const uint32_t words = word();
    if (!enough || op < 1 || op > 8 || instruction.out >= count || words % 2 != 0 ||
        words > (bytes.size() - at) / 4) {
      return refused("an instruction is out of range");
    }
    instruction.op = static_cast<Op>(op);
    const bool forks = instruction.op == Op::Alt || instruction.op == Op::AltMatch;
    if (forks && instruction.arg >= count) return refused("a jump is out of range");
    instruction.first_range = static_cast<uint32_t>(program->ranges.size());
    instruction.range_count = words / 2;
    uint32_t last = 0;
    for (uint32_t j = 0; j < words / 2; ++j) {
      const Range range{word(), word()};
      if (range.first > range.last || (j > 0 && range.first <= last)) {
        return refused("ranges are not in order");
      }
      last = range.last;
      program->ranges.push_back(range);
      for (uint32_t c = range.first; c <= range.last && c < 128; ++c) {
        instruction.ascii[c >> 6] |= uint64_t{1} << (c & 63);
      }
    }
    program->instructions.push_back(instruction);
  }
  return Regex(std::move(program));
}

namespace {
template <typename Machine>
Machine& threadMachine() {
  static thread_local Machine machine;
  return machine;
}
}  // namespace

bool Regex::fullMatch(std::string_view text) const {
  return threadMachine<Machine>().run(*program_, text, 0, Machine::Anchor::Both, 0) != nullptr;
}

bool Regex::search(std::string_view text) const {
  return threadMachine<Machine>().run(*program_, text, 0, Machine::Anchor::None, 0) != nullptr;
}

void Regex::replaceAll(std::string_view text, std::string_view rewrite, std::string* out) const {
  const uint32_t slots = std::max<uint32_t>(program_->slots, 2);
  size_t copied = 0;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t* found =
        threadMachine<Machine>().run(*program_, text, from, Machine::Anchor::None, slots);
    if (!found) break;
    const size_t begin = found[0];
    const size_t end = found[1];
    out->append(text.substr(copied, begin - copied));
    for (size_t i = 0; i < rewrite.size(); ++i) {
      if (rewrite[i] != '\\' || i + 1 == rewrite.size()) {
        out->push_back(rewrite[i]);
        continue;
      }
      const char c = rewrite[++i];
      if (c < '0' || c > '9') {
        out->push_back(c);
        continue;
      }
      const auto group = static_cast<uint32_t>(c - '0') * 2;
      if (group + 1 < slots && found[group] != SIZE_MAX && found[group + 1] != SIZE_MAX) {
        out->append(text.substr(found[group], found[group + 1] - found[group]));
      }
    }
    copied = end;
    if (end > begin) {
      from = end;
    } else {
      // An empty match: on by one character, which stays.
      uint32_t width = 1;
      if (end < text.size()) decode(text, end, &width);
      from = end + width;
    }
  }
  if (copied < text.size()) out->append(text.substr(copied));
}

}  // namespace fairlead
