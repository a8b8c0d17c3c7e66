#include "base/regex.h"

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "base/regex/backtracker.h"
#include "base/regex/vm.h"
#include "test/native/base/regex_assembler.h"
#include "test/native/test.h"

namespace fairlead {
namespace {

using test::Assembler;

std::string fromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

std::vector<std::string> fieldsOf(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  return fields;
}

std::string replaced(const Regex& regex, std::string_view text, std::string_view rewrite) {
  std::string out;
  regex.replaceAll(text, rewrite, &out);
  return out;
}

struct GeneratedCase {
  std::string program;
  std::string pattern;
  std::string text;
  std::string whole;
  std::string search;
  std::string rewrite;
  std::string replaced;
};

// See test/unit/plan/match/regex/regex-cases.ts.
std::vector<GeneratedCase> generatedCases() {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/regex_cases.txt");
  std::vector<GeneratedCase> cases;
  std::string program;
  std::string pattern;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = fieldsOf(line);
    if (fields[0] == "regex") {
      program = fromHex(fields[1]);
      pattern = fields[2];
    } else {
      cases.push_back({program, pattern, fromHex(fields[1]), fields[2], fields[3],
                       fromHex(fields[4]), fromHex(fields[5])});
    }
  }
  EXPECT(cases.size() > 500);
  return cases;
}

TEST("what re2js finds in the generated cases is found") {
  for (const GeneratedCase& one : generatedCases()) {
    const Regex regex = Regex::load(one.program).value();
    const std::string what = one.pattern + " in '" + one.text + "': ";
    EXPECT_EQ(what + std::to_string(regex.fullMatch(one.text)), what + one.whole);
    EXPECT_EQ(what + std::to_string(regex.search(one.text)), what + one.search);
    EXPECT_EQ(what + replaced(regex, one.text, one.rewrite), what + one.replaced);
  }
}

TEST("a beginning is told from which nothing leads to a match, and no other") {
  int dead_ends = 0;
  for (const GeneratedCase& one : generatedCases()) {
    const Regex regex = Regex::load(one.program).value();
    for (size_t size = 0; size <= one.text.size(); ++size) {
      const bool may_be = regex.mayBeIn(std::string_view(one.text).substr(0, size));
      const std::string what = one.pattern + " in '" + one.text + "': ";
      if (!may_be) EXPECT_EQ(what + one.search, what + "0");
      dead_ends += !may_be;
    }
  }
  EXPECT(dead_ends > 10);
}

std::string shown(const size_t* found, uint32_t slots) {
  std::string text = found ? "" : "none";
  for (uint32_t i = 0; found && i < slots; ++i) {
    text += found[i] == regex::kNoPosition ? "- " : std::to_string(found[i]) + " ";
  }
  return text;
}

TEST("long texts are searched by another machine, which finds the same groups") {
  regex::Backtracker backtracker;
  regex::Vm vm;
  for (const GeneratedCase& one : generatedCases()) {
    const auto program = regex::Program::load(one.program).value();
    const uint32_t slots = program->slots();
    const std::string what = one.pattern + " in '" + one.text + "': ";
    for (size_t from = 0; from <= one.text.size(); ++from) {
      EXPECT_EQ(what + shown(vm.find(*program, one.text, from, slots), slots),
                what + shown(backtracker.find(*program, one.text, from, slots), slots));
    }
    for (const auto scope : {regex::Vm::Scope::Whole, regex::Vm::Scope::Anywhere}) {
      const std::string& wanted = scope == regex::Vm::Scope::Whole ? one.whole : one.search;
      EXPECT_EQ(what + std::to_string(vm.matches(*program, one.text, scope)), what + wanted);
    }
  }
}

// One letter.
std::string letter(char c) {
  Assembler assembler;
  assembler.bytes(c, c, 1);
  assembler.match();
  return assembler.program(0);
}

// (?:a|b)*a(?:a|b){count}: an automaton needs 2^count states for it.
std::string manyStates(uint32_t count) {
  Assembler assembler;
  assembler.fork(1, 2);
  assembler.bytes('a', 'b', 0);
  assembler.bytes('a', 'a', 3);
  for (uint32_t i = 0; i < count; ++i) assembler.bytes('a', 'b', assembler.next() + 1);
  assembler.match();
  return assembler.program(0);
}

std::string abText(size_t size) {
  std::string text;
  uint32_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    text.push_back((state >> 24) % 2 == 0 ? 'a' : 'b');
  }
  return text;
}

std::string refusal(std::string_view program) {
  const Result<Regex> regex = Regex::load(program);
  return regex.ok() ? "loaded" : regex.error().message;
}

