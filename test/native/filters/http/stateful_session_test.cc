// Requests of a session, which go to the host that its cookie or header names.
#include "base/base64.h"
#include "base/wall_clock.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

std::string hostText(const Origin& origin) { return "127.0.0.1:" + std::to_string(origin.port()); }

// envoy.Cookie, of an address and the end of its time.
std::string ticketOf(const std::string& address, uint64_t expires_s = 0) {
  std::string bytes = "\x0a" + std::string(1, static_cast<char>(address.size())) + address;
  if (expires_s > 0) bytes.push_back('\x10');
  for (; expires_s > 0; expires_s >>= 7) {
    bytes.push_back(static_cast<char>((expires_s & 0x7f) | (expires_s > 0x7f ? 0x80 : 0)));
  }
  return encodeBase64(bytes);
}

plan::StatefulSession byCookie(uint64_t ttl_s = 0, const std::string& path = {}) {
  plan::StatefulSession session;
  session.cookie.emplace().name = "session";
  session.cookie->ttl_s = ttl_s;
  session.cookie->path = path;
  session.stat_prefix = "s";
  return session;
}

// Two hosts that say who they are.
struct TwoHosts {
  explicit TwoHosts(const plan::StatefulSession& session, bool disabled_by_route = false)
      : proxy([&] {
          plan::Update plan = httpPlan({one.port(), two.port()});
          // Of any health.
          plan.clusters[0].override_statuses = 0x3f;
          managerOf(plan).http_filters.emplace_back().stateful_session = session;
          if (disabled_by_route) {
            plan::FilterConfig config;
            config.stateful_session.emplace().disabled = true;
            sayOnRoute(plan, 0, std::move(config));
          }
          return plan;
        }()) {}
  // Whether all of some requests with those lines go to the second host.
  bool allToSecond(const std::string& lines, const std::string& path = "/") {
    int seconds = 0;
    for (int i = 0; i < 6; ++i) seconds += get(proxy, path, lines).ends_with("two");
    return seconds == 6;
  }
  uint64_t counted(const std::string& name) {
    return proxy.stat("http.in.stateful_session.s." + name);
  }

  Origin one{test::answering("one")};
  Origin two{test::answering("two")};
  Proxy proxy;
};

}  // namespace

TEST("The first answer of a session names its host in a cookie, which later requests go to") {
  TwoHosts hosts(byCookie());
  const std::string first = get(hosts.proxy, "/");
  const std::string& host = hostText(first.ends_with("one") ? hosts.one : hosts.two);
  EXPECT(has(first, "set-cookie: session=\"" + ticketOf(host) + "\"; HttpOnly\r\n"));
  const std::string lines = "cookie: a=b; session=\"" + ticketOf(hostText(hosts.two)) + "\"\r\n";
  EXPECT(hosts.allToSecond(lines));
  EXPECT(!has(get(hosts.proxy, "/", lines), "set-cookie"));
  EXPECT_EQ(hosts.counted("routed"), 7u);
  // Without a session the host is another than the one that was named, which is none.
  EXPECT_EQ(hosts.counted("failed_open"), 1u);
}

TEST("A cookie of a path is of requests below it alone, and one with a time ends with it") {
  TwoHosts hosts(byCookie(60, "/shop"));
  const uint64_t now_s = wallClockMicros() / 1'000'000;
  const std::string cookie = "cookie: session=";
  const std::string good = cookie + ticketOf(hostText(hosts.two), now_s + 30) + "\r\n";
  EXPECT(hosts.allToSecond(good, "/shop"));
  EXPECT(hosts.allToSecond(good, "/shop/a?b"));
  EXPECT(!hosts.allToSecond(good, "/shopping"));
  EXPECT(!has(get(hosts.proxy, "/other"), "set-cookie"));
  EXPECT(!hosts.allToSecond(cookie + ticketOf(hostText(hosts.two), now_s - 5) + "\r\n", "/shop"));
  // Without the end that it should have.
  EXPECT(!hosts.allToSecond(cookie + ticketOf(hostText(hosts.two)) + "\r\n", "/shop"));
  const std::string fresh = get(hosts.proxy, "/shop");
  EXPECT(has(fresh, "; Max-Age=60; Path=/shop; HttpOnly\r\n"));
  EXPECT_EQ(hosts.counted("no_session"), 7u);
}

TEST("A cookie may have more fields than are known, or the address alone, as once") {
  TwoHosts hosts(byCookie());
  const std::string address = hostText(hosts.two);
  const std::string ticket = "\x0a" + std::string(1, static_cast<char>(address.size())) + address;
  const std::string cookie = "cookie: session=";
  EXPECT(hosts.allToSecond(cookie +
                           encodeBase64(ticket + "\x1a\x01x\x25"
                                                 "abcd") +
                           "\r\n"));
  EXPECT(hosts.allToSecond(cookie + encodeBase64(address) + "\r\n"));
}

