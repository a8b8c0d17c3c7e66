#include "base/regex/lookahead.h"

#include <utility>

namespace fairlead::regex {

void Lookahead::begin(const Program& program, std::string_view text) {
  program_ = &program;
  text_ = text;
  answers_.assign(program.lookCount() * (text.size() + 1), Answer::Unknown);
}

bool Lookahead::holds(const Instruction& look, size_t at) {
  const bool is_negative = look.edge_count != 0;
  Answer& answer = answers_[look.first_edge * (text_.size() + 1) + at];
  if (answer == Answer::Unknown) {
    answer = matches(look.argument, at) != is_negative ? Answer::Yes : Answer::No;
  }
  return answer == Answer::Yes;
}

bool Lookahead::matches(uint32_t start, size_t at) {
  current_.reset(program_->instructions().size());
  next_.reset(program_->instructions().size());
  if (follow(current_, start, at)) return true;
  for (; at < text_.size() && current_.size() > 0; ++at) {
    for (const uint32_t place : current_) {
      const Instruction& instruction = program_->instructions()[place];
      if (instruction.op != Op::Bytes) continue;
      const Edge* edge = program_->edgeFor(instruction, static_cast<uint8_t>(text_[at]));
      if (edge && follow(next_, edge->target, at + 1)) return true;
    }
    std::swap(current_, next_);
    next_.clear();
  }
  return false;
}

bool Lookahead::follow(SparseSet& places, uint32_t start, size_t at) {
  const uint8_t conditions = program_->conditions() == 0 ? 0 : conditionsAt(text_, at);
  pending_.assign(1, start);
  while (!pending_.empty()) {
    const uint32_t place = pending_.back();
    pending_.pop_back();
    if (!places.insert(place)) continue;
    const Instruction& instruction = program_->instructions()[place];
    switch (instruction.op) {
      case Op::Match:
        return true;
      case Op::Fork:
        pending_.push_back(instruction.argument);
        pending_.push_back(instruction.next);
        break;
      case Op::Empty:
        if ((instruction.argument & ~conditions) == 0) pending_.push_back(instruction.next);
        break;
      case Op::Capture:
      case Op::Nop:
        pending_.push_back(instruction.next);
        break;
      // None is in another.
      case Op::Look:
      case Op::Fail:
      case Op::Bytes:
        break;
    }
  }
  return false;
}

}  // namespace fairlead::regex
