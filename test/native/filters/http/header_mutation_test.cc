// Heads and queries that are changed.
#include "filters/http/header_mutation.h"

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Format literal(const std::string& text) {
  plan::Format format;
  plan::FormatPiece piece;
  piece.argument = text;
  format.pieces.push_back(piece);
  return format;
}

plan::HeaderChange adds(const std::string& name, const std::string& value) {
  plan::HeaderChange change;
  change.add.emplace();
  change.add->name = name;
  change.add->value = literal(value);
  return change;
}

plan::QueryChange query(plan::QueryChange::Action action, const std::string& name,
                        const std::string& value = {}) {
  plan::QueryChange change;
  change.action = action;
  change.name = name;
  change.value = literal(value);
  return change;
}

plan::Update withMutation(uint16_t port, plan::HeaderMutation own, plan::HeaderMutation of_route,
                          plan::HeaderMutation of_table, bool most_specific_wins) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  plan::HeaderMutationFilter& filter = managerOf(plan).http_filters[0].header_mutation.emplace();
  filter.mutations = std::move(own);
  filter.most_specific_wins = most_specific_wins;
  plan::RouteTable& table = plan.route_tables[0];
  for (plan::HeaderMutation* each : {&of_route, &of_table}) {
    plan::FilterConfig config;
    config.header_mutation = std::move(*each);
    table.filter_configs.push_back(std::move(config));
  }
  plan::RouteFilter route;
  route.configs = {0, 1};
  table.virtual_hosts[0].routes[0].filters = {route};
  return plan;
}

plan::HeaderMutation answersWith(const std::string& value) {
  plan::HeaderMutation mutation;
  mutation.response.push_back(adds("x-order", value));
  return mutation;
}

}  // namespace

TEST("The filter's own changes come first, then those of the most specific place") {
  Origin origin(answering("origin"));
  Proxy proxy(withMutation(origin.port(), answersWith("own"), answersWith("route"),
                           answersWith("table"), false));
  EXPECT(has(get(proxy, "/"), "x-order: own\r\nx-order: route\r\nx-order: table\r\n"));
}

TEST("Where the most specific place wins, it comes last") {
  Origin origin(answering("origin"));
  Proxy proxy(withMutation(origin.port(), answersWith("own"), answersWith("route"),
                           answersWith("table"), true));
  EXPECT(has(get(proxy, "/"), "x-order: own\r\nx-order: table\r\nx-order: route\r\n"));
}

TEST("Trailers of an answer speak of its head as well") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write(
        "HTTP/1.1 200 OK\r\nx-up: up\r\ntransfer-encoding: chunked\r\n\r\n"
        "1\r\na\r\n0\r\nx-t: t\r\n\r\n");
  });
  plan::HeaderMutation mutation;
  plan::HeaderChange change = adds("x-said", "");
  change.add->value->pieces[0].op = plan::FormatPiece::Operator::Resp;
  change.add->value->pieces[0].argument = "x-up";
  mutation.response_trailers.push_back(std::move(change));
  plan::Update plan = withMutation(origin.port(), std::move(mutation), {}, {}, false);
  managerOf(plan).enable_trailers = true;
  plan.clusters[0].enable_trailers = true;
  Proxy proxy(std::move(plan));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  EXPECT(has(client.readAll(), "x-t: t\r\nx-said: up\r\n"));
}

TEST("A query is changed parameter by parameter, and sorted by name") {
  using Action = plan::QueryChange::Action;
  plan::HeaderMutation plan;
  plan.query = {query(Action::Remove, "gone"),
                query(Action::Append, "more", "2"),
                query(Action::AddIfAbsent, "there", "no"),
                query(Action::AddIfAbsent, "new", "n"),
                query(Action::OverwriteIfExists, "over", "w"),
                query(Action::OverwriteIfExists, "none", "no"),
                query(Action::OverwriteOrAdd, "both", "b")};
  const auto mutations = filters::HeaderMutations::build(plan);
  Arena arena(256);
  const format::FormatContext context;
  const auto changed = [&](std::string_view path) {
    return std::string(mutations.value()->changeQuery(path, context, arena));
  };
  EXPECT_EQ(changed("/p?there=1&gone=1&more=1&over=1&over=2&gone"),
            std::string("/p?both=b&more=1&more=2&new=n&over=w&there=1"));
  EXPECT_EQ(changed("/p?g%6Fne=1&%67one&kept=%26"),
            std::string("/p?both=b&kept=%26&more=2&new=n&there=no"));
  EXPECT_EQ(changed("/p"), std::string("/p?both=b&more=2&new=n&there=no"));
}

}  // namespace fairlead::test
