#include "proxy/redirect_place.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::proxy {

namespace {

// Empty: nowhere.
std::string placeOf(std::string_view location) {
  RedirectPlace place;
  if (!readRedirectPlace(location, &place)) return {};
  return std::string(place.is_http ? "http " : "other ")
      .append(place.authority)
      .append(" ")
      .append(place.path);
}

}  // namespace

TEST("A redirect leads to a host and a path, without who asks and without a fragment") {
  EXPECT_EQ(placeOf("http://a.test/b?c=d#e"), "http a.test /b?c=d");
  EXPECT_EQ(placeOf("HTTPS://a.test:8443/"), "other a.test:8443 /");
  EXPECT_EQ(placeOf("http://a.test"), "http a.test /");
  EXPECT_EQ(placeOf("http://a.test#e"), "http a.test /");
  EXPECT_EQ(placeOf("http://[::1]:80/b"), "http [::1]:80 /b");
  EXPECT_EQ(placeOf("http://u:p@a.test/b"), "http a.test /b");
  EXPECT_EQ(placeOf("http://a.test/b%20c"), "http a.test /b%20c");
  EXPECT_EQ(placeOf("http://a.test?c"), "http a.test ?c");
}

TEST("A redirect leads nowhere that no request can ask for") {
  for (const std::string_view location :
       {"/b", "://a.test/b", "http:///b", "http://a b/", "http://a.test/b c", "http://a.test/b?c d",
        "http://a.test/b#c d", "http://a.test/b\tc", "http://a.test/b\x7f",
        "http://a.test/\xc3\xa9", "http://a.test:/b", "http://a.test:65536/b", "http://a.test:x/b",
        "http://[::1/b", "http://u@/b"}) {
    EXPECT_EQ(placeOf(location), "");
  }
}

}  // namespace fairlead::proxy
