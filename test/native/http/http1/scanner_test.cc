#include "http/http1/scanner.h"

#include <memory>
#include <random>
#include <string>

#include "test/native/test.h"

namespace fairlead::http1 {

namespace {

using http::HeaderEntry;

// The head's bytes in memory of exactly their size, so that a sanitizer sees a step outside.
struct Bytes {
  explicit Bytes(std::string_view text)
      : size(text.size()), data(std::make_unique_for_overwrite<char[]>(size)) {
    text.copy(data.get(), size);
  }
  size_t size;
  std::unique_ptr<char[]> data;
};

std::string shownHeaders(const http::HeaderMap& headers) {
  std::string text;
  for (const HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    text += "[" + std::string(entry.name()) + "=" + std::string(entry.value()) + "]";
  }
  return text;
}

std::string shownResult(const ScanResult& result) {
  if (result.state == Scan::Incomplete) return "incomplete";
  return std::to_string(result.error.status) + " " + std::string(result.error.details);
}

std::string shown(const ScanResult& result, const http::RequestHead& head) {
  if (result.state != Scan::Complete) return shownResult(result);
  return std::string(head.method) + " " + std::string(head.target) +
         (head.version == http::Version::Http11 ? " 1.1 " : " 1.0 ") + shownHeaders(head.headers) +
         " " + std::to_string(head.head_bytes);
}

std::string shown(const ScanResult& result, const http::ResponseHead& head) {
  if (result.state != Scan::Complete) return shownResult(result);
  return std::to_string(head.status) + " " + std::string(head.reason) +
         (head.version == http::Version::Http11 ? " 1.1 " : " 1.0 ") + shownHeaders(head.headers) +
         " " + std::to_string(head.head_bytes);
}

template <typename Head>
using ScanFunction = ScanResult (*)(char*, size_t, const HeadLimits&, Head*);

template <typename Head>
std::string scanWith(ScanFunction<Head> scan, std::string_view text, const HeadLimits& limits) {
  static Head head;
  const Bytes bytes(text);
  const ScanResult result = scan(bytes.data.get(), bytes.size, limits, &head);
  return shown(result, head);
}

std::string request(std::string_view text, const HeadLimits& limits = {}) {
  const std::string wide = scanWith<http::RequestHead>(scanRequest, text, limits);
  EXPECT_EQ(scanWith<http::RequestHead>(scalar::scanRequest, text, limits), wide);
  return wide;
}

std::string response(std::string_view text) {
  const std::string wide = scanWith<http::ResponseHead>(scanResponse, text, {});
  EXPECT_EQ(scanWith<http::ResponseHead>(scalar::scanResponse, text, {}), wide);
  return wide;
}

// A request with one header line of interest; what became of that line.
std::string line(const std::string& line) {
  const std::string head = "GET / HTTP/1.1\r\nhost: a\r\n" + line + "\r\n\r\n";
  std::string got = request(head);
  const std::string_view before = "GET / 1.1 [host=a]";
  if (got.starts_with(before)) got = got.substr(before.size(), got.rfind(' ') - before.size());
  return got;
}

constexpr const char* kBadHeads = "400 http1.codec_error";
constexpr const char* kCharacters = "400 http1.invalid_characters";
constexpr const char* kTooLarge = "431 http1.headers_too_large";
constexpr const char* kTooMany = "431 http1.too_many_headers";

std::string times(int count, std::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

const std::string kBrowserHead =
    "GET /a/b?c=d HTTP/1.1\r\nHost: www.example.test:8443\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101\r\n"
    "Accept-Language: en-GB,en;q=0.7\r\nUpgrade-Insecure-Requests: 1\r\nDNT: 1\r\n"
    "X-Folded: one\r\n two\r\n\tthree\r\nContent-Length:12\r\nEmpty:\r\n"
    "X-High: \xe9\xff caf\xc3\xa9\r\nCookie: a=b; c=d\r\n\r\n";

const std::string kAnswerHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 1024\r\n"
    "Date: Tue, 30 Jan 2024 10:00:00 GMT\r\nX-Folded: a\r\n b\r\n\r\n";

}  // namespace

TEST("a head is read: names in lower case, values trimmed, ids interned") {
  EXPECT_EQ(
      request(
          "GET /x HTTP/1.1\r\nHoSt: \t a.test \t \r\nX-UPPER-Case-Name-That-Is-Long: V\r\n\r\n"),
      "GET /x 1.1 [host=a.test][x-upper-case-name-that-is-long=V] 73");
  static http::RequestHead head;
  const Bytes bytes(kBrowserHead);
  EXPECT_EQ(scanRequest(bytes.data.get(), bytes.size, {}, &head).state, Scan::Complete);
  EXPECT_EQ(head.head_bytes, kBrowserHead.size());
  EXPECT_EQ(head.headers.find(http::HeaderId::UserAgent)->name(), "user-agent");
  EXPECT_EQ(head.headers.find(http::HeaderId::ContentLength)->value(), "12");
  EXPECT_EQ(head.headers.find("empty")->value(), "");
  EXPECT_EQ(head.headers.find("x-folded")->value(), "one two\tthree");
  EXPECT_EQ(head.headers.find("x-high")->value(), "\xe9\xff caf\xc3\xa9");
}

TEST("of a head with too many headers one more counts, and the name behind it") {
  static http::RequestHead head;
  const auto counted = [](const std::string& text) {
    const Bytes bytes(text);
    HeadLimits limits;
    limits.max_headers = 2;
    EXPECT_EQ(scanRequest(bytes.data.get(), bytes.size, limits, &head).state, Scan::Error);
    return head.header_bytes;
  };
  const std::string three = "GET / HTTP/1.1\r\nhost: a\r\nx: 1\r\ny: 22\r\n";
  EXPECT_EQ(counted(three + "\r\n"), 8u + 5u + 6u);
  EXPECT_EQ(counted(three + "long-name: 1\r\nz: 1\r\n\r\n"), 8u + 5u + 6u + 9u);
  EXPECT_EQ(counted("GET / HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n"), 0u);
}

TEST("only the name of a line turns lower case, however long name and value are") {
  for (size_t name = 1; name < 50; ++name) {
    for (const size_t value : {0, 1, 7, 15, 16, 17, 33}) {
      const std::string upper(name, 'N');
      const std::string text(value, 'V');
      EXPECT_EQ(line(upper + ":" + text), "[" + std::string(name, 'n') + "=" + text + "]");
    }
  }
}

TEST("leading empty lines are skipped and counted") {
  EXPECT_EQ(request("\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "GET / 1.1  22");
  EXPECT_EQ(request("\r\n \r\nGET / HTTP/1.1\r\n\r\n"), kBadHeads);
  EXPECT_EQ(request("\n\nGET / HTTP/1.1\r\n\r\n"), kBadHeads);
}

TEST("blanks and tabs separate the parts of a request line, in any number") {
  EXPECT_EQ(request("GET  /two HTTP/1.1\r\n\r\n"), "GET /two 1.1  22");
  EXPECT_EQ(request("GET\t/ \t HTTP/1.1 \t\r\n\r\n"), "GET / 1.1  22");
  for (const char* first : {" GET / HTTP/1.1", "GET /sp ace HTTP/1.1", "GET / HTTP/1.1 x", "GET",
                            "GET ", "nonsense", "/ HTTP/1.1"}) {
    EXPECT_EQ(request(std::string(first) + "\r\nhost: a\r\n\r\n"), kBadHeads);
  }
}

TEST("a method that the real server does not know is refused") {
  for (const char* method : {"FROB", "get", "B@D", "G", "M-SEARCH", "PRI", "GETT"}) {
    EXPECT_EQ(request(std::string(method) + " / HTTP/1.1\r\nhost: a\r\n\r\n"), kBadHeads);
  }
  for (const char* method : {"GET", "QUERY", "MSEARCH", "PROPFIND", "UNSUBSCRIBE"}) {
    EXPECT(request(std::string(method) + " / HTTP/1.1\r\n\r\n").starts_with(method));
  }
  EXPECT_EQ(request(std::string(40, 'A')), kBadHeads);
  EXPECT_EQ(request("\x16\x03\x01\x02"), kBadHeads);
}

TEST("a version other than 1.1, or none, is read as 1.0") {
  for (const char* version :
       {" HTTP/1.0", " HTTP/0.9", " HTTP/1.2", " HTTP/2.0", " HTTP/9.9", "", " "}) {
    EXPECT(request("GET /" + std::string(version) + "\r\n\r\n").starts_with("GET / 1.0"));
  }
  for (const char* version :
       {"HTTP/9", "HTTX/1.1", "http/1.1", "HTTP/01.1", "HTTP/1.10", "HTTP/1.x"}) {
    EXPECT_EQ(request("GET / " + std::string(version) + "\r\n\r\n"), kBadHeads);
  }
}

TEST("control bytes in a target are invalid characters; bytes from 0x80 on are a codec error") {
  EXPECT_EQ(request("GET /\x01 HTTP/1.1\r\n\r\n"), kCharacters);
  EXPECT_EQ(request("GET /\x7f HTTP/1.1\r\n\r\n"), kCharacters);
  EXPECT_EQ(request("GET /\xe9 HTTP/1.1\r\n\r\n"), kBadHeads);
  EXPECT_EQ(request("GET /\"<>{}|\\^` HTTP/1.1\r\n\r\n"), "GET /\"<>{}|\\^` 1.1  27");
}

TEST("a name is a token, right before its colon") {
  EXPECT_EQ(line("x!#$%&'*+-.^_`|~9: b"), "[x!#$%&'*+-.^_`|~9=b]");
  for (const char* bad :
       {"x-a : b", "x a: b", "no colon", ": empty", ":path: b", "x@t: b", "x\"t: b", "x/t: b",
        "x\x80t: b", "x(t: b", "x\x01t: b", "a-name-of-more-than-sixteen-b@tes: b"}) {
    EXPECT_EQ(line(bad), kBadHeads);
  }
  EXPECT_EQ(request("GET / HTTP/1.1\r\n x: y\r\n\r\n"), kBadHeads);
}

TEST("a value has no control bytes but tabs; bytes from 0x80 on pass") {
  EXPECT_EQ(line("x: a\tb"), "[x=a\tb]");
  EXPECT_EQ(line("x: \xe9\xff"), "[x=\xe9\xff]");
  for (size_t at = 0; at < 40; ++at) {
    for (const char bad : {'\0', '\x01', '\x1f', '\x7f'}) {
      std::string value(40, 'v');
      value[at] = bad;
      EXPECT_EQ(line("x: " + value), kCharacters);
    }
  }
}

TEST("a folded value is joined without its line ends") {
  EXPECT_EQ(line("x: a\r\n b\r\n\t c"), "[x=a b\t c]");
  EXPECT_EQ(line("x: a\r\n \r\n b"), "[x=a  b]");
  EXPECT_EQ(line("x:\r\n b"), "[x=b]");
  EXPECT_EQ(line("x: a\r\n "), "[x=a]");
}

TEST("a bare CR or LF in a request is refused wherever it stands") {
  for (const char* bad : {"x: a\rb", "x: a\r", "x:\r", "x: \r ", "x:\r\r a \r\r\n b\r", "x\r: b",
                          "\rx: b", "x: a\r\x01", "x: a\nb: c", "x: a\n", "x:\n b", "x\n: b",
                          "x: a\r\n\nb: c", "x: a\r\n b\rc"}) {
    EXPECT_EQ(line(bad), kBadHeads);
  }
  for (const char* bad : {"GET /\rHTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r \r\n\r\n",
                          "GET / HTTP/1.1\nhost: a\n\n", "GET / HTTP/1.1\r\nhost: a\r\n\n",
                          "GET /\nhost: a\r\n\r\n", "\n\nGET / HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(request(bad), kBadHeads);
  }
}

TEST(
    "headers that others frame, route or upgrade by are refused when they are folded or have a "
    "CR") {
  for (const std::string name :
       {"Content-Length", "Transfer-Encoding", "Connection", "Proxy-Connection", "Keep-Alive",
        "Host", "Upgrade", "TE", "Trailer", "Expect", "HTTP2-Settings"}) {
    for (const char* value : {": 1\r2", ": chu\rnked", ": 1\r", ":\r 1", ": 1\r\r"}) {
      EXPECT_EQ(line(name + value), kBadHeads);
      EXPECT_EQ(response("HTTP/1.1 200 OK\r\n" + name + value + "\r\n\r\n"), kBadHeads);
    }
    for (const char* value : {":\r\n 1", ": 1\r\n 2", ": 1\r\n ", ": 1\r\n\t\r\n 2"}) {
      EXPECT_EQ(line(name + value), kBadHeads);
      EXPECT_EQ(response("HTTP/1.1 200 OK\r\n" + name + value + "\r\n\r\n"), kBadHeads);
    }
    EXPECT_EQ(response("HTTP/1.1 200 OK\n" + name + ": 1\n 2\n\n"), kBadHeads);
  }
}

TEST("lines that repeat a header of one line are joined where the first was; empty ones vanish") {
  EXPECT_EQ(request("GET / HTTP/1.1\r\nhost: a\r\nAccept: x\r\nx-a: 1\r\naccept:\r\naccept: y\r\n"
                    "X-A: 2\r\nhost: b\r\n\r\n"),
            "GET / 1.1 [host=a][accept=x,y][x-a=1][x-a=2][host=b] 83");
  EXPECT_EQ(line("origin:\r\norigin: x\r\norigin:"), "[origin=x]");
  EXPECT_EQ(line("vary:\r\nvary:"), "[vary=][vary=]");
  EXPECT_EQ(line("cookie: a\r\ncookie: b"), "[cookie=a][cookie=b]");
  EXPECT_EQ(line("content-length: 1\r\ncontent-length: 1"), "[content-length=1][content-length=1]");
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nVary: a\r\nset-cookie: 1\r\nvary: b\r\nset-cookie: 2\r\n"
                     "accept: a\r\naccept: b\r\n\r\n"),
            "200 OK 1.1 [vary=a,b][set-cookie=1][set-cookie=2][accept=a][accept=b] 89");
}

TEST("a head may fill its limit, and not one byte more") {
  const std::string before = "GET / HTTP/1.1\r\nx: ";
  const std::string exact = before + std::string(60 * 1024 - before.size() - 4, 'a') + "\r\n\r\n";
  EXPECT(request(exact).starts_with("GET"));
  EXPECT_EQ(request(before + "a" + exact.substr(before.size())), kTooLarge);
  EXPECT_EQ(request(std::string(exact, 0, exact.size() - 4) + "aaaaa"), kTooLarge);
  EXPECT_EQ(request("GET / HTTP/1.1\r\n" + std::string(70'000, 'n') + ": v\r\n\r\n",
                    {.max_head_bytes = 100'000}),
            kTooLarge);
}

TEST("a head may have as many headers as its limit, host included") {
  const std::string before = "GET / HTTP/1.1\r\nhost: a\r\n";
  EXPECT(request(before + times(99, "h: v\r\n") + "\r\n").starts_with("GET"));
  EXPECT_EQ(request(before + times(100, "h: v\r\n") + "\r\n"), kTooMany);
  EXPECT_EQ(request(before + times(100'000, "h: v\r\n") + "\r\n"), kTooMany);
  EXPECT_EQ(request(before + times(2000, "h: v\r\n") + "\r\n", {.max_headers = 5000}), kTooMany);
}

TEST("headers that are dropped as they have an underscore do not count") {
  const std::string before = "GET / HTTP/1.1\r\nhost: a\r\nb_c: v\r\n";
  const HeadLimits limits = {.max_headers = 2, .spares_underscores = true};
  EXPECT(
      request(before + "h: v\r\n" + times(20, "d_e: v\r\n") + "\r\n", limits).starts_with("GET"));
  EXPECT_EQ(request(before + times(2, "h: v\r\n") + "\r\n", limits), kTooMany);
  // There is room left for what the proxy adds.
  EXPECT(request(before + times(998, "d_e: v\r\n") + "\r\n", limits).starts_with("GET"));
  EXPECT_EQ(request(before + times(999, "d_e: v\r\n") + "\r\n", limits), kTooMany);
  EXPECT_EQ(request(before + "h: v\r\n\r\n", {.max_headers = 2}), kTooMany);
}

TEST("an answer's head is read; a bare LF ends its lines too") {
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"), "200 OK 1.1 [a=b] 25");
  EXPECT_EQ(response("HTTP/1.1 200 OK\nA: b\n\nbody"), "200 OK 1.1 [a=b] 22");
  EXPECT_EQ(response("HTTP/1.1 404\r\n\r\n"), "404  1.1  16");
  EXPECT_EQ(response("HTTP/1.1\t204  No \xe9 Content \r\n\r\n"), "204 No \xe9 Content 1.1  31");
  EXPECT_EQ(response("HTTP/1.0 999 X\r\nhost: a\r\nhost: b\r\n\r\n"),
            "999 X 1.0 [host=a][host=b] 36");
  EXPECT_EQ(response("HTTP/2.0 200 OK\r\n\r\n"), "200 OK 1.0  19");
}

TEST("a bare CR in a value of an answer is a blank; elsewhere it is refused") {
  const auto answer = [](const std::string& line) {
    return response("HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n");
  };
  EXPECT_EQ(answer("x: a\rb"), "200 OK 1.1 [x=a b] 27");
  EXPECT_EQ(answer("x: a\r\r"), "200 OK 1.1 [x=a] 27");
  EXPECT_EQ(answer("x:\r\r a \r\r\n b\r"), "200 OK 1.1 [x=a   b] 34");
  EXPECT_EQ(answer("x: \r"), "200 OK 1.1 [x=] 25");
  EXPECT_EQ(answer("x: a\r\x01"), kCharacters);
  EXPECT_EQ(answer("x\r: b"), kBadHeads);
  EXPECT_EQ(answer("\rx: b"), kBadHeads);
  EXPECT_EQ(response("HTTP/1.1 200 O\rK\r\n\r\n"), kBadHeads);
}

TEST("a status line that is none is refused") {
  for (const char* first :
       {"HTTP/1.1 099 OK", "HTTP/1.1 200OK", "HTTP/1.1 20 OK", "HTTP/1.1 abc", "HTTP/1.1 2000 OK",
        "ICY 200 OK", "HTTP/1.1", "HTTP/1.1 200 O\x01K", " HTTP/1.1 200 OK"}) {
    EXPECT_EQ(response(std::string(first) + "\r\n\r\n"), kBadHeads);
  }
}

TEST("trailers end with their empty line, and are only checked where nobody wants them") {
  static http::HeaderMap trailers;
  const auto scan = [](std::string_view text, http::HeaderMap* out) {
    const Bytes bytes(text);
    size_t used = 0;
    const ScanResult result = scanTrailers(bytes.data.get(), bytes.size, {}, out, &used);
    if (result.state != Scan::Complete) return shownResult(result);
    return (out ? shownHeaders(*out) : "") + " " + std::to_string(used);
  };
  EXPECT_EQ(scan("\r\nGET /", &trailers), " 2");
  EXPECT_EQ(scan("X-A: b\r\n\r\nGET /", &trailers), "[x-a=b] 10");
  EXPECT_EQ(scan("X-A: b\r\n", &trailers), "incomplete");
  EXPECT_EQ(scan("bad\r\n\r\n", nullptr), kBadHeads);
  EXPECT_EQ(scan("x: \x01\r\n\r\n", nullptr), kCharacters);
  for (const char* bad : {"x: a\n\r\n", "x: a\r\n\n", "\n", "x: a\rb\r\n\r\n", "x: a\r\r\n\r\n",
                          "content-length:\r\n 5\r\n\r\n"}) {
    EXPECT_EQ(scan(bad, nullptr), kBadHeads);
    EXPECT_EQ(scan(bad, &trailers), kBadHeads);
  }
  EXPECT_EQ(scan(times(101, "h: v\r\n") + "\r\n", &trailers), kTooMany);
  EXPECT_EQ(scan(times(101, "h: v\r\n") + "\r\n", nullptr), " 608");
  EXPECT_EQ(scan("x: " + std::string(62'000, 'a'), nullptr), kTooLarge);
}

TEST("a head that comes in two parts is judged as a whole one is, wherever it is cut") {
  for (const std::string& head :
       {kBrowserHead, std::string("\r\nPOST / HTTP/1.0 \r\na:\r\n b\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nx: a\rb\r\n\r\n"), std::string("GET / HTTX/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\ncontent-length: 1\r\n 2\r\n\r\n"),
        std::string("GET /\r\nx: a\x01\r\n\r\n"), std::string("FROB / HTTP/1.1\r\n\r\n")}) {
    const std::string whole = request(head);
    static http::RequestHead out;
    for (size_t cut = 0; cut < head.size(); ++cut) {
      const std::string part = request(std::string_view(head).substr(0, cut));
      EXPECT(part == "incomplete" || part == whole);
      // Scanned again, with the rest, in the bytes that the first scan has changed.
      const Bytes bytes(head);
      scanRequest(bytes.data.get(), cut, {}, &out);
      EXPECT_EQ(shown(scanRequest(bytes.data.get(), bytes.size, {}, &out), out), whole);
    }
  }
  for (size_t cut = 0; cut < kAnswerHead.size(); ++cut) {
    EXPECT_EQ(response(std::string_view(kAnswerHead).substr(0, cut)), "incomplete");
  }
}

TEST("scalar and wide scans agree on mutated heads") {
  std::mt19937 random(7);
  const auto pick = [&](size_t below) { return static_cast<size_t>(random() % below); };
  using namespace std::literals;
  constexpr std::string_view kInteresting =
      "\r\n\t :\0\x7f\x80\xff"
      "AZaz09@[`{/\""sv;
  for (int round = 0; round < 20'000; ++round) {
    const bool answer = round % 2 == 1;
    std::string head = answer ? kAnswerHead : kBrowserHead;
    for (size_t edits = pick(4); edits > 0; --edits) {
      const size_t at = pick(head.size());
      const char byte =
          pick(2) ? kInteresting[pick(kInteresting.size())] : static_cast<char>(pick(256));
      switch (pick(3)) {
        case 0:
          head[at] = byte;
          break;
        case 1:
          head.insert(at, pick(20), byte);
          break;
        default:
          head.erase(at, pick(20));
          break;
      }
      if (head.empty()) head = "G";
    }
    if (answer) {
      response(head);
    } else {
      request(head);
    }
  }
}

TEST("a request line without a version is all of a request") {
  std::string bytes = "GET /a \r\nhost: b\r\n\r\n";
  http::RequestHead head;
  const ScanResult result = scanRequest(bytes.data(), bytes.size(), HeadLimits(), &head);
  EXPECT(result.state == Scan::Complete);
  EXPECT_EQ(head.head_bytes, 9u);
  EXPECT_EQ(head.headers.size(), 0u);
}

TEST("only bytes that end an empty line, or the first one, may complete a head") {
  const std::string head = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
  const size_t line = head.find('\n') + 1;
  for (size_t size = 3; size < head.size(); ++size) {
    EXPECT_EQ(mayEndHead(head.data(), size, 3), size >= line);
    if (size >= line) EXPECT(!mayEndHead(head.data(), size, line));
    EXPECT(mayEndHead(head.data(), head.size(), size));
  }
  EXPECT(mayEndHead("a\n\n", 3, 2));
  EXPECT(mayEndHead("\r\n", 2, 0));
  EXPECT(!mayEndHead("", 0, 0));
  EXPECT_EQ(emptyLineBytes("\r\n\r\n\rG", 6), 4u);
}

}  // namespace fairlead::http1
