// Clients and hosts that do anything at all, seeded: whatever happens, at the end every gauge and
// budget is back at zero, workers stop, and no descriptor is left.
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Clock = std::chrono::steady_clock;

// Takes traces and has none.
class Forgetful final : public filters::TapSink {
 public:
  void onTrace(uint32_t, uint64_t, std::string) override {}
};

plan::Tap everything(bool streaming) {
  plan::Tap tap;
  tap.streaming = streaming;
  tap.max_request_body_bytes = tap.max_response_body_bytes = 1000;
  tap.share_millionths = 700'000;
  return tap;
}

// What is posted counts as a health check; a tap comes and goes.
plan::Update filteredPlan(const std::vector<uint16_t>& hosts) {
  plan::Update plan = httpPlan(hosts);
  plan::HttpConnectionManager& http = *plan.listeners[0].filter_chains[0].http;
  http.drain_timeout_ms = 20;
  http.http_filters.resize(2);
  plan::HealthCheckFilter& check = http.http_filters[0].health_check.emplace();
  check.min_healthy.push_back({"origin", 50});
  plan::HeaderMatch& method = check.headers.emplace_back();
  method.name = ":method";
  method.kind = plan::HeaderMatch::Kind::String;
  method.string_match.emplace().value = "POST";
  http.http_filters[1].tap.emplace();
  return plan;
}

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t end) { return engine_() % end; }
  bool oneIn(uint32_t n) { return below(n) == 0; }
  std::string bytes(uint32_t most) {
    std::string text(below(most + 1), 0);
    for (char& c : text) c = static_cast<char>(engine_());
    return text;
  }

 private:
  std::mt19937 engine_;
};

std::string chunked(Dice& dice, size_t bytes) {
  std::string text;
  while (bytes > 0) {
    const size_t part = std::min<size_t>(bytes, 1 + dice.below(20'000));
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", part);
    text += size + std::string(part, 'c') + "\r\n";
    bytes -= part;
  }
  return text + (dice.oneIn(4) ? "0\r\ntrailer: x\r\n\r\n" : "0\r\n\r\n");
}

size_t bodySize(Dice& dice) {
  switch (dice.below(8)) {
    case 0:
      return 0;
    case 1:
      return 1 + dice.below(2'000'000);
    case 2:
      return 60'000 + dice.below(300'000);
    default:
      return 1 + dice.below(3000);
  }
}

void mutate(Dice& dice, std::string* text) {
  for (uint32_t i = 1 + dice.below(4); i > 0 && !text->empty(); --i) {
    const size_t at = dice.below(static_cast<uint32_t>(std::min<size_t>(text->size(), 400)));
    switch (dice.below(3)) {
      case 0:
        (*text)[at] = static_cast<char>(dice.below(256));
        break;
      case 1:
        text->erase(at, 1 + dice.below(8));
        break;
      default:
        text->insert(at, dice.bytes(6));
        break;
    }
  }
}

// ---- hosts ----

std::string answer(Dice& dice, bool* closes) {
  std::string text;
  if (dice.oneIn(8)) text += "HTTP/1.1 100 Continue\r\n\r\n";
  if (dice.oneIn(12)) text += "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  static const char* const kHeads[] = {"200 OK",           "200 OK",         "200 OK",
                                       "304 Not Modified", "204 No Content", "404 Not Found",
                                       "503 Busy",         "101 Switching"};
  const std::string head = kHeads[dice.below(8)];
  text += "HTTP/1.1 " + head + "\r\nx-a: b\r\n";
  if (dice.oneIn(6)) {
    text += "connection: close\r\n";
    *closes = true;
  }
  if (head.starts_with("101")) {
    text += "connection: upgrade\r\nupgrade: websocket\r\n\r\n";
    *closes = dice.oneIn(3);
    return text + std::string(bodySize(dice), 't');
  }
  const bool bodiless = head[0] == '3' || head.starts_with("204");
  const size_t size = bodySize(dice);
  if (bodiless) return text + "\r\n";
  switch (dice.below(5)) {
    case 0:
      return text + "transfer-encoding: chunked\r\n\r\n" + chunked(dice, size);
    case 1:
      *closes = true;
      return text + "\r\n" + std::string(size, 'u');
    default:
      return text + "content-length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'l');
  }
}

