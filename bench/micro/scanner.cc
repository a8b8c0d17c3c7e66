// Reading heads. A scan changes its bytes (names turn lower case), so each iteration reads a copy;
// what the copy costs has its own line.
#include "http/http1/scanner.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/micro/micro.h"
#include "http/http1/chunk_decoder.h"
#include "http/message.h"

namespace fairlead::http1 {

namespace {

constexpr char kBrowserHead[] =
    "GET /static/js/app.7f3a9c.js?v=20240131 HTTP/1.1\r\n"
    "Host: www.example.test:8443\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: en-GB,en;q=0.7,fr;q=0.3\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Referer: https://www.example.test/catalogue/index.html\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: session=4f1c2a9e8b7d6c5f4e3d2c1b0a998877; theme=dark\r\n"
    "Sec-Fetch-Dest: script\r\n"
    "Sec-Fetch-Mode: no-cors\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "DNT: 1\r\n"
    "\r\n";

constexpr char kLoadHead[] =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:10000\r\nConnection: keep-alive\r\n\r\n";

constexpr char kAnswerHead[] =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1024\r\n"
    "date: Tue, 30 Jan 2024 10:00:00 GMT\r\nserver: origin\r\n\r\n";

void scanCopies(micro::State& state, std::string_view head) {
  const auto scratch = std::make_unique<http::RequestHead>();
  const auto buffer = std::make_unique<char[]>(head.size());
  const HeadLimits limits;
  state.setBytes(head.size());
  for (auto _ : state) {
    std::memcpy(buffer.get(), head.data(), head.size());
    const ScanResult result = scanRequest(buffer.get(), head.size(), limits, scratch.get());
    micro::keep(result.state);
  }
}

}  // namespace

MICRO("scanner copy of the browser head alone") {
  const std::string_view head = kBrowserHead;
  const auto buffer = std::make_unique<char[]>(head.size());
  for (auto _ : state) {
    std::memcpy(buffer.get(), head.data(), head.size());
    micro::keep(buffer[0]);
  }
}

MICRO("scanner browser head") { scanCopies(state, kBrowserHead); }

// The same head again and again teaches the branch predictor every length in it; traffic does not.
MICRO("scanner 512 different browser heads") {
  std::vector<std::string> heads;
  uint32_t random = 1;
  size_t bytes = 0;
  for (int i = 0; i < 512; ++i) {
    std::vector<std::string> lines;
    for (std::string_view rest = kBrowserHead; rest.size() > 2;) {
      const size_t end = rest.find("\r\n") + 2;
      lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    std::string head = lines[0];
    for (size_t left = lines.size(); left > 1; --left) {
      random = random * 1664525 + 1013904223;
      std::string& line = lines[1 + (random >> 8) % (left - 1)];
      head += line.substr(0, line.size() - 2) + std::string((random >> 20) % 12, 'v') + "\r\n";
      std::swap(line, lines[left - 1]);
    }
    bytes += head.size() + 2;
    heads.push_back(head + "\r\n");
  }
  const auto scratch = std::make_unique<http::RequestHead>();
  const auto buffer = std::make_unique<char[]>(2048);
  state.setBytes(bytes / heads.size());
  size_t next = 0;
  for (auto _ : state) {
    const std::string& head = heads[next++ % heads.size()];
    std::memcpy(buffer.get(), head.data(), head.size());
    micro::keep(scanRequest(buffer.get(), head.size(), {}, scratch.get()).state);
  }
}

MICRO("scanner load generator's head") { scanCopies(state, kLoadHead); }

MICRO("scanner 60 KiB of cookie") {
  const std::string head =
      "GET / HTTP/1.1\r\nhost: a\r\ncookie: " + std::string(60'000, 'c') + "\r\n\r\n";
  scanCopies(state, head);
}

MICRO("scanner answer's head") {
  const std::string_view head = kAnswerHead;
  const auto scratch = std::make_unique<http::ResponseHead>();
  const auto buffer = std::make_unique<char[]>(head.size());
  state.setBytes(head.size());
  for (auto _ : state) {
    std::memcpy(buffer.get(), head.data(), head.size());
    const ScanResult result = scanResponse(buffer.get(), head.size(), {}, scratch.get());
    micro::keep(result.state);
  }
}

MICRO("message interning a known and an unknown name") {
  std::string_view known = "x-forwarded-for";
  std::string_view unknown = "sec-fetch-mode";
  for (auto _ : state) {
    micro::keep(known);
    micro::keep(unknown);
    micro::keep(http::internHeader(known));
    micro::keep(http::internHeader(unknown));
  }
}

MICRO("chunk decoder 16 chunks of 1 KiB") {
  std::string body;
  for (int i = 0; i < 16; ++i) body += "400\r\n" + std::string(1024, 'b') + "\r\n";
  body += "0\r\n";
  for (auto _ : state) {
    ChunkDecoder decoder;
    size_t at = 0;
    while (at < body.size()) {
      const ChunkDecoder::Result step = decoder.next({body.data() + at, body.size() - at});
      at += step.consumed;
      micro::keep(step.data.size());
    }
  }
}

}  // namespace fairlead::http1
