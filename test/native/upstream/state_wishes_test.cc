// What the filter state says of hosts, as filters have kept it.
#include "upstream/state_wishes.h"

#include <string>
#include <utility>

#include "net/shared_states.h"
#include "net/state_value.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Kept = plan::FilterStateValue::Kind;

void keep(std::string key, Kept kind, std::string_view text, net::FilterState& state) {
  plan::FilterStateValue value;
  value.key = std::move(key);
  value.kind = kind;
  net::noteState(value);
  std::string kept(text);
  net::FilterState::Form form;
  if (net::readStateValue(kind, &kept, &form)) state.set(value.key, kept, false, form);
}

}  // namespace

TEST("what a request says of its host goes before what its connection says") {
  net::FilterState of_connection;
  net::FilterState of_request;
  keep("envoy.network.upstream_server_name", Kept::UntoldText, "a.test", of_connection);
  keep("envoy.network.upstream_subject_alt_names", Kept::UntoldText, "a.test,b.test",
       of_connection);
  keep("envoy.network.upstream_server_name", Kept::UntoldText, "c.test", of_request);
  keep("envoy.network.application_protocols", Kept::Protocols, "h2,http/1.1", of_request);
  const upstream::TlsWishes wishes = upstream::tlsWishesOf(&of_connection, &of_request);
  EXPECT_EQ(wishes.server_name, "c.test");
  EXPECT_EQ(wishes.wanted_names, "a.test\nb.test");
  EXPECT_EQ(wishes.protocols, "\x02h2\x08http/1.1");
  upstream::PoolUse use{.server_name = "own.test"};
  wishes.tell(&use);
  EXPECT_EQ(use.server_name, "c.test");
  EXPECT(!use.isCommon());
}

TEST("a port is a number that may be one, and a text of that name is none") {
  net::FilterState state;
  keep("envoy.upstream.dynamic_host", Kept::Text, "a.test", state);
  keep("envoy.upstream.dynamic_port", Kept::Uint32, "08080", state);
  EXPECT_EQ(upstream::hostByState(&state).host, "a.test");
  EXPECT_EQ(upstream::hostByState(&state).port, 8080u);
  EXPECT_EQ(*state.find("envoy.upstream.dynamic_port"), "8080");
  keep("envoy.upstream.dynamic_port", Kept::Uint32, "none", state);
  EXPECT_EQ(upstream::hostByState(&state).port, 8080u);
  keep("envoy.upstream.dynamic_port", Kept::Uint32, "70000", state);
  EXPECT_EQ(upstream::hostByState(&state).port, 0u);
  keep("envoy.upstream.dynamic_port", Kept::Text, "80", state);
  EXPECT_EQ(upstream::hostByState(&state).port, 0u);
  EXPECT_EQ(upstream::hostByState(nullptr).port, 0u);
}

TEST("protocols that TLS cannot say are not said") {
  net::FilterState state;
  keep("envoy.network.application_protocols", Kept::Protocols, "h2,,x", state);
  EXPECT_EQ(upstream::tlsWishesOf(&state).protocols, "");
}

}  // namespace fairlead::test
