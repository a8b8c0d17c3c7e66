#include "base/regex/program.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/mutex.h"

namespace fairlead::regex {

namespace {

constexpr uint32_t kMagic = 0x32786572;
constexpr uint32_t kMaxInstructions = 131'072;
constexpr uint32_t kMaxEdges = 262'144;
constexpr uint32_t kMaxSlots = 2'048;

// Small numbers for living programs. Never destroyed: programs may outlive everything static.
class Numbers {
 public:
  static Numbers& instance() {
    static Numbers* const numbers = new Numbers;
    return *numbers;
  }
  uint32_t take(uint64_t* identity) {
    const std::lock_guard lock(mutex_);
    *identity = ++identities_;
    if (free_.empty()) return count_++;
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void giveBack(uint32_t index) {
    const std::lock_guard lock(mutex_);
    free_.push_back(index);
  }

 private:
  Mutex mutex_;
  std::vector<uint32_t> free_;  // Guarded by mutex_, as the next two.
  uint32_t count_ = 0;
  uint64_t identities_ = 0;
};

bool isWord(Neighbour neighbour) { return neighbour == Neighbour::Word; }

}  // namespace

Neighbour neighbourOf(uint8_t byte) {
  if (byte == '\n') return Neighbour::Newline;
  const bool is_word = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '_';
  return is_word ? Neighbour::Word : Neighbour::Other;
}

uint8_t conditionsBetween(Neighbour before, Neighbour after) {
  uint8_t conditions = isWord(before) != isWord(after) ? kWordBoundary : kNoWordBoundary;
  if (before == Neighbour::Nothing) conditions |= kBeginText | kBeginLine;
  if (before == Neighbour::Newline) conditions |= kBeginLine;
  if (after == Neighbour::Nothing) conditions |= kEndText | kEndLine;
  if (after == Neighbour::Newline) conditions |= kEndLine;
  return conditions;
}

uint8_t conditionsAt(std::string_view text, size_t at) {
  const auto neighbour = [&](size_t i) {
    return i < text.size() ? neighbourOf(static_cast<uint8_t>(text[i])) : Neighbour::Nothing;
  };
  return conditionsBetween(at == 0 ? Neighbour::Nothing : neighbour(at - 1), neighbour(at));
}

// Words of the serialised program; what is missing reads as 0 and is noticed.
class Program::Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint32_t word() {
    uint32_t value = 0;
    if (bytes_.size() < sizeof(value)) {
      is_short_ = true;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  bool isShort() const { return is_short_; }
  bool isAtEnd() const { return bytes_.empty() && !is_short_; }

  // Why the instruction cannot be, or null.
  const char* instruction(uint32_t count, Program* program) {
    const uint32_t op = word();
    Instruction instruction = {static_cast<Op>(op), word(), word(), 0, word()};
    const bool is_known =
        op >= static_cast<uint32_t>(Op::Fork) && op <= static_cast<uint32_t>(Op::Look);
    if (is_short_ || !is_known) return "an instruction is unknown";
    if (instruction.next >= count) return "a jump is out of range";
    if (instruction.op == Op::Fork && instruction.argument >= count) {
      return "a jump is out of range";
    }
    if (instruction.op == Op::Empty && instruction.argument > kAllConditions) {
      return "a condition is unknown";
    }
    if (instruction.op == Op::Look) return look(instruction, count, program);
    const size_t first_edge = program->edges_.size();
    if (instruction.edge_count > bytes_.size() / 8 ||
        instruction.edge_count > kMaxEdges - first_edge ||
        (instruction.edge_count > 0 && instruction.op != Op::Bytes)) {
      return "an instruction has too many edges";
    }
    instruction.first_edge = static_cast<uint32_t>(first_edge);
    int last = -1;
    for (uint32_t i = 0; i < instruction.edge_count; ++i) {
      const uint32_t range = word();
      const Edge edge = {static_cast<uint8_t>(range), static_cast<uint8_t>(range >> 8), word()};
      if (range > 0xffff || edge.first > edge.last || edge.first <= last) {
        return "edges are not in order";
      }
      if (edge.target >= count) return "a jump is out of range";
      last = edge.last;
      program->edges_.push_back(edge);
    }
    program->instructions_.push_back(instruction);
    return nullptr;
  }

 private:
  const char* look(Instruction look, uint32_t count, Program* program) {
    const bool is_negative = (look.argument & 1) != 0;
    look.argument /= 2;
    if (look.argument >= count) return "a jump is out of range";
    if (look.edge_count > 0) return "an instruction has too many edges";
    look.first_edge = program->look_count_++;
    look.edge_count = is_negative ? 1 : 0;
    program->instructions_.push_back(look);
    return nullptr;
  }

  std::string_view bytes_;
  bool is_short_ = false;
};

Program::Program() { index_ = Numbers::instance().take(&identity_); }

Program::~Program() { Numbers::instance().giveBack(index_); }

Result<std::shared_ptr<const Program>> Program::load(std::string_view bytes) {
  const auto refused = [](const char* why) { return Error{std::string("regex program: ") + why}; };
  Reader reader(bytes);
  if (reader.word() != kMagic) return refused("not a program");
  std::shared_ptr<Program> program(new Program);
  program->start_ = reader.word();
  program->slots_ = std::max<uint32_t>(reader.word(), 2);
  const uint32_t count = reader.word();
  if (reader.isShort() || count == 0 || count > kMaxInstructions || program->start_ >= count) {
    return refused("its header is out of range");
  }
  if (program->slots_ > kMaxSlots) return refused("too many groups");
  for (uint32_t i = 0; i < count; ++i) {
    if (const char* why = reader.instruction(count, program.get())) return refused(why);
  }
  if (!reader.isAtEnd()) return refused("bytes are left over");
  for (const Instruction& instruction : program->instructions_) {
    if (instruction.op == Op::Look && program->leadsToLook(instruction.argument)) {
      return refused("a lookahead is in another");
    }
  }
  program->analyse();
  return std::shared_ptr<const Program>(std::move(program));
}

bool Program::leadsToLook(uint32_t start) const {
  std::vector<bool> seen(instructions_.size());
  std::vector<uint32_t> pending{start};
  while (!pending.empty()) {
    const uint32_t at = pending.back();
    pending.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Instruction& instruction = instructions_[at];
    if (instruction.op == Op::Look) return true;
    if (instruction.op == Op::Bytes) {
      for (uint32_t i = 0; i < instruction.edge_count; ++i) {
        pending.push_back(edges_[instruction.first_edge + i].target);
      }
    } else if (instruction.op != Op::Match && instruction.op != Op::Fail) {
      if (instruction.op == Op::Fork) pending.push_back(instruction.argument);
      pending.push_back(instruction.next);
    }
  }
  return false;
}

void Program::analyse() {
  for (const Instruction& instruction : instructions_) {
    if (instruction.op == Op::Empty) conditions_ |= static_cast<uint8_t>(instruction.argument);
  }
  classifyBytes();
  uint32_t at = start_;
  for (size_t steps = 0; steps < instructions_.size(); ++steps) {
    const Instruction& instruction = instructions_[at];
    if (instruction.op != Op::Capture && instruction.op != Op::Nop) {
      is_anchored_ = instruction.op == Op::Empty && (instruction.argument & kBeginText) != 0;
      break;
    }
    at = instruction.next;
  }
  findBeginnings();
}

void Program::classifyBytes() {
  // Whether a class ends with this byte.
  std::array<bool, 256> is_last = {};
  is_last[255] = true;
  for (const Edge& edge : edges_) {
    if (edge.first > 0) is_last[edge.first - 1] = true;
    is_last[edge.last] = true;
  }
  if (conditions_ != 0) {
    for (int byte = 0; byte < 255; ++byte) {
      const auto here = static_cast<uint8_t>(byte);
      if (neighbourOf(here) != neighbourOf(here + 1)) is_last[byte] = true;
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    class_of_[byte] = static_cast<uint8_t>(class_count_);
    member_of_[class_count_] = static_cast<uint8_t>(byte);
    if (is_last[byte]) ++class_count_;
  }
}

// Follows all ways from the start as if every condition held.
void Program::findBeginnings() {
  std::vector<bool> seen(instructions_.size());
  std::vector<uint32_t> pending{start_};
  while (!pending.empty()) {
    const uint32_t at = pending.back();
    pending.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Instruction& instruction = instructions_[at];
    switch (instruction.op) {
      case Op::Fork:
        pending.push_back(instruction.argument);
        pending.push_back(instruction.next);
        break;
      case Op::Capture:
      case Op::Empty:
      case Op::Nop:
      case Op::Look:
        pending.push_back(instruction.next);
        break;
      case Op::Match:
        can_begin_.fill(true);
        return;
      case Op::Fail:
        break;
      case Op::Bytes:
        for (uint32_t i = 0; i < instruction.edge_count; ++i) {
          const Edge& edge = edges_[instruction.first_edge + i];
          for (int byte = edge.first; byte <= edge.last; ++byte) can_begin_[byte] = true;
        }
        break;
    }
  }
}

}  // namespace fairlead::regex
