// Which of its filters a request passes.

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("A route switches filters off, and those that are off by default on") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/off"));
  managerOf(plan).http_filters.push_back(healthCheckOn("/on"));
  managerOf(plan).http_filters[1].disabled = true;
  Proxy usual(plan);
  EXPECT(!has(get(usual, "/off"), "origin"));
  EXPECT(has(get(usual, "/on"), "origin"));
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.filter_toggles = {{0, true}, {1, false}};
  Proxy toggled(plan);
  EXPECT(has(get(toggled, "/off"), "origin"));
  EXPECT(!has(get(toggled, "/on"), "origin"));
}

}  // namespace fairlead::test