void playHost(Socket& socket, Dice dice) {
  socket.setPatience(60 + static_cast<int>(dice.below(200)));
  for (;;) {
    if (dice.oneIn(10))
      socket.read(1 + dice.below(100));
    else if (socket.readMessage().empty())
      return;
    if (dice.oneIn(6)) sleepMs(dice.below(30));
    if (dice.oneIn(12)) return;
    if (dice.oneIn(12)) {
      socket.reset();
      return;
    }
    if (dice.oneIn(14)) {
      socket.write(dice.bytes(2000));
      continue;
    }
    bool closes = false;
    std::string text = answer(dice, &closes);
    if (dice.oneIn(8)) mutate(dice, &text);
    const bool truncated = dice.oneIn(7);
    if (truncated) text.resize(dice.below(static_cast<uint32_t>(text.size()) + 1));
    if (dice.oneIn(8)) {
      const size_t half = dice.below(static_cast<uint32_t>(text.size()) + 1);
      socket.write(text.substr(0, half));
      sleepMs(dice.below(20));
      text.erase(0, half);
    }
    if (!socket.write(text)) return;
    if (dice.oneIn(20)) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    if (closes || truncated) {
      if (dice.oneIn(4)) socket.reset();
      return;
    }
  }
}

// ---- clients ----

std::string request(Dice& dice) {
  static const char* const kMethods[] = {"GET", "GET", "GET", "HEAD", "POST", "PUT", "CONNECT"};
  const std::string method = kMethods[dice.below(7)];
  std::string text = method + (method == "CONNECT" ? " a:1" : " /x") + " HTTP/1.1\r\nhost: a:1\r\n";
  if (dice.oneIn(10)) text += "connection: close\r\n";
  if (dice.oneIn(10)) text += "expect: 100-continue\r\n";
  if (dice.oneIn(8)) {
    text += dice.oneIn(2) ? "connection: upgrade\r\nupgrade: websocket\r\n"
                          : "connection: upgrade\r\nupgrade: other\r\n";
    if (dice.oneIn(2)) return text + "\r\n" + std::string(bodySize(dice), 'w');
  }
  if (method[0] != 'P') return text + "\r\n";
  const size_t size = bodySize(dice);
  if (dice.oneIn(3)) return text + "transfer-encoding: chunked\r\n\r\n" + chunked(dice, size);
  return text + "content-length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'r');
}

