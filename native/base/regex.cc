#include "base/regex.h"

#include <algorithm>
#include <vector>

#include "base/regex/backtracker.h"
#include "base/regex/dfa.h"
#include "base/regex/program.h"
#include "base/regex/vm.h"

namespace fairlead {

namespace {

using regex::Backtracker;
using regex::Dfa;
using regex::Program;
using regex::Vm;

// What a thread keeps for the programs that it runs. An automaton belongs to a program; when the
// program is gone, the next one with its number takes the place.
class Matcher {
 public:
  static Matcher& ofThread() {
    static thread_local Matcher matcher;
    return matcher;
  }

  bool matches(const Program& program, std::string_view text, Dfa::Scope scope) {
    const auto vm_scope = scope == Dfa::Scope::Whole ? Vm::Scope::Whole : Vm::Scope::Anywhere;
    // An automaton knows what came, not what follows.
    if (program.lookCount() > 0) return vm_.matches(program, text, vm_scope);
    const Dfa::Answer answer = counted(automaton(program, scope),
                                       [&](Dfa& dfa) { return dfa.run(program, text, scratch_); });
    if (answer != Dfa::Answer::GaveUp) return answer == Dfa::Answer::Yes;
    return vm_.matches(program, text, vm_scope);
  }

  // Whether something that begins so may have a match in it.
  bool mayFollow(const Program& program, std::string_view beginning) {
    if (program.lookCount() > 0) return true;
    const Dfa::Answer answer = counted(automaton(program, Dfa::Scope::Anywhere), [&](Dfa& dfa) {
      return dfa.runBeginning(program, beginning, scratch_);
    });
    return answer != Dfa::Answer::No;
  }

  // As Vm::find.
  const size_t* find(const Program& program, std::string_view text, size_t from, uint32_t slots) {
    return Backtracker::fits(program, text.size()) ? backtracker_.find(program, text, from, slots)
                                                   : vm_.find(program, text, from, slots);
  }

 private:
  // 32 MiB for all automata of a thread.
  static constexpr size_t kMaxWords = 8 * 1024 * 1024;

  struct Entry {
    uint64_t identity = 0;
    std::unique_ptr<Dfa> automata[2];
  };

  // What a run adds to the automaton counts.
  template <typename Run>
  Dfa::Answer counted(Dfa& dfa, Run run) {
    const size_t words_before = dfa.words();
    const Dfa::Answer answer = run(dfa);
    words_ += dfa.words() - words_before;
    if (words_ > kMaxWords) forgetAll();
    return answer;
  }

  Dfa& automaton(const Program& program, Dfa::Scope scope) {
    if (program.index() >= entries_.size()) entries_.resize(program.index() + 1);
    Entry& entry = entries_[program.index()];
    if (entry.identity != program.identity()) forget(entry);
    entry.identity = program.identity();
    std::unique_ptr<Dfa>& dfa = entry.automata[static_cast<size_t>(scope)];
    if (!dfa) {
      dfa = std::make_unique<Dfa>(program, scope);
      words_ += dfa->words();
    }
    return *dfa;
  }

  void forget(Entry& entry) {
    for (std::unique_ptr<Dfa>& dfa : entry.automata) {
      if (dfa) words_ -= dfa->words();
      dfa.reset();
    }
  }

  void forgetAll() {
    entries_.clear();
    words_ = 0;
  }

  std::vector<Entry> entries_;
  size_t words_ = 0;
  Dfa::Scratch scratch_;
  Backtracker backtracker_;
  Vm vm_;
};

// The highest group that a rewrite names.
uint32_t highestGroup(std::string_view rewrite) {
  uint32_t highest = 0;
  for (size_t i = 0; i + 1 < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    const char c = rewrite[++i];
    if (c >= '0' && c <= '9') highest = std::max(highest, static_cast<uint32_t>(c - '0'));
  }
  return highest;
}

// Ends, as RE2, at an escape that means nothing.
void appendRewrite(std::string_view rewrite, std::string_view text, const size_t* found,
                   std::string* out) {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') {
      out->push_back(rewrite[i]);
      continue;
    }
    if (++i == rewrite.size()) return;
    const char c = rewrite[i];
    if (c == '\\') {
      out->push_back(c);
      continue;
    }
    if (c < '0' || c > '9') return;
    const size_t* group = found + size_t{2} * static_cast<size_t>(c - '0');
    if (group[0] != regex::kNoPosition && group[1] != regex::kNoPosition) {
      out->append(text.substr(group[0], group[1] - group[0]));
    }
  }
}

}  // namespace

Result<Regex> Regex::load(std::string_view program) {
  Result<std::shared_ptr<const Program>> loaded = Program::load(program);
  if (!loaded) return loaded.error();
  return Regex(std::move(loaded.value()));
}

bool Regex::fullMatch(std::string_view text) const {
  return Matcher::ofThread().matches(*program_, text, Dfa::Scope::Whole);
}

bool Regex::search(std::string_view text) const {
  return Matcher::ofThread().matches(*program_, text, Dfa::Scope::Anywhere);
}

bool Regex::mayBeIn(std::string_view beginning) const {
  return Matcher::ofThread().mayFollow(*program_, beginning);
}

bool Regex::find(std::string_view text, std::span<std::string_view> groups) const {
  if (!search(text)) return false;
  const auto wanted = static_cast<uint32_t>(groups.size());
  const uint32_t known = std::min(wanted, program_->slots() / 2);
  const size_t* found = Matcher::ofThread().find(*program_, text, 0, 2 * std::max(known, 1u));
  if (!found) return false;
  for (uint32_t i = 0; i < wanted; ++i) {
    const bool took_part =
        i < known && found[2 * i] != regex::kNoPosition && found[2 * i + 1] != regex::kNoPosition;
    groups[i] =
        took_part ? text.substr(found[2 * i], found[2 * i + 1] - found[2 * i]) : std::string_view();
  }
  return true;
}

uint32_t Regex::groupCount() const { return program_->slots() / 2 - 1; }

void Regex::replaceAll(std::string_view text, std::string_view rewrite, std::string* out) const {
  const uint32_t slots = 2 * (highestGroup(rewrite) + 1);
  size_t copied = 0;
  if (slots <= program_->slots() && search(text)) {
    Matcher& matcher = Matcher::ofThread();
    size_t last_end = regex::kNoPosition;
    for (size_t from = 0; from <= text.size();) {
      const size_t* found = matcher.find(*program_, text, from, slots);
      if (!found) break;
      if (found[0] == found[1] && found[0] == last_end) {
        // No empty match right behind another: on by one byte, which stays.
        ++from;
        last_end = regex::kNoPosition;
        continue;
      }
      out->append(text.substr(copied, found[0] - copied));
      appendRewrite(rewrite, text, found, out);
      copied = from = last_end = found[1];
    }
  }
  if (copied < text.size()) out->append(text.substr(copied));
}

}  // namespace fairlead
