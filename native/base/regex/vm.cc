#include "base/regex/vm.h"

#include <algorithm>
#include <utility>

namespace fairlead::regex {

const size_t* Vm::run(const Program& program, std::string_view text, size_t from, Scope scope,
                      uint32_t slots) {
  if (program.isAnchored() && from > 0) return nullptr;
  program_ = &program;
  text_ = text;
  scope_ = scope;
  slots_ = slots;
  lookahead_.begin(program, text);
  current_.places.reset(program.instructions().size());
  next_.places.reset(program.instructions().size());
  // At least one, so that data() is a pointer even when no slot is wanted.
  way_.assign(std::max<size_t>(slots, 1), kNoPosition);
  match_.assign(std::max<size_t>(slots, 1), kNoPosition);
  const bool restarts = scope == Scope::Anywhere && !program.isAnchored();
  bool has_match = false;
  for (size_t at = from;; ++at) {
    if (at == from || (restarts && !has_match)) {
      if (current_.places.size() == 0 && restarts) {
        while (at < text.size() && !program.canBegin(static_cast<uint8_t>(text[at]))) ++at;
      }
      follow(current_, program.start(), at, way_.data());
    } else if (current_.places.size() == 0) {
      break;
    }
    has_match |= step(at);
    if ((has_match && slots == 0) || at >= text.size()) break;
    std::swap(current_, next_);
    next_.places.clear();
  }
  return has_match ? match_.data() : nullptr;
}

bool Vm::step(size_t at) {
  const bool is_end = at >= text_.size();
  const uint8_t byte = is_end ? 0 : static_cast<uint8_t>(text_[at]);
  for (uint32_t i = 0; i < current_.places.size(); ++i) {
    const Instruction& instruction = program_->instructions()[current_.places[i]];
    const size_t* own = current_.slots.data() + size_t{i} * slots_;
    if (instruction.op == Op::Match) {
      if (scope_ == Scope::Whole && !is_end) continue;
      std::copy(own, own + slots_, match_.begin());
      if (slots_ > 1) match_[1] = at;
      // Ways after this one are less preferred.
      return true;
    }
    if (instruction.op != Op::Bytes || is_end) continue;
    if (const Edge* edge = program_->edgeFor(instruction, byte)) {
      std::copy(own, own + slots_, way_.begin());
      follow(next_, edge->target, at + 1, way_.data());
    }
  }
  std::fill(way_.begin(), way_.end(), kNoPosition);
  return false;
}

void Vm::follow(Ways& ways, uint32_t start, size_t at, size_t* slots_of) {
  const uint8_t conditions = program_->conditions() == 0 ? 0 : conditionsAt(text_, at);
  pending_.clear();
  pending_.push_back({start, kNoRestore, 0});
  while (!pending_.empty()) {
    const Pending pending = pending_.back();
    pending_.pop_back();
    if (pending.restore_slot != kNoRestore) {
      slots_of[pending.restore_slot] = pending.value;
      continue;
    }
    const uint32_t position = ways.places.size();
    if (!ways.places.insert(pending.place)) continue;
    if (slots_ > 0 && ways.slots.size() < (size_t{position} + 1) * slots_) {
      ways.slots.resize((size_t{position} + 1) * slots_);
    }
    const Instruction& instruction = program_->instructions()[pending.place];
    switch (instruction.op) {
      case Op::Fork:
        pending_.push_back({instruction.argument, kNoRestore, 0});
        pending_.push_back({instruction.next, kNoRestore, 0});
        break;
      case Op::Empty:
        if ((instruction.argument & ~conditions) == 0) {
          pending_.push_back({instruction.next, kNoRestore, 0});
        }
        break;
      case Op::Nop:
        pending_.push_back({instruction.next, kNoRestore, 0});
        break;
      case Op::Look:
        if (lookahead_.holds(instruction, at)) {
          pending_.push_back({instruction.next, kNoRestore, 0});
        }
        break;
      case Op::Capture:
        if (instruction.argument < slots_) {
          pending_.push_back({0, instruction.argument, slots_of[instruction.argument]});
          slots_of[instruction.argument] = at;
        }
        pending_.push_back({instruction.next, kNoRestore, 0});
        break;
      case Op::Bytes:
      case Op::Match: {
        size_t* own = ways.slots.data() + size_t{position} * slots_;
        std::copy(slots_of, slots_of + slots_, own);
        // The whole match begins where its way did.
        if (slots_ > 0 && own[0] == kNoPosition) own[0] = at;
        break;
      }
      case Op::Fail:
        break;
    }
  }
}

}  // namespace fairlead::regex
