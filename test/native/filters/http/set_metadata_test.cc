// Metadata that every request has.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::SetMetadataEntry entryOf(const std::string& space, bool overwrites,
                               const std::string& value) {
  plan::SetMetadataEntry entry;
  entry.space = space;
  entry.overwrites = overwrites;
  entry.value = value;
  return entry;
}

// What requests have of the space once those entries were set, one after the other.
std::string metadataAfter(const std::vector<plan::SetMetadataEntry>& entries, uint64_t denied,
                          const std::string& space = "space") {
  Origin origin(test::answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  auto& filters = managerOf(plan).http_filters;
  filters.push_back(answersShow("x-told", plan::FormatPiece::Operator::DynamicMetadata, space));
  filters.emplace_back().set_metadata.emplace().entries = entries;
  Proxy proxy(plan);
  std::string told;
  // The second has nothing of the first.
  for (int i = 0; i < 2; ++i) {
    const std::string answer = get(proxy, "/");
    const size_t at = answer.find("\r\nx-told: ");
    told = at == std::string::npos ? ""
                                   : answer.substr(at + 10, answer.find("\r\n", at + 2) - at - 10);
  }
  EXPECT_EQ(proxy.stat("http.in.set_metadata.overwrite_denied"), 2 * denied);
  return told;
}

}  // namespace

TEST("Metadata of spaces that nobody has set is as it is written") {
  EXPECT_EQ(metadataAfter({entryOf("space", false, R"({"a":1,"b":{"c":[true,null,"x"]}})")}, 0),
            std::string(R"({"a":1,"b":{"c":[true,null,"x"]}})"));
  EXPECT_EQ(metadataAfter({entryOf("space", false, "{}")}, 0), std::string("{}"));
}

TEST("What is there stays, which is counted, where it may not be overwritten") {
  EXPECT_EQ(
      metadataAfter({entryOf("space", false, R"({"a":1})"), entryOf("space", false, R"({"b":2})"),
                     entryOf("other", false, R"({"c":3})")},
                    1),
      std::string(R"({"a":1})"));
}

TEST("What may be is merged: objects member by member, lists one behind the other") {
  EXPECT_EQ(metadataAfter(
                {entryOf("space", false, R"({"a":1,"o":{"x":1,"y":[1]},"l":[1,{"p":1}],"k":"s"})"),
                 entryOf("space", true, R"({"a":2,"o":{"y":[2],"z":3},"l":[2],"k":[9]})")},
                0),
            std::string(R"({"a":2,"k":[9],"l":[1,{"p":1},2],"o":{"x":1,"y":[1,2],"z":3}})"));
  // Of other kinds, what comes later.
  EXPECT_EQ(
      metadataAfter(
          {entryOf("space", true, R"({"a":{"b":1}})"), entryOf("space", true, R"({"a":null})")}, 0),
      std::string(R"({"a":null})"));
}

TEST("The most specific level of a route adds what it says") {
  Origin origin(test::answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  auto& filters = managerOf(plan).http_filters;
  filters.push_back(answersShow("x-told", plan::FormatPiece::Operator::DynamicMetadata, "space"));
  filters.emplace_back().set_metadata.emplace().entries = {entryOf("space", false, R"({"a":1})")};
  plan::FilterConfig config;
  config.set_metadata.emplace().entries = {entryOf("space", true, R"({"b":2})")};
  sayOnRoute(plan, 1, std::move(config));
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/"), "x-told: {\"a\":1,\"b\":2}\r\n"));
}

TEST("Spaces are apart, and what is no JSON sets nothing") {
  EXPECT_EQ(metadataAfter(
                {entryOf("space", true, R"({"a":1)"), entryOf("space", false, R"({"b":2})")}, 0),
            std::string(R"({"b":2})"));
  EXPECT_EQ(metadataAfter({entryOf("other", true, R"({"a":1})")}, 0), std::string(""));
}

}  // namespace fairlead::test
