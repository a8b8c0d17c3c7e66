// Bodies that are larger than any buffer: slow readers on either side, splices that break off,
// tunnels. Memory stays bounded by the watermarks.
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;
// ThreadSanitizer has memory of its own for every byte.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t kResidentPerByte = 5;
#else
constexpr uint64_t kResidentPerByte = 1;
#endif

uint64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages >> pages;
  return pages * 4096;
}

std::string headOf(uint64_t bytes) {
  return "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(bytes) + "\r\n\r\n";
}

// Sends `bytes` in parts that tell their place. False: the peer left.
bool sendBody(Socket& socket, uint64_t bytes) {
  std::string part(64 * 1024, 0);
  for (uint64_t at = 0; at < bytes; at += part.size()) {
    for (size_t i = 0; i < part.size(); i += 8) {
      const uint64_t place = at + i;
      part.replace(i, 8, reinterpret_cast<const char*>(&place), 8);
    }
    if (!socket.write(part)) return false;
  }
  return true;
}

// Reads what sendBody() sent; returns how many bytes came right.
uint64_t readBody(Socket& socket, uint64_t bytes) {
  uint64_t at = 0;
  while (at < bytes) {
    const std::string got = socket.readExactly(64 * 1024);
    if (got.size() < 64 * 1024) return at + got.size();
    for (size_t i = 0; i < got.size(); i += 8) {
      const uint64_t place = at + i;
      if (got.compare(i, 8, reinterpret_cast<const char*>(&place), 8) != 0) return at + i;
    }
    at += got.size();
  }
  return at;
}

}  // namespace

TEST("A slow reader gets 64 MiB whole, and the worker holds no more than the watermark of it") {
  const DescriptorsBalance balance;
  for (const bool chunked : {false, true}) {
    Origin origin([chunked](Socket& socket, int) {
      socket.readMessage();
      if (!chunked) {
        socket.write(headOf(64 * kMegabyte));
        sendBody(socket, 64 * kMegabyte);
        socket.readAll();
        return;
      }
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const std::string chunk = "10000\r\n" + std::string(64 * 1024, 'c') + "\r\n";
      for (int i = 0; i < 1024; ++i) socket.write(chunk);
      socket.write("0\r\n\r\n");
      socket.readAll();
    });
    Proxy proxy(httpPlan({origin.port()}));
    Socket client = proxy.connect(32 * 1024);
    const uint64_t before = residentBytes();
    client.write(kGet);
    sleepMs(400);
    // What one connection may keep is some hundred KiB.
    EXPECT(residentBytes() < before + 4 * kMegabyte * kResidentPerByte);
    client.readUntil("\r\n\r\n");
    if (chunked) {
      uint64_t seen = 0;
      for (std::string size; (size = client.readUntil("\r\n")) != "0\r\n" && !size.empty();) {
        const size_t bytes = std::stoul(size, nullptr, 16);
        seen += client.readExactly(bytes + 2).size() - 2;
      }
      EXPECT_EQ(seen, 64 * kMegabyte);
    } else {
      EXPECT_EQ(readBody(client, 64 * kMegabyte), 64 * kMegabyte);
    }
    client.close();
    proxy.expectQuiet();
    EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_200"), 1u);
  }
}

TEST("Spliced bodies arrive whole on kept connections, whatever their size") {
  const DescriptorsBalance balance;
  const uint64_t sizes[] = {64 * 1024, 256 * 1024, 3 * kMegabyte, 320 * 1024, 8 * kMegabyte};
  Origin origin([&sizes](Socket& socket, int) {
    for (int i = 0; !socket.readMessage().empty(); ++i) {
      socket.write(headOf(sizes[i % 5]));
      // The head alone first, then the body in two parts, every other time.
      if (i % 2) sleepMs(5);
      if (!sendBody(socket, sizes[i % 5])) return;
    }
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  for (int i = 0; i < 25; ++i) {
    client.write(kGet);
    EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(readBody(client, sizes[i % 5]), sizes[i % 5]);
  }
  EXPECT_EQ(origin.connections(), 1);
}

TEST("A client that leaves in a spliced body costs its host connection, and nothing else") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write(headOf(32 * kMegabyte)) || !sendBody(socket, 32 * kMegabyte)) return;
    }
  });
  Proxy proxy(httpPlan({origin.port()}), 2);
  for (int i = 0; i < 12; ++i) {
    Socket client = proxy.connect(i % 3 == 0 ? 32 * 1024 : 0);
    client.write(kGet);
    const uint64_t part = static_cast<uint64_t>(i + 1) * 512 * 1024;
    EXPECT_EQ(client.discard(part), part);
    if (i % 4 == 1) sleepMs(10);
    if (i % 2) {
      client.reset();
    } else {
      client.close();
    }
  }
  proxy.expectQuiet();
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 0));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_destroy_local_with_active_rq"), 12u);
}