TEST("A cookie that is broken is none") {
  TwoHosts hosts(byCookie());
  const std::string address = hostText(hosts.two);
  const std::string good = "\x0a" + std::string(1, static_cast<char>(address.size())) + address;
  for (const std::string& odd : {
           std::string("!!!"),
           encodeBase64("\x0a\x7f" + address),
           encodeBase64("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + address),
           encodeBase64(good + "\x10"),
           encodeBase64(good + "\x10\xff"),
           encodeBase64(std::string(300, '\xff')),
           std::string(4000, 'A'),
       }) {
    EXPECT(!hosts.allToSecond("cookie: session=\"" + odd + "\"\r\n"));
  }
  EXPECT(hosts.allToSecond("cookie: session=" + encodeBase64(good) + "\r\n"));
}

TEST("A header names the host, and the answer names another where it came from there") {
  plan::StatefulSession session;
  session.header = "x-session";
  session.stat_prefix = "s";
  TwoHosts hosts(session);
  const std::string named = "X-Session: " + encodeBase64(hostText(hosts.two)) + "\r\n";
  EXPECT(hosts.allToSecond(named));
  EXPECT(!has(get(hosts.proxy, "/", named), "x-session"));
  const std::string lost =
      get(hosts.proxy, "/", "x-session: " + encodeBase64("127.0.0.1:1") + "\r\n");
  EXPECT(lost.ends_with("one") || lost.ends_with("two"));
  const std::string& host = hostText(lost.ends_with("one") ? hosts.one : hosts.two);
  EXPECT(has(lost, "x-session: " + encodeBase64(host) + "\r\n"));
  EXPECT_EQ(hosts.counted("routed"), 7u);
  EXPECT_EQ(hosts.counted("failed_open"), 1u);
}

TEST("A strict session has no other host than its own") {
  for (const uint32_t status : {0, 429}) {
    plan::StatefulSession session = byCookie();
    session.strict = true;
    session.strict_status = status;
    TwoHosts hosts(session);
    const std::string lost =
        get(hosts.proxy, "/", "cookie: session=" + ticketOf("127.0.0.1:1") + "\r\n");
    EXPECT(lost.starts_with(status == 0 ? "HTTP/1.1 503 " : "HTTP/1.1 429 "));
    EXPECT_EQ(hosts.counted("failed_closed"), 1u);
    EXPECT(hosts.allToSecond("cookie: session=" + ticketOf(hostText(hosts.two)) + "\r\n"));
  }
}

TEST("A route may have none, and nothing is read or told of it") {
  TwoHosts hosts(byCookie(), true);
  const std::string lines = "cookie: session=" + ticketOf(hostText(hosts.two)) + "\r\n";
  EXPECT(!hosts.allToSecond(lines));
  EXPECT(!has(get(hosts.proxy, "/"), "set-cookie"));
  EXPECT_EQ(hosts.counted("routed"), 0u);
  EXPECT_EQ(hosts.counted("no_session"), 0u);
}

TEST("An envelope is put around what a host says of its session, and opened for it") {
  plan::StatefulSession session;
  session.envelope_header = "x-state";
  session.stat_prefix = "s";
  // Repeats what it is told of the state, and begins with one.
  Origin origin([](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      const size_t at = request.find("x-state: ");
      const std::string state = at == std::string::npos
                                    ? "new"
                                    : request.substr(at + 9, request.find("\r\n", at) - at - 9);
      socket.write("HTTP/1.1 200 OK\r\nx-state: " + state + "\r\nx-saw: " + state +
                   "\r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.emplace_back().stateful_session = session;
  Proxy proxy(plan);
  const std::string sealed = encodeBase64(hostText(origin)) + ";UV:" + encodeBase64("new");
  const std::string first = get(proxy, "/");
  EXPECT(has(first, "x-state: " + sealed + "\r\n"));
  EXPECT(has(first, "x-saw: new\r\n"));
  const std::string second = get(proxy, "/", "x-state: " + sealed + "\r\n");
  EXPECT(has(second, "x-saw: new\r\n"));
  EXPECT(has(second, "x-state: " + sealed + "\r\n"));
  // What is no envelope goes on as it is.
  for (const char* odd : {"!", ";UV:", ";;;", "UV:bmV3"}) {
    EXPECT(has(get(proxy, "/", "x-state: " + std::string(odd) + "\r\n"),
               "x-saw: " + std::string(odd)));
  }
}

TEST("An envelope that a client has made smuggles nothing to the host") {
  plan::StatefulSession session;
  session.envelope_header = "x-state";
  Origin origin(repeatRequests);
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.emplace_back().stateful_session = session;
  Proxy proxy(plan);
  for (const std::string& inside :
       {std::string("a\r\nx-evil: 1"), std::string("a\nx-evil: 1"), std::string("a\0evil", 6),
        std::string("a\r\n\r\nGET /evil HTTP/1.1\r\nhost: a\r\n\r\n")}) {
    const std::string answer =
        get(proxy, "/",
            "x-state: " + encodeBase64(hostText(origin)) + ";UV:" + encodeBase64(inside) + "\r\n");
    EXPECT(answer.starts_with("HTTP/1.1 200 "));
    EXPECT(!has(answer, "evil"));
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_total"), 4u);
}

}  // namespace fairlead::test
