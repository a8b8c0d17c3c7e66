#include "base/regex/dfa.h"

#include <algorithm>

namespace fairlead::regex {

namespace {

// Elements of the table that are no states.
constexpr uint32_t kUnknown = 0;
constexpr uint32_t kNo = 1;
constexpr uint32_t kYes = 2;
constexpr uint32_t kFirstState = 3;

// 512 KiB.
constexpr size_t kMaxWords = 128 * 1024;
// A state that serves fewer bytes than this is not worth making.
constexpr size_t kMinBytesPerState = 10;

uint64_t hashOf(const uint32_t* key, size_t size, Neighbour before) {
  uint64_t hash = 0x9e3779b97f4a7c15 + static_cast<uint64_t>(before);
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ key[i]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

Dfa::Dfa(const Program& program, Scope scope)
    : scope_(scope),
      restarts_(scope == Scope::Anywhere && !program.isAnchored()),
      stride_(program.classCount() + 1) {
  forget();
}

void Dfa::forget() {
  table_.assign(kFirstState, kUnknown);
  states_.clear();
  keys_.clear();
  buckets_.assign(16, 0);
  start_ = 0;
  has_forgotten_ = true;
}

uint32_t Dfa::follow(const Program& program, std::string_view text, Scratch& scratch) {
  const uint8_t* const classes = program.classes();
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  const uint8_t* fresh_since = nullptr;
  if (start_ == 0) start_ = begin(program, scratch);
  uint32_t state = start_;
  for (; at != end; ++at) {
    const uint32_t symbol = classes[*at];
    uint32_t next = table_[state + symbol];
    if (next < kFirstState) {
      if (next == kUnknown) {
        has_forgotten_ = false;
        const size_t states = states_.size();
        next = makeStep(program, state, symbol, scratch);
        if (has_forgotten_) {
          const bool is_slow =
              fresh_since && static_cast<size_t>(at - fresh_since) < kMinBytesPerState * states;
          if (is_slow) return kUnknown;
          fresh_since = at;
        }
      }
      if (next == kNo || next == kYes) return next;
    }
    state = next;
  }
  return state;
}

Dfa::Answer Dfa::runBeginning(const Program& program, std::string_view beginning,
                              Scratch& scratch) {
  const uint32_t state = follow(program, beginning, scratch);
  if (state == kUnknown) return Answer::GaveUp;
  return state == kNo ? Answer::No : Answer::Yes;
}

Dfa::Answer Dfa::run(const Program& program, std::string_view text, Scratch& scratch) {
  const uint32_t state = follow(program, text, scratch);
  if (state == kUnknown) return Answer::GaveUp;
  if (state == kNo) return Answer::No;
  if (state == kYes) return Answer::Yes;
  const uint32_t symbol = program.classCount();
  uint32_t answer = table_[state + symbol];
  if (answer == kUnknown) answer = makeStep(program, state, symbol, scratch);
  return answer == kYes ? Answer::Yes : Answer::No;
}

uint32_t Dfa::begin(const Program& program, Scratch& scratch) {
  scratch.key.clear();
  if (!restarts_) scratch.key.push_back(program.start());
  return intern(asSeen(program, Neighbour::Nothing), scratch);
}

Neighbour Dfa::asSeen(const Program& program, Neighbour neighbour) const {
  const uint8_t conditions = program.conditions();
  if (conditions == 0) return Neighbour::Other;
  if (neighbour == Neighbour::Word && (conditions & (kWordBoundary | kNoWordBoundary)) == 0) {
    return Neighbour::Other;
  }
  if (neighbour == Neighbour::Newline && (conditions & kBeginLine) == 0) return Neighbour::Other;
  return neighbour;
}

uint32_t Dfa::makeStep(const Program& program, uint32_t at, uint32_t symbol, Scratch& scratch) {
  const State state = states_[(at - kFirstState) / stride_];
  const bool is_end = symbol == program.classCount();
  const uint8_t byte = is_end ? 0 : program.memberOf(symbol);
  const Neighbour after = is_end ? Neighbour::Nothing : neighbourOf(byte);
  const bool matches = reach(program, state, conditionsBetween(state.before, after), scratch);
  uint32_t next = kNo;
  if (is_end || (scope_ == Scope::Anywhere && matches)) {
    next = matches ? kYes : kNo;
  } else {
    scratch.next.reset(program.instructions().size());
    for (const uint32_t place : scratch.reached) {
      const Instruction& instruction = program.instructions()[place];
      if (instruction.op != Op::Bytes) continue;
      if (const Edge* edge = program.edgeFor(instruction, byte)) scratch.next.insert(edge->target);
    }
    if (scratch.next.size() > 0 || restarts_) {
      scratch.key.assign(scratch.next.begin(), scratch.next.end());
      std::sort(scratch.key.begin(), scratch.key.end());
      const bool is_full = words() + stride_ + scratch.key.size() > kMaxWords;
      if (is_full) forget();
      next = intern(asSeen(program, after), scratch);
      // The state that the step was made from is gone.
      if (is_full) return next;
    }
  }
  table_[at + symbol] = next;
  return next;
}

// All that is reached from the state without a byte. True: a match is.
bool Dfa::reach(const Program& program, const State& state, uint8_t conditions,
                Scratch& scratch) const {
  bool matches = false;
  scratch.reached.reset(program.instructions().size());
  scratch.pending.assign(keys_.begin() + state.key_begin,
                         keys_.begin() + state.key_begin + state.key_size);
  if (restarts_) scratch.pending.push_back(program.start());
  while (!scratch.pending.empty()) {
    const uint32_t at = scratch.pending.back();
    scratch.pending.pop_back();
    if (!scratch.reached.insert(at)) continue;
    const Instruction& instruction = program.instructions()[at];
    switch (instruction.op) {
      case Op::Fork:
        scratch.pending.push_back(instruction.argument);
        scratch.pending.push_back(instruction.next);
        break;
      case Op::Empty:
        if ((instruction.argument & ~conditions) != 0) break;
        scratch.pending.push_back(instruction.next);
        break;
      case Op::Capture:
      case Op::Nop:
        scratch.pending.push_back(instruction.next);
        break;
      case Op::Match:
        matches = true;
        break;
      // No automaton is made of a program that looks ahead.
      case Op::Look:
      case Op::Bytes:
      case Op::Fail:
        break;
    }
  }
  return matches;
}

uint32_t Dfa::intern(Neighbour before, const Scratch& scratch) {
  const std::vector<uint32_t>& key = scratch.key;
  const size_t mask = buckets_.size() - 1;
  size_t bucket = hashOf(key.data(), key.size(), before) & mask;
  for (; buckets_[bucket] != 0; bucket = (bucket + 1) & mask) {
    const uint32_t number = buckets_[bucket] - 1;
    const State& state = states_[number];
    if (state.before == before && state.key_size == key.size() &&
        std::equal(key.begin(), key.end(), keys_.begin() + state.key_begin)) {
      return kFirstState + number * stride_;
    }
  }
  const auto number = static_cast<uint32_t>(states_.size());
  states_.push_back(
      {static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(key.size()), before});
  keys_.insert(keys_.end(), key.begin(), key.end());
  table_.resize(table_.size() + stride_, kUnknown);
  buckets_[bucket] = number + 1;
  if (states_.size() * 2 > buckets_.size()) rehash();
  return kFirstState + number * stride_;
}

void Dfa::rehash() {
  buckets_.assign(buckets_.size() * 2, 0);
  const size_t mask = buckets_.size() - 1;
  for (uint32_t number = 0; number < states_.size(); ++number) {
    const State& state = states_[number];
    size_t bucket = hashOf(keys_.data() + state.key_begin, state.key_size, state.before) & mask;
    while (buckets_[bucket] != 0) bucket = (bucket + 1) & mask;
    buckets_[bucket] = number + 1;
  }
}

}  // namespace fairlead::regex
