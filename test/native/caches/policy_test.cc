#include "caches/policy.h"

#include "caches/http_date.h"
#include "test/native/test.h"

namespace fairlead::caches {

using http::HeaderId;
using http::HeaderMap;

namespace {

constexpr uint64_t kSecond = 1'000'000;

HeaderMap answer(std::string_view cache_control) {
  HeaderMap headers;
  headers.add(HeaderId::CacheControl, "cache-control", cache_control);
  headers.add(HeaderId::Date, "date", "Thu, 01 Jan 1970 00:16:40 GMT");
  return headers;
}

bool isStored(uint16_t status, const HeaderMap& headers) {
  return mayStore(status, headers, ResponseDirectives::of(headers), VaryRules());
}

bool needs(std::string_view of_answer, int64_t age_s, std::string_view of_request) {
  HeaderMap request;
  request.add(HeaderId::CacheControl, "cache-control", of_request);
  return needsValidation(answer(of_answer), age_s, RequestDirectives::of(request));
}

}  // namespace

TEST("Dates are read in the three ways that they are written in, and nothing else is one") {
  EXPECT_EQ(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT").value_or(0), 784111777);
  EXPECT_EQ(parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT").value_or(0), 784111777);
  EXPECT_EQ(parseHttpDate("Sun Nov  6 08:49:37 1994").value_or(0), 784111777);
  for (const std::string_view text :
       {"", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    EXPECT(!parseHttpDate(text));
  }
}

TEST("An answer is kept where it says for how long, and that it is for everybody") {
  EXPECT(isStored(200, answer("max-age=10")));
  EXPECT(isStored(404, answer("public, s-maxage=\"10\"")));
  EXPECT(isStored(200, answer("no-cache")));
  EXPECT(!isStored(200, answer("max-age=10, private")));
  EXPECT(!isStored(200, answer("max-age=10, No-Store")));
  EXPECT(!isStored(200, answer("public")));
  EXPECT(!isStored(200, answer("max-age=ten")));
  EXPECT(!isStored(500, answer("max-age=10")));
  // A part of an answer is not the answer.
  EXPECT(!isStored(206, answer("max-age=10")));
  HeaderMap expires = answer("");
  EXPECT(!isStored(200, expires));
  expires.add(HeaderId::Expires, "expires", "Thu, 01 Jan 1970 00:20:00 GMT");
  EXPECT(isStored(200, expires));
}

TEST("An answer is as old as its date, its age and the time since make it") {
  const HeaderMap plain = answer("max-age=10");
  EXPECT_EQ(ageOf(plain, 1000 * kSecond, 1000 * kSecond), 0);
  EXPECT_EQ(ageOf(plain, 1000 * kSecond, 1007 * kSecond), 7);
  EXPECT_EQ(ageOf(plain, 1005 * kSecond, 1007 * kSecond), 7);
  // A date of the future.
  EXPECT_EQ(ageOf(plain, 900 * kSecond, 907 * kSecond), 7);
  HeaderMap aged = answer("max-age=10");
  aged.add(HeaderId::Age, "age", "100");
  EXPECT_EQ(ageOf(aged, 1005 * kSecond, 1007 * kSecond), 102);
  HeaderMap undated;
  EXPECT_EQ(ageOf(undated, 1000 * kSecond, 1007 * kSecond), 1007);
}

TEST("What is too old for its answer or its request is asked for again") {
  EXPECT(!needs("max-age=10", 10, ""));
  EXPECT(needs("max-age=10", 11, ""));
  EXPECT(needs("max-age=10, no-cache", 0, ""));
  EXPECT(needs("max-age=10", 0, "no-cache"));
  EXPECT(needs("max-age=10", 5, "max-age=4"));
  EXPECT(!needs("max-age=10", 5, "min-fresh=5"));
  EXPECT(needs("max-age=10", 5, "min-fresh=6"));
  EXPECT(!needs("max-age=10", 15, "max-stale"));
  EXPECT(!needs("max-age=10", 15, "max-stale=6"));
  EXPECT(needs("max-age=10", 15, "max-stale=5"));
  EXPECT(needs("max-age=10, must-revalidate", 15, "max-stale"));
}

TEST("A request's pragma counts where it says nothing of cache-control") {
  HeaderMap request;
  request.add(HeaderId::Pragma, "pragma", "no-cache");
  EXPECT(RequestDirectives::of(request).must_validate);
  request.add(HeaderId::CacheControl, "cache-control", "max-age=5");
  EXPECT(!RequestDirectives::of(request).must_validate);
}

TEST("What was found to hold is as it was, but for what the newer answer says") {
  HeaderMap stored = answer("max-age=10");
  stored.add(HeaderId::Age, "age", "5");
  stored.add(HeaderId::Etag, "etag", "\"a\"");
  stored.add(HeaderId::ContentLength, "content-length", "3");
  HeaderMap fresh;
  fresh.add(HeaderId::ContentLength, "content-length", "0");
  fresh.add(HeaderId::CacheControl, "cache-control", "max-age=20");
  EXPECT(isAboutStored(fresh, stored));
  completeNotModified(stored, fresh);
  EXPECT_EQ(fresh.find(HeaderId::ContentLength)->name_size, 14);
  EXPECT_EQ(fresh.find(HeaderId::CacheControl)->value(), "max-age=20");
  EXPECT(!fresh.find(HeaderId::Age));
  freshenStored(fresh, stored);
  EXPECT(!stored.find(HeaderId::Age));
  EXPECT_EQ(stored.find(HeaderId::CacheControl)->value(), "max-age=20");
  EXPECT_EQ(stored.find(HeaderId::ContentLength)->value(), "3");
  HeaderMap other;
  other.add(HeaderId::Etag, "etag", "\"b\"");
  EXPECT(!isAboutStored(other, stored));
}

}  // namespace fairlead::caches