TEST("A host that dies in a spliced body ends the client's connection after what came") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int number) {
    socket.readMessage();
    socket.write(headOf(32 * kMegabyte));
    sendBody(socket, kMegabyte);
    if (number % 2) {
      sleepMs(20);
      socket.reset();
    }
  });
  Proxy proxy(httpPlan({origin.port()}));
  for (int i = 0; i < 6; ++i) {
    Socket client = proxy.connect();
    client.write(kGet);
    client.readUntil("\r\n\r\n");
    EXPECT_EQ(readBody(client, 32 * kMegabyte), kMegabyte);
  }
  proxy.expectQuiet();
}

TEST("An upload larger than all buffers waits for a host that reads slowly, and arrives whole") {
  const DescriptorsBalance balance;
  std::atomic<bool> reads{false};
  Origin origin([&reads](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    while (!reads) sleepMs(1);
    const uint64_t seen = readBody(socket, 48 * kMegabyte);
    socket.write(headOf(8) + (seen == 48 * kMegabyte ? "all came" : "too few!"));
    socket.readAll();
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(48 * kMegabyte) +
               "\r\n\r\n");
  bool is_sent = false;
  std::thread sender([&] { is_sent = sendBody(client, 48 * kMegabyte); });
  EXPECT(proxy.waitUntil(
      [&] { return proxy.stat("http.in.downstream_flow_control_paused_reading_total") > 0; }));
  reads = true;
  sender.join();
  EXPECT(is_sent);
  EXPECT(client.readMessage().ends_with("all came"));
  EXPECT_EQ(proxy.stat("http.in.downstream_flow_control_paused_reading_total"),
            proxy.stat("http.in.downstream_flow_control_resumed_reading_total"));
}

TEST("A client that resets while its upload waits for the host is noticed at once") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    sleepMs(1000);
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(64 * kMegabyte) +
               "\r\n\r\n");
  const std::string part(256 * 1024, 'x');
  while (proxy.stat("http.in.downstream_flow_control_paused_reading_total") == 0) {
    client.write(part);
  }
  client.reset();
  const auto start = std::chrono::steady_clock::now();
  proxy.expectQuiet();
  EXPECT(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(800));
}

TEST("An answer before the upload is over reaches the client, and ends its connection") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\n\r\nbig");
    socket.discard(64 * kMegabyte);
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n" +
               std::string(1000, 'x'));
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 413"));
  EXPECT(answer.ends_with("big"));
  client.write(std::string(100'000, 'x'));
  EXPECT_EQ(client.readAll(), std::string());
}

TEST("A CONNECT tunnel passes bytes at once both ways, and ends with its host") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    EXPECT(socket.readUntil("\r\n\r\n").starts_with("CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n"));
    sleepMs(50);
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    for (int i = 0; i < 4; ++i) socket.write("<" + socket.readExactly(5) + ">");
  });
  plan::Update plan = httpPlan({origin.port()});
  plan.route_tables[0].virtual_hosts[0].routes[0].match->path_kind =
      plan::RouteMatch::PathKind::Connect;
  plan.listeners[0].filter_chains[0].http->upgrades.push_back({"connect", true, {}});
  Proxy proxy(plan);
  for (int i = 0; i < 3; ++i) {
    Socket client = proxy.connect();
    client.write("CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n");
    if (i > 0) {
      // Sent before the answer, in a packet of its own.
      sleepMs(10);
      client.write("hello");
    }
    EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
    if (i == 0) client.write("hello");
    EXPECT_EQ(client.readExactly(7), std::string("<hello>"));
    for (int k = 0; k < 3; ++k) {
      client.write("again");
      EXPECT_EQ(client.readExactly(7), std::string("<again>"));
    }
    client.write("late");
    EXPECT_EQ(client.readAll(), std::string());
  }
  proxy.expectQuiet();
}

