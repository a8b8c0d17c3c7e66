#include "match/match_tree.h"

#include <arpa/inet.h>

#include <string>
#include <vector>

#include "test/native/test.h"

namespace fairlead::match {

namespace {

using Kind = plan::MatchNode::Kind;
using InputKind = plan::MatchInput::Kind;

plan::MatchInput input(InputKind kind) {
  plan::MatchInput made;
  made.kind = kind;
  return made;
}

const plan::MatchInput kName = input(InputKind::ServerName);
const plan::MatchInput kSource = input(InputKind::SourceIp);

std::string bytesOf(const std::string& text) {
  char bytes[16];
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return std::string(bytes, 4);
  return inet_pton(AF_INET6, text.c_str(), bytes) == 1 ? std::string(bytes, 16) : std::string();
}

// A name, perhaps, and an address.
class Asker final : public Facts {
 public:
  Asker(std::string name, const std::string& ip) : name_(std::move(name)), ip_(bytesOf(ip)) {}

  std::optional<std::string_view> text(const plan::MatchInput& input, std::string*) const override {
    if (input.kind != InputKind::ServerName || name_.empty()) return std::nullopt;
    return name_;
  }
  std::string_view address(const plan::MatchInput& input) const override {
    return input.kind == InputKind::SourceIp ? std::string_view(ip_) : std::string_view();
  }

 private:
  const std::string name_;
  const std::string ip_;
};

plan::MatchOutcome action(uint32_t number) { return {0, number}; }
plan::MatchOutcome node(uint32_t number) { return {number, 0}; }

plan::MatchPredicate isText(plan::StringMatch::Kind kind, std::string value) {
  plan::MatchPredicate predicate;
  predicate.input = kName;
  predicate.text.emplace();
  predicate.text->kind = kind;
  predicate.text->value = std::move(value);
  return predicate;
}
plan::MatchPredicate all(plan::MatchPredicate::Kind kind, std::vector<plan::MatchPredicate> parts) {
  plan::MatchPredicate predicate;
  predicate.kind = kind;
  predicate.parts = std::move(parts);
  return predicate;
}

class Tree {
 public:
  Tree& add(Kind kind, const plan::MatchInput& input) {
    plan::MatchNode& made = plan_.nodes.emplace_back();
    made.kind = kind;
    made.input = input;
    return *this;
  }
  Tree& on(plan::MatchPredicate predicate, plan::MatchOutcome outcome) {
    edge(outcome).predicate = std::move(predicate);
    return *this;
  }
  Tree& on(std::string text, plan::MatchOutcome outcome) {
    edge(outcome).text = std::move(text);
    return *this;
  }
  Tree& onRange(const std::string& ip, uint32_t bits, plan::MatchOutcome outcome,
                bool exclusive = false) {
    plan::MatchEdge& made = edge(outcome);
    made.range = plan::CidrRange{bytesOf(ip), bits};
    made.exclusive = exclusive;
    return *this;
  }
  Tree& otherwise(plan::MatchOutcome outcome) {
    plan_.nodes.back().otherwise = outcome;
    return *this;
  }
  // Nobody gets past it.
  Tree& addDeadEnd() { return add(Kind::Exact, kName); }

  int find(const std::string& name, const std::string& ip = "192.0.2.1") const {
    auto tree = MatchTree::build(plan_);
    FL_CHECK(tree);
    return tree.value().find(Asker(name, ip));
  }
  std::string refusal() const {
    auto tree = MatchTree::build(plan_);
    return tree ? "" : tree.error().message;
  }

 private:
  plan::MatchEdge& edge(plan::MatchOutcome outcome) {
    plan::MatchEdge& made = plan_.nodes.back().edges.emplace_back();
    made.outcome = outcome;
    return made;
  }

