#include "stats/ordered_merge.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "test/native/test.h"

namespace fairlead::stats {

namespace {

using Names = std::vector<std::pair<std::string, std::vector<std::string>>>;

class TestSource {
 public:
  struct Stream {
    std::string_view prefix() const { return *of; }
    std::string_view name() const { return (*names)[at]; }
    bool done() const { return at == names->size(); }
    void advance() { ++at; }
    const std::string* of = nullptr;
    const std::vector<std::string>* names = nullptr;
    size_t at = 0;
  };
  explicit TestSource(const Names& names) : names_(names) {}
  size_t size() const { return names_.size(); }
  std::string_view prefix(size_t i) const { return names_[i].first; }
  size_t open(size_t i, Stream* stream) {
    *stream = {&names_[i].first, &names_[i].second, 0};
    return names_[i].second.size() + 1;
  }

 private:
  const Names& names_;
};

std::vector<std::string> merged(const Names& names, size_t budget_of_turn) {
  OrderedMerge<TestSource> merge{TestSource(names)};
  std::vector<std::string> result;
  size_t budget = budget_of_turn;
  for (;;) {
    TestSource::Stream* top = nullptr;
    const Step step = merge.peek(&top, &budget);
    if (step == Step::End) return result;
    if (step == Step::Pause) {
      budget = budget_of_turn;
      continue;
    }
    result.push_back(std::string(top->prefix()) + std::string(top->name()));
    merge.pop();
  }
}

int sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

}  // namespace

TEST("joined names compare as if they were one text") {
  EXPECT(compareJoined("a.", "b", "a.", "c") < 0);
  EXPECT(compareJoined("a.", "x.b", "a.x.", "b") == 0);
  EXPECT(compareJoined("a.", "x", "a.x.", "b") < 0);
  EXPECT(compareJoined("a.x.", "b", "a.", "w") > 0);
  EXPECT(compareJoined("", "\xc3\xbc", "", "z") > 0);

  std::mt19937 random(7);
  const auto text = [&random] {
    std::string result;
    for (uint64_t i = random() % 4; i > 0; --i) result.push_back("ab."[random() % 3]);
    return result;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = text(), a_rest = text(), b = text(), b_rest = text();
    EXPECT_EQ(sign(compareJoined(a, a_rest, b, b_rest)), sign((a + a_rest).compare(b + b_rest)));
  }
}

TEST("a merge yields every name once, in byte order, whatever the prefixes") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> all;
    std::map<std::string, std::set<std::string>> by_prefix;
    for (int i = 0; i < 30; ++i) {
      std::string prefix = "c.";
      for (uint64_t j = random() % 4; j > 0; --j) {
        prefix.push_back("ab"[random() % 2]);
        prefix.push_back('.');
      }
      std::string name;
      for (uint64_t j = 1 + random() % 3; j > 0; --j) name.push_back("abc_"[random() % 4]);
      if (all.insert(prefix + name).second) by_prefix[prefix].insert(name);
    }
    Names names;
    for (const auto& [prefix, set] : by_prefix) {
      names.emplace_back(prefix, std::vector<std::string>(set.begin(), set.end()));
      if (round % 3 == 0) names.emplace_back(prefix, std::vector<std::string>());
    }
    const std::vector<std::string> wanted(all.begin(), all.end());
    EXPECT(merged(names, SIZE_MAX) == wanted);
    EXPECT(merged(names, 1) == wanted);
  }
}

}  // namespace fairlead::stats