namespace {

constexpr std::string_view kHandshake =
    "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
constexpr std::string_view kSwitching =
    "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";

plan::Update upgradingPlan(uint16_t origin) {
  plan::Update plan = httpPlan({origin});
  plan.listeners[0].filter_chains[0].http->upgrades.push_back({"websocket", true, {}});
  return plan;
}

}  // namespace

TEST("What a client sends before its upgrade is granted reaches the host after that") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    EXPECT(socket.readUntil("\r\n\r\n").find("upgrade: websocket\r\n") != std::string::npos);
    socket.setPatience(50);
    EXPECT_EQ(socket.read(), std::string());
    socket.setPatience(5000);
    socket.write(std::string(kSwitching) + "hello");
    EXPECT_EQ(socket.readExactly(10), std::string("earlylater"));
    socket.write("bye");
  });
  Proxy proxy(upgradingPlan(origin.port()));
  for (int i = 0; i < 2; ++i) {
    Socket client = proxy.connect();
    client.write(std::string(kHandshake) + "early");
    const std::string head = client.readUntil("\r\n\r\n");
    EXPECT(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
    EXPECT(head.find("upgrade: websocket\r\n") != std::string::npos);
    EXPECT_EQ(client.readExactly(5), std::string("hello"));
    EXPECT_EQ(proxy.stat("http.in.downstream_cx_upgrades_active"), 1u);
    client.write("later");
    EXPECT_EQ(client.readAll(), std::string("bye"));
  }
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_upgrades_active"), 0u);
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_upgrades_total"), 2u);
}

TEST("A tunnel's bytes wait for the slower end, both ways, and none is lost") {
  const DescriptorsBalance balance;
  constexpr size_t kBytes = 24 * kMegabyte;
  std::promise<void> may_read;
  Origin origin([&](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write(kSwitching);
    may_read.get_future().wait();
    EXPECT_EQ(socket.discard(kBytes), uint64_t{kBytes});
    const std::string part(kMegabyte, 'y');
    for (size_t sent = 0; sent < kBytes; sent += part.size()) socket.write(part);
    socket.readAll();
  });
  Proxy proxy(upgradingPlan(origin.port()));
  Socket client = proxy.connect();
  client.write(kHandshake);
  client.readUntil("\r\n\r\n");
  std::thread writer([&] {
    const std::string part(kMegabyte, 'x');
    for (size_t sent = 0; sent < kBytes; sent += part.size()) client.write(part);
  });
  const auto has_paused = [&](const char* name) {
    return proxy.waitUntil([&] { return proxy.stat(name) > 0; });
  };
  EXPECT(has_paused("http.in.downstream_flow_control_paused_reading_total"));
  may_read.set_value();
  writer.join();
  EXPECT(has_paused("cluster.origin.upstream_flow_control_paused_reading_total"));
  EXPECT_EQ(client.discard(kBytes), uint64_t{kBytes});
  client.close();
  proxy.expectQuiet();
}

TEST("A client that sends a lot before its upgrade is granted is held back") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    sleepMs(300);
    socket.write(kSwitching);
    EXPECT_EQ(socket.discard(16 * kMegabyte), uint64_t{16 * kMegabyte});
    socket.write("all");
  });
  Proxy proxy(upgradingPlan(origin.port()));
  Socket client = proxy.connect();
  client.write(kHandshake);
  const std::string part(kMegabyte, 'x');
  for (int i = 0; i < 16; ++i) client.write(part);
  EXPECT(proxy.stat("http.in.downstream_flow_control_paused_reading_total") > 0);
  EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 101"));
  EXPECT_EQ(client.readAll(), std::string("all"));
  proxy.expectQuiet();
}

}  // namespace fairlead::test
