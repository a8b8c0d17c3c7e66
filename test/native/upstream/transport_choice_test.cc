// Which transport socket a host has.
#include "upstream/transport_choice.h"

#include <string>
#include <vector>

#include "test/native/test.h"

namespace fairlead::upstream {

namespace {

std::vector<TransportMatch> matchesOf(const std::vector<std::vector<std::string>>& labels) {
  std::vector<TransportMatch> matches;
  for (const auto& some : labels) {
    TransportMatch match;
    match.labels = some;
    matches.push_back(std::move(match));
  }
  return matches;
}

// The labels of what is found; "none".
std::string found(const TransportChoice& choice, const plan::Host& host) {
  const TransportMatch* const match = choice.find(host);
  if (!match) return "none";
  std::string all;
  for (const std::string& label : match->labels) all.append(label);
  return all;
}

plan::MatchTree treeOf(plan::MatchInput input, const std::string& text, uint32_t action) {
  plan::MatchEdge edge;
  edge.text = text;
  edge.outcome.emplace().action = action;
  plan::MatchNode node;
  node.kind = plan::MatchNode::Kind::Exact;
  node.input = std::move(input);
  node.edges.push_back(std::move(edge));
  plan::MatchTree tree;
  tree.nodes.push_back(std::move(node));
  return tree;
}

}  // namespace

TEST("a host's own labels count before those of its locality, which count alone") {
  const auto choice = TransportChoice::build(matchesOf({{"a", "b"}, {"b"}, {"c"}}), {}).value();
  plan::Host host;
  EXPECT_EQ(found(choice, host), "none");
  host.locality_socket_labels = {"b"};
  EXPECT_EQ(found(choice, host), "b");
  host.socket_labels = {"a"};
  EXPECT_EQ(found(choice, host), "b");
  host.socket_labels = {"c"};
  EXPECT_EQ(found(choice, host), "c");
  host.socket_labels = {"b", "a"};
  EXPECT_EQ(found(choice, host), "ab");
}

TEST("a tree asks for the value of just that input, and an action without a socket is none") {
  plan::MatchInput input;
  input.kind = plan::MatchInput::Kind::EndpointMetadata;
  input.metadata_namespace = "envoy.lb";
  input.path = {"deep", "x"};
  const auto choice =
      TransportChoice::build(matchesOf({{"one"}, {"two"}}), treeOf(input, "y", 1)).value();
  plan::Host host;
  // Labels do not count beside a tree.
  host.socket_labels = {"one"};
  EXPECT_EQ(found(choice, host), "none");
  plan::HostValue value;
  value.metadata_namespace = "envoy.lb";
  value.path = {"deep", "x"};
  value.value = "y";
  value.is_locality = true;
  host.socket_values = {value};
  EXPECT_EQ(found(choice, host), "none");
  host.socket_values[0].is_locality = false;
  EXPECT_EQ(found(choice, host), "two");
  host.socket_values[0].path = {"deep"};
  EXPECT_EQ(found(choice, host), "none");
  host.socket_values[0].path = {"deep", "x"};
  const auto beyond = TransportChoice::build(matchesOf({{"one"}}), treeOf(input, "y", 1)).value();
  EXPECT_EQ(found(beyond, host), "none");
}

}  // namespace fairlead::upstream