void playClient(uint16_t port, Dice dice) {
  Socket socket = Socket::connect(port, dice.oneIn(4) ? 16 * 1024 : 0);
  if (!socket.isOpen()) return;
  socket.setPatience(40 + static_cast<int>(dice.below(150)));
  for (uint32_t left = 1 + dice.below(12); left > 0; --left) {
    std::string text;
    for (uint32_t i = dice.oneIn(5) ? 1 + dice.below(6) : 1; i > 0; --i) text += request(dice);
    if (dice.oneIn(8)) mutate(dice, &text);
    if (dice.oneIn(10)) text.resize(dice.below(static_cast<uint32_t>(text.size()) + 1));
    if (dice.oneIn(5)) {
      const size_t half = dice.below(static_cast<uint32_t>(text.size()) + 1);
      socket.write(text.substr(0, half));
      sleepMs(dice.below(15));
      text.erase(0, half);
    }
    if (!socket.write(text)) break;
    switch (dice.below(8)) {
      case 0:
        sleepMs(dice.below(30));
        break;
      case 1:
        socket.discard(1 + dice.below(100'000));
        break;
      default:
        socket.readMessage();
        break;
    }
  }
  switch (dice.below(4)) {
    case 0:
      socket.reset();
      break;
    case 1:
      socket.endWriting();
      socket.discard(100'000);
      break;
    default:
      break;
  }
}

// Many clients at a time against two hosts and one that refuses, whose set changes all the time.
void playAll(plan::Update (*makePlan)(const std::vector<uint16_t>&), int ms, bool stop_early) {
  const DescriptorsBalance balance;
  Origin first([](Socket& s, int number) { playHost(s, Dice(static_cast<uint32_t>(number))); });
  Origin second(
      [](Socket& s, int number) { playHost(s, Dice(90'000u + static_cast<uint32_t>(number))); });
  const RefusingPort refused;
  const std::vector<uint16_t> hosts = {first.port(), second.port(), first.port(), refused.number()};
  plan::Update plan = makePlan(hosts);
  plan.clusters[0].connect_timeout_ms = 100;
  plan.clusters[0].max_requests_per_connection = 7;
  plan.clusters[0].enable_trailers = true;
  plan.clusters[0].limits[0] = {6, 3, 8, 3, false, {}, {}};
  if (!plan.route_tables.empty()) {
    plan::VirtualHost& all = plan.route_tables[0].virtual_hosts[0];
    all.routes[0].cluster->timeout_ms = 120;
    all.routes[0].cluster->idle_timeout_ms = 90;
    all.routes.push_back(all.routes[0]);
    all.routes[0].match->path_kind = plan::RouteMatch::PathKind::Connect;
    plan::HttpConnectionManager& http = *plan.listeners[0].filter_chains[0].http;
    http.idle_timeout_ms = 100;
    http.request_headers_timeout_ms = 80;
    http.request_timeout_ms = 150;
    http.delayed_close_timeout_ms = 30;
    http.enable_trailers = true;
    http.upgrades = {{"connect", true, {}}, {"websocket", true, {}}};
  } else {
    plan.listeners[0].filter_chains[0].tcp->idle_timeout_ms = 100;
    plan.listeners[0].filter_chains[0].tcp->max_connect_attempts = 2;
  }
  Proxy proxy(plan, 2, std::make_shared<Forgetful>());
  const bool filters =
      !plan.route_tables.empty() && !plan.listeners[0].filter_chains[0].http->http_filters.empty();
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(ms);
  // A slow machine gets the time that it takes.
  const Clock::time_point latest = end + std::chrono::seconds(20);
  const auto isEnough = [&] {
    return Clock::now() >= latest ||
           (Clock::now() >= end &&
            (stop_early || proxy.stat("listener.in.downstream_cx_total") > 100));
  };
  std::atomic<bool> over{false};
  std::vector<std::thread> clients;
  for (uint32_t i = 0; i < 20; ++i) {
    clients.emplace_back([&proxy, &over, i] {
      for (uint32_t n = 0; !over; ++n) playClient(proxy.port(), Dice(i * 1'000'000 + n));
    });
  }
  Dice dice(5);
  while (!isEnough()) {
    sleepMs(20);
    plan::Update update;
    update.assignments.push_back(hostsOn(hosts));
    if (dice.oneIn(2)) update.assignments[0].hosts.resize(1 + dice.below(4));
    if (filters) {
      proxy.dataPlane().setHealthCheckFailed(dice.oneIn(2));
      update.taps.emplace_back();
      if (dice.oneIn(2)) update.taps[0].tap = everything(dice.oneIn(2));
    }
    proxy.dataPlane().apply(update);
  }
  over = true;
  if (stop_early) proxy.stop();
  for (std::thread& client : clients) client.join();
  if (stop_early) return;
  proxy.expectQuiet();
  EXPECT(proxy.stat("listener.in.downstream_cx_total") > 100);
  EXPECT(proxy.stat("cluster.origin.upstream_rq_total") > 20);
}

}  // namespace

TEST("Whatever HTTP clients and hosts do, nothing is left behind") {
  playAll(&httpPlan, 2500, false);
}

TEST("Whatever clients do while health, draining and taps come and go, nothing is left behind") {
  playAll(&filteredPlan, 1500, false);
}

TEST("Whatever HTTP clients and hosts do, stop() ends it") { playAll(&httpPlan, 400, true); }

TEST("Whatever TCP clients and hosts do, nothing is left behind") { playAll(&tcpPlan, 800, false); }

TEST("Whatever TCP clients and hosts do, stop() ends it") { playAll(&tcpPlan, 300, true); }

}  // namespace fairlead::test
