// What the real server (release 1.40) makes of names with the same rules.
#include "stats/tags.h"

#include "test/native/test.h"

namespace fairlead::stats {

namespace {

TagRule fixed(std::string name, std::string value) {
  TagRule rule;
  rule.name = std::move(name);
  rule.value = std::move(value);
  return rule;
}

TagRule tokens(std::string name, std::vector<std::string> pattern) {
  TagRule rule;
  rule.name = std::move(name);
  rule.kind = TagRule::Kind::Tokens;
  rule.first_token = pattern[0] == "$" ? "" : pattern[0];
  rule.tokens = std::move(pattern);
  return rule;
}

std::string produced(std::vector<TagRule> rules, std::string_view name) {
  std::vector<Label> labels;
  std::string rest;
  TagProducer(std::move(rules)).produce(name, &labels, &rest);
  for (const auto& [label, value] : labels) rest += " " + label + "=" + value;
  return rest;
}

}  // namespace

TEST("a token leaves the name with the dot behind it, the last one with the dot before it") {
  EXPECT_EQ(produced({tokens("c", {"cluster", "$", "**"})}, "cluster.be.x.total"),
            "cluster.x.total c=be");
  EXPECT_EQ(produced({tokens("c", {"a", "*", "$"})}, "a.b.c"), "a.b c=c");
  EXPECT_EQ(produced({tokens("c", {"a", "**", "$"})}, "a.b"), "a c=b");
  // What stands last is the statistic itself.
  EXPECT_EQ(produced({tokens("c", {"a", "$", "**"})}, "a.b"), "a.b");
  EXPECT_EQ(produced({tokens("c", {"a", "$", "x"})}, "a.b.c"), "a.b.c");
}

TEST("rules for all names come before those of a first token; a tag is taken once") {
  EXPECT_EQ(produced({tokens("c", {"cluster", "$", "**"}), fixed("f", "1")}, "cluster.be.x"),
            "cluster.x f=1 c=be");
  EXPECT_EQ(produced({fixed("c", "z"), tokens("c", {"cluster", "$", "**"})}, "cluster.be.x"),
            "cluster.be.x c=z");
}

TEST("rules all see the whole name; nothing stays behind a dot") {
  EXPECT_EQ(produced({tokens("a", {"s", "$", "**"}), tokens("b", {"s", "*", "$"})}, "s.x.y"),
            "s a=x b=y");
}

TEST("a value that is no tag stays in the name") {
  TagRule rule = tokens("l", {"listener", "$", "**"});
  rule.except = "admin";
  EXPECT_EQ(produced({rule}, "listener.admin.x"), "listener.admin.x");
  EXPECT_EQ(produced({rule}, "listener.foo.x"), "listener.x l=foo");
}

}  // namespace fairlead::stats
