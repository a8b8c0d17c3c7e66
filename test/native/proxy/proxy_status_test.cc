// proxy-status, scopes of routes and names of headers as they came: what is made of texts alone.
#include "proxy/proxy_status.h"

#include <string>

#include "http/kept_names.h"
#include "route/route_scopes.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

TEST("An answer of the proxy's own is told of in words of RFC 9209") {
  format::ResponseFlags flags;
  flags.set(format::ResponseFlag::NoRouteFound);
  plan::ProxyStatus plan;
  plan.proxy_name = "me";
  uint16_t status = 404;
  EXPECT_EQ(proxy::proxyStatusOf(plan, flags, "route not_found", &status),
            "me; error=destination_not_found; details=\"route_not_found; NR\"");
  EXPECT_EQ(status, 404);
  EXPECT_EQ(proxy::proxyStatusOf(plan, flags, "a\r\nb: \"c\"", &status),
            "me; error=destination_not_found; details=\"a__b:_\\\"c\\\"; NR\"");
  EXPECT_EQ(proxy::proxyStatusOf(plan, flags, std::string_view("\0", 1), &status),
            "me; error=destination_not_found; details=\"; NR\"");
  plan.sets_status = plan.removes_details = true;
  EXPECT_EQ(proxy::proxyStatusOf(plan, flags, "x", &status), "me; error=destination_not_found");
  EXPECT_EQ(status, 500);
  EXPECT_EQ(proxy::proxyStatusOf(plan, {}, "x", &status), "");
}

TEST("A scope is found by all parts of its key, and by nothing else") {
  NameIds ids;
  plan::ScopedRoutes plan;
  plan.fragments.resize(2);
  plan.fragments[0].header = "x-a";
  plan.fragments[0].element_separator = ";";
  plan.fragments[0].key_separator = "=";
  plan.fragments[0].key = "k";
  plan.fragments[1].header = "x-b";
  plan.scopes.resize(1);
  plan.scopes[0].key = {"one", "two"};
  plan.scopes[0].route_table = "t";
  const route::RouteScopes scopes(plan, ids);
  const auto find = [&](std::string a, std::string b) {
    test::Request request = test::Request().with("x-a", std::move(a)).with("x-b", std::move(b));
    return scopes.find(request.view()) != nullptr;
  };
  EXPECT(find("j=1;k=one", "two"));
  EXPECT(!find("j=1;k=onet", "wo"));
  EXPECT(!find("k", "two"));
  EXPECT(!find("j=one", "two"));
}

TEST("Names of headers stay as they came, in whatever parts that was") {
  http::KeptNames names(true);
  names.collect("GET / HTTP/1.1\r\nX-So");
  names.collect("GET / HTTP/1.1\r\nx-soME: a\r\nlower: b\r\n\r\nX-Body: no");
  std::string text = "x-some lower x-body";
  names.restore(text.data(), 6);
  names.restore(text.data() + 7, 5);
  names.restore(text.data() + 13, 6);
  EXPECT_EQ(text, "X-SoME lower X-Body");
}

}  // namespace fairlead
