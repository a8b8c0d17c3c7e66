// Any bytes given to the request scanner: an answer, the same from both of its twins, and the same
// when the bytes come in two parts; its views stay inside of the bytes. What is taken for a request
// ends where another, strict reader sees its end, has the framing that such a one sees, and one
// host.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "http/joined_headers.h"
#include "http/target.h"
#include "test/fuzz/reference_head.h"

using fairlead::http::HeaderEntry;
using fairlead::http::HeaderMap;
using fairlead::http::RequestHead;
using namespace fairlead::http1;

namespace {

constexpr HeadLimits kLimits = {.max_head_bytes = 2048, .max_headers = 16};

struct Copy {
  Copy(const uint8_t* bytes, size_t size) : data(std::make_unique_for_overwrite<char[]>(size)) {
    if (size > 0) std::memcpy(data.get(), bytes, size);
  }
  std::unique_ptr<char[]> data;
};

bool same(const ScanResult& a, const ScanResult& b) {
  return a.state == b.state && a.error.status == b.error.status &&
         a.error.details == b.error.details;
}

bool same(const RequestHead& a, const RequestHead& b) {
  if (a.method != b.method || a.target != b.target || a.version != b.version ||
      a.head_bytes != b.head_bytes || a.headers.size() != b.headers.size()) {
    return false;
  }
  for (uint32_t i = 0; i < a.headers.size(); ++i) {
    const HeaderEntry& x = a.headers[i];
    const HeaderEntry& y = b.headers[i];
    if (x.id != y.id || x.name() != y.name() || x.value() != y.value()) return false;
  }
  return true;
}

void checkViews(const RequestHead& head, const char* data, size_t size) {
  const auto inside = [&](std::string_view view) {
    return view.data() >= data && view.data() + view.size() <= data + size;
  };
  FL_CHECK(head.head_bytes <= size && inside(head.method) && inside(head.target));
  for (const HeaderEntry& entry : head.headers) {
    // Another line of its name took it in.
    if (entry.name().empty()) continue;
    FL_CHECK(inside(entry.name()));
    FL_CHECK(inside(entry.value()) || fairlead::http::isJoinedInRequests(entry.id));
    for (const char c : entry.name())
      FL_CHECK(c > 0x20 && c < 0x7f && !(c >= 'A' && c <= 'Z') && c != ':');
    for (const char c : entry.value()) FL_CHECK(c != '\r' && c != '\n' && c != '\0');
  }
}

std::string shown(const BodyFraming& framing) {
  switch (framing.kind) {
    case BodyFraming::Kind::Length:
      return "length " + std::to_string(framing.length_bytes);
    case BodyFraming::Kind::Chunked:
      return "chunked";
    case BodyFraming::Kind::None:
    case BodyFraming::Kind::UntilClose:
      break;
  }
  return "none";
}

// Where a request line without a version ends, which is all of its request; 0: there is none.
size_t bareLineBytes(std::string_view raw) {
  size_t begin = 0;
  while (raw.substr(begin).starts_with("\r\n")) begin += 2;
  const size_t end = raw.find("\r\n", begin);
  if (end == std::string_view::npos) return 0;
  const std::string_view line = fairlead::fuzz::withoutBlanks(raw.substr(begin, end - begin));
  const size_t target = line.find_first_not_of(" \t", line.find_first_of(" \t"));
  const bool has_more = line.find_first_of(" \t", target) != std::string_view::npos;
  return has_more ? 0 : end + 2;
}

// `head` was found in `raw`, whole.
void checkAgainstReference(RequestHead& head, std::string_view raw) {
  using namespace fairlead::fuzz;
  if (const size_t bare_bytes = bareLineBytes(raw)) {
    FL_CHECK(head.head_bytes == bare_bytes && head.headers.size() == 0);
    return;
  }
  const auto reference = readReferenceHead(raw, LineEnds::CrLf);
  FL_CHECK(reference && reference->bytes == head.head_bytes);
  fairlead::http::Target target;
  const auto details = fairlead::http::parseTarget(head.method, head.target, &target);
  FL_CHECK(!details.empty() || fairlead::http::isValidAuthority(target.authority));

  const FramingRules rules = {.allow_chunked_length = (raw.size() & 1) != 0};
  std::string expected = referenceFraming(*reference, rules.allow_chunked_length);
  const std::string_view line = withoutBlanks(reference->first_line);
  const bool is_1_1 = line.ends_with(" HTTP/1.1") || line.ends_with("\tHTTP/1.1");
  if (!is_1_1 && !reference->all("transfer-encoding").empty()) expected = "refused";
  // What follows a CONNECT is the tunnel's, and may not be said to be its body.
  const std::vector<std::string> lengths = reference->all("content-length");
  const bool says_zero = lengths.size() == 1 && lengths[0] == "0";
  if (head.method == "CONNECT" && !lengths.empty() && !says_zero) expected = "refused";
  if (head.method == "CONNECT" && expected != "none") expected = "refused";
  const FramingResult framing = requestFraming(head, rules);
  FL_CHECK(framing.ok ? shown(framing.framing) == expected : expected == "refused");

  const std::vector<std::string> hosts = reference->all("host");
  if (!details.empty() || !takeAuthority(target, head).empty()) return;
  FL_CHECK(hosts.size() <= 1 || target.form == fairlead::http::Target::Form::Absolute);
  FL_CHECK(head.authority.find('@') == std::string_view::npos);
  const bool is_in_target = !target.authority.empty();
  FL_CHECK(is_in_target || head.authority == (hosts.empty() ? "" : hosts[0]));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static RequestHead whole, other;
  const Copy bytes(data, size);
  const ScanResult result = scanRequest(bytes.data.get(), size, kLimits, &whole);
  const bool complete = result.state == Scan::Complete;
  if (complete) checkViews(whole, bytes.data.get(), size);

  const Copy twin(data, size);
  FL_CHECK(same(scalar::scanRequest(twin.data.get(), size, kLimits, &other), result));
  FL_CHECK(!complete || same(whole, other));

  const size_t cut = size == 0 ? 0 : (data[0] + size * 7) % size;
  const Copy parts(data, size);
  const ScanResult part = scanRequest(parts.data.get(), cut, kLimits, &other);
  if (part.state == Scan::Incomplete) {
    if (complete && whole.head_bytes > cut) {
      FL_CHECK(mayEndHead(parts.data.get(), size, cut));
    }
    FL_CHECK(same(scanRequest(parts.data.get(), size, kLimits, &other), result));
    FL_CHECK(!complete || same(whole, other));
  } else if (part.error.details != "http1.headers_too_large") {
    FL_CHECK(same(part, result));
  }
  if (!complete) return 0;
  scanRequest(bytes.data.get(), size, kLimits, &whole);
  checkAgainstReference(whole, {reinterpret_cast<const char*>(data), size});
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {
      "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
      "GET /a/b?c HTTP/1.1\r\nHost: www.example.test:8443\r\nUser-Agent: Mozilla/5.0 (X11; "
      "Linux)\r\n"
      "Accept-Encoding: gzip\r\nConnection: keep-alive\r\nX-Folded: one\r\n two\r\n\tthree\r\n\r\n",
      "POST http://u@x.test:80/a HTTP/1.0 \r\nContent-Length: 5\r\nTransfer-Encoding: "
      "chunked\r\n\r\n",
      "\r\n\r\nCONNECT [::1]:443\tHTTP/2.0\r\nempty:\r\nX-HIGH: \xe9\xff\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\nhost: b\r\ncontent-length: 1\r2\r\n\r\n",
      "PUT / HTTP/1.1\r\nhost: u@a\r\ntransfer-encoding:\r\n chunked\r\n\r\n",
      "PUT / HTTP/1.1\r\nhost: a\ncontent-length: 3\r\n\r\nabc",
      "POST / HTTP/1.0\r\nhost:\r\ntransfer-encoding: chunked\r\n\r\n",
      "OPTIONS *\r\na: b\r\n" + std::string(1500, 'x') + ": y\r\n\r\n"};
}