TEST("a program that is cut anywhere is refused, and so is one with more behind it") {
  const std::string whole = manyStates(3);
  EXPECT_EQ(refusal(whole), "loaded");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT(!Regex::load(std::string_view(whole).substr(0, size)).ok());
  }
  EXPECT_EQ(refusal(whole + "1234"), "regex program: bytes are left over");
}

TEST("jumps to nowhere are refused") {
  Assembler edge;
  edge.bytes('a', 'a', 2);
  edge.match();
  EXPECT_EQ(refusal(edge.program(0)), "regex program: a jump is out of range");
  Assembler fork;
  fork.fork(1, 2);
  fork.match();
  EXPECT_EQ(refusal(fork.program(0)), "regex program: a jump is out of range");
  Assembler start;
  start.match();
  EXPECT_EQ(refusal(start.program(1)), "regex program: its header is out of range");
  EXPECT_EQ(refusal(start.program(0, 1 << 20)), "regex program: too many groups");
}

// (?=(?:a|b)*c)(?:a|b)*: what follows is looked at from the begin.
std::string looking() {
  Assembler assembler;
  assembler.look(3, 1);
  assembler.fork(2, 5);
  assembler.bytes('a', 'b', 1);
  assembler.fork(4, 6);
  assembler.bytes('a', 'b', 3);
  assembler.match();
  assembler.text("c");
  assembler.match();
  return assembler.program(0);
}

TEST("a lookahead that is asked at every place of a long text is answered in a moment") {
  const Regex regex = Regex::load(looking()).value();
  std::string text(2000, 'a');
  EXPECT(!regex.search(text));
  text += 'c';
  EXPECT(regex.search(text));
  EXPECT(!regex.fullMatch(text));
  EXPECT_EQ(replaced(regex, text, "<\\0>"), "<" + std::string(2000, 'a') + ">c");
}

TEST("a lookahead to nowhere, or in another, is refused") {
  Assembler nowhere;
  nowhere.look(2, 1);
  nowhere.match();
  EXPECT_EQ(Regex::load(nowhere.program(0)).error().message,
            "regex program: a jump is out of range");
  Assembler nested;
  nested.look(1, 3);
  nested.bytes('a', 'a', 2);
  nested.look(3, 3);
  nested.match();
  EXPECT_EQ(Regex::load(nested.program(0)).error().message,
            "regex program: a lookahead is in another");
}

TEST("a loop that takes no byte ends") {
  Assembler assembler;
  assembler.fork(1, 0);
  assembler.capture(2, 0);
  const std::string program = assembler.program(0, 4);
  const Regex regex = Regex::load(program).value();
  EXPECT(!regex.search("abc"));
  EXPECT(!regex.fullMatch(""));
  EXPECT_EQ(replaced(regex, "abc", "\\1"), "abc");
}

TEST("more states than an automaton may hold: the answer is right all the same") {
  const Regex regex = Regex::load(manyStates(16)).value();
  const std::string text = abText(200'000);
  std::string other = text;
  const size_t decides = text.size() - 17;
  other[decides] = 'a';
  EXPECT(regex.fullMatch(other));
  other[decides] = 'b';
  EXPECT(!regex.fullMatch(other));
  // Once more, with an automaton that has forgotten.
  EXPECT(!regex.fullMatch(other));
  EXPECT(regex.search(text));
}

TEST("a program that takes another's place is not matched with the other's automaton") {
  for (int i = 0; i < 26; ++i) {
    const char mine = static_cast<char>('a' + i);
    const Regex regex = Regex::load(letter(mine)).value();
    for (char c = 'a'; c <= 'z'; ++c) {
      EXPECT_EQ(regex.fullMatch(std::string_view(&c, 1)), c == mine);
    }
  }
}

TEST("a text of a megabyte is rewritten") {
  const Regex regex = Regex::load(letter('a')).value();
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(replaced(regex, text, "b") == std::string(1 << 20, 'b'), true);
}

TEST("threads share a regular expression") {
  const Regex regex = Regex::load(manyStates(8)).value();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (size_t size = 20; size < 400; ++size) {
        const std::string text = abText(size);
        if (regex.fullMatch(text) != (text[size - 9] == 'a')) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST("a rewrite that names a missing group replaces nothing; one that breaks off ends there") {
  const Regex regex = Regex::load(letter('a')).value();
  EXPECT_EQ(replaced(regex, "banana", "\\1"), "banana");
  EXPECT_EQ(replaced(regex, "banana", "<\\0>"), "b<a>n<a>n<a>");
  EXPECT_EQ(replaced(regex, "banana", "o\\x!"), "bonono");
  EXPECT_EQ(replaced(regex, "banana", "o\\"), "bonono");
}

}  // namespace
}  // namespace fairlead