  plan::MatchTree plan_;
};

}  // namespace

TEST("A tree without nodes leads nowhere; one without edges to what is left") {
  EXPECT_EQ(Tree().find("a"), MatchTree::kNone);
  EXPECT_EQ(Tree().add(Kind::List, {}).find("a"), MatchTree::kNone);
  EXPECT_EQ(Tree().add(Kind::List, {}).otherwise(action(3)).find("a"), 3);
}

TEST("Of a list the first predicate counts that holds and leads to an action") {
  using Text = plan::StringMatch::Kind;
  Tree tree;
  tree.add(Kind::List, {})
      .on(isText(Text::Prefix, "a"), node(1))
      .on(isText(Text::Prefix, "ab"), action(1))
      .on(isText(Text::Suffix, "z"), action(2))
      .otherwise(action(3))
      .addDeadEnd();
  EXPECT_EQ(tree.find("abc"), 1);
  EXPECT_EQ(tree.find("az"), 2);
  EXPECT_EQ(tree.find("b"), 3);
}

TEST("Predicates are joined by and, or, not; of what has no value none holds") {
  using Text = plan::StringMatch::Kind;
  using Join = plan::MatchPredicate::Kind;
  plan::MatchPredicate near;
  near.kind = Join::Ip;
  near.input = kSource;
  near.ranges = {{bytesOf("10.0.0.0"), 8}, {bytesOf("2001:db8::"), 33}};
  Tree tree;
  tree.add(Kind::List, {})
      .on(all(Join::And, {isText(Text::Prefix, "a"), all(Join::Not, {near})}), action(1))
      .on(all(Join::Or, {isText(Text::Exact, "x"), near}), action(2));
  EXPECT_EQ(tree.find("a"), 1);
  EXPECT_EQ(tree.find("a", "10.1.2.3"), 2);
  EXPECT_EQ(tree.find("", "2001:db8:7fff::1"), 2);
  EXPECT_EQ(tree.find("", "2001:db8:8000::1"), MatchTree::kNone);
  EXPECT_EQ(tree.find("x"), 2);
  EXPECT_EQ(tree.find(""), MatchTree::kNone);
}

TEST("A map has one edge for a value, and no other way when that leads nowhere") {
  Tree tree;
  tree.add(Kind::Exact, kName)
      .on("a", action(1))
      .on("ab", node(1))
      .otherwise(action(2))
      .addDeadEnd();
  EXPECT_EQ(tree.find("a"), 1);
  EXPECT_EQ(tree.find("ab"), 2);
  EXPECT_EQ(tree.find("abc"), 2);
  EXPECT_EQ(tree.find(""), 2);
}

TEST("The longest prefix counts that leads to an action") {
  Tree tree;
  tree.add(Kind::Prefix, kName)
      .on("", action(0))
      .on("a", action(1))
      .on("abc", node(1))
      .on("ab", action(2))
      .addDeadEnd();
  EXPECT_EQ(tree.find("abcd"), 2);
  EXPECT_EQ(tree.find("ac"), 1);
  EXPECT_EQ(tree.find("x"), 0);
}

TEST("A domain counts before the ends of names, longer ends before shorter ones and the star") {
  Tree tree;
  tree.add(Kind::Domain, kName)
      .on("x.a.test", action(1))
      .on("*.a.test", action(2))
      .on("*.test", action(3))
      .on("*", action(4))
      .on("y.a.test", node(1))
      .addDeadEnd();
  EXPECT_EQ(tree.find("x.a.test"), 1);
  EXPECT_EQ(tree.find("y.a.test"), 2);
  EXPECT_EQ(tree.find("z.y.a.test"), 2);
  EXPECT_EQ(tree.find("a.test"), 3);
  EXPECT_EQ(tree.find("test"), 4);
  EXPECT_EQ(tree.find(""), MatchTree::kNone);
}

TEST("The longest range counts that leads to an action, of equals the first one") {
  Tree tree;
  tree.add(Kind::Ip, kSource)
      .onRange("10.0.0.0", 8, action(1))
      .onRange("10.1.255.255", 17, action(2))
      .onRange("10.1.128.7", 32, node(1))
      .onRange("10.1.255.0", 17, action(3))
      .onRange("0.0.0.0", 0, action(4))
      .onRange("::", 0, action(5))
      .addDeadEnd();
  EXPECT_EQ(tree.find("", "10.1.128.7"), 2);
  EXPECT_EQ(tree.find("", "10.1.127.7"), 1);
  EXPECT_EQ(tree.find("", "11.0.0.0"), 4);
  EXPECT_EQ(tree.find("", "2001:db8::1"), 5);
  EXPECT_EQ(tree.find("", "no address"), MatchTree::kNone);
}

TEST("An exclusive range does not count where a longer one has led nowhere") {
  Tree tree;
  tree.add(Kind::Ip, kSource)
      .onRange("10.0.0.0", 8, action(1), true)
      .onRange("10.1.0.0", 16, node(1), true)
      .onRange("0.0.0.0", 0, action(2))
      .addDeadEnd();
  EXPECT_EQ(tree.find("", "10.2.0.1"), 1);
  EXPECT_EQ(tree.find("", "10.1.0.1"), 2);
}

TEST("A tree that goes back, or out of itself, is none") {
  EXPECT_EQ(Tree().add(Kind::List, {}).otherwise(node(1)).refusal(),
            "a tree goes on with a later node");
  Tree back;
  back.add(Kind::List, {}).otherwise(node(1)).add(Kind::List, {}).otherwise(node(1));
  EXPECT_EQ(back.refusal(), "a tree goes on with a later node");
  Tree wide;
  wide.add(Kind::Ip, kSource).onRange("10.0.0.0", 33, action(0));
  EXPECT_EQ(wide.refusal(), "an edge of addresses has a range");
}

}  // namespace fairlead::match
