#include "base/regex/backtracker.h"

namespace fairlead::regex {

const size_t* Backtracker::find(const Program& program, std::string_view text, size_t from,
                                uint32_t slots) {
  if (program.isAnchored() && from > 0) return nullptr;
  lookahead_.begin(program, text);
  stride_ = text.size() + 1;
  visited_.assign((program.instructions().size() * stride_ + 63) / 64, 0);
  slots_.assign(slots, kNoPosition);
  for (size_t begin = from; begin <= text.size(); ++begin) {
    // What failed from an earlier begin would fail again: visits stay.
    if (begin == text.size() || program.canBegin(static_cast<uint8_t>(text[begin]))) {
      if (matchesAt(program, text, begin)) return slots_.data();
    }
    if (program.isAnchored()) break;
  }
  return nullptr;
}

bool Backtracker::matchesAt(const Program& program, std::string_view text, size_t begin) {
  pending_.clear();
  pending_.push_back({program.start(), kNoRestore, begin});
  while (!pending_.empty()) {
    const Pending pending = pending_.back();
    pending_.pop_back();
    if (pending.restore_slot != kNoRestore) {
      slots_[pending.restore_slot] = pending.value;
    } else if (follow(program, text, pending.place, pending.value)) {
      slots_[0] = begin;
      return true;
    }
  }
  return false;
}

// Goes the preferred way until it matches or ends; leaves the others pending.
bool Backtracker::follow(const Program& program, std::string_view text, uint32_t place, size_t at) {
  while (isFirstVisit(place, at)) {
    const Instruction& instruction = program.instructions()[place];
    switch (instruction.op) {
      case Op::Fork:
        pending_.push_back({instruction.argument, kNoRestore, at});
        place = instruction.next;
        break;
      case Op::Capture:
        if (instruction.argument < slots_.size()) {
          pending_.push_back({0, instruction.argument, slots_[instruction.argument]});
          slots_[instruction.argument] = at;
        }
        place = instruction.next;
        break;
      case Op::Empty:
        if ((instruction.argument & ~conditionsAt(text, at)) != 0) return false;
        place = instruction.next;
        break;
      case Op::Nop:
        place = instruction.next;
        break;
      case Op::Look:
        if (!lookahead_.holds(instruction, at)) return false;
        place = instruction.next;
        break;
      case Op::Match:
        slots_[1] = at;
        return true;
      case Op::Fail:
        return false;
      case Op::Bytes: {
        if (at == text.size()) return false;
        const Edge* edge = program.edgeFor(instruction, static_cast<uint8_t>(text[at]));
        if (!edge) return false;
        place = edge->target;
        ++at;
        break;
      }
    }
  }
  return false;
}

}  // namespace fairlead::regex
