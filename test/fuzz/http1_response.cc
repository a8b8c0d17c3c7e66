// Any bytes given to the response scanner, and to that of trailers: an answer, the same from both
// of their twins, and the same when the bytes come in two parts. What is taken for an answer ends
// where another reader sees its end, and has the framing that a strict one sees.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "test/fuzz/reference_head.h"

using fairlead::http::HeaderEntry;
using fairlead::http::HeaderMap;
using fairlead::http::ResponseHead;
using namespace fairlead::http1;

namespace {

constexpr HeadLimits kLimits = {.max_head_bytes = 2048, .max_headers = 16};

std::unique_ptr<char[]> copyOf(const uint8_t* bytes, size_t size) {
  auto data = std::make_unique_for_overwrite<char[]>(size);
  if (size > 0) std::memcpy(data.get(), bytes, size);
  return data;
}

bool same(const ScanResult& a, const ScanResult& b) {
  return a.state == b.state && a.error.status == b.error.status &&
         a.error.details == b.error.details;
}

bool same(const HeaderMap& a, const HeaderMap& b) {
  if (a.size() != b.size()) return false;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a[i].id != b[i].id || a[i].name() != b[i].name() || a[i].value() != b[i].value())
      return false;
  }
  return true;
}

bool same(const ResponseHead& a, const ResponseHead& b) {
  return a.status == b.status && a.reason == b.reason && a.version == b.version &&
         a.head_bytes == b.head_bytes && same(a.headers, b.headers);
}

void checkTrailers(const uint8_t* data, size_t size) {
  static HeaderMap wide, narrow;
  const auto bytes = copyOf(data, size);
  const auto twin = copyOf(data, size);
  const auto checked = copyOf(data, size);
  size_t used = 0, used_twin = 0, used_checked = 0;
  const ScanResult result = scanTrailers(bytes.get(), size, kLimits, &wide, &used);
  FL_CHECK(same(scalar::scanTrailers(twin.get(), size, kLimits, &narrow, &used_twin), result));
  const ScanResult only = scanTrailers(checked.get(), size, kLimits, nullptr, &used_checked);
  if (result.state != Scan::Complete) return;
  FL_CHECK(same(wide, narrow) && used == used_twin && used <= size);
  FL_CHECK(only.state == Scan::Complete && used == used_checked);
}

std::string shown(const FramingResult& result) {
  if (!result.ok) return "refused";
  switch (result.framing.kind) {
    case BodyFraming::Kind::Length:
      return "length " + std::to_string(result.framing.length_bytes);
    case BodyFraming::Kind::Chunked:
      return "chunked";
    case BodyFraming::Kind::UntilClose:
      return "until close";
    case BodyFraming::Kind::None:
      break;
  }
  return "none";
}

// `head` was found in `raw`, whole, and answers a GET.
void checkAgainstReference(ResponseHead& head, std::string_view raw) {
  using namespace fairlead::fuzz;
  const auto reference = readReferenceHead(raw, LineEnds::LfToo);
  FL_CHECK(reference && reference->bytes == head.head_bytes);
  std::string expected = referenceFraming(*reference, false);
  if (expected != "refused") {
    if (head.status < 200 || head.status == 204) {
      if (expected != "none") expected = "refused";
    } else if (head.status == 304) {
      expected = "none";
    } else if (expected == "none" && reference->all("content-length").empty()) {
      expected = "until close";
    }
  }
  FL_CHECK(shown(responseFraming(head, AnsweredMethod::Other, {})) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ResponseHead whole, other;
  checkTrailers(data, size);
  const auto bytes = copyOf(data, size);
  const ScanResult result = scanResponse(bytes.get(), size, kLimits, &whole);
  const bool complete = result.state == Scan::Complete;

  const auto twin = copyOf(data, size);
  FL_CHECK(same(scalar::scanResponse(twin.get(), size, kLimits, &other), result));
  FL_CHECK(!complete || same(whole, other));

  const size_t cut = size == 0 ? 0 : (data[size - 1] + size * 7) % size;
  const auto parts = copyOf(data, size);
  const ScanResult part = scanResponse(parts.get(), cut, kLimits, &other);
  if (part.state == Scan::Incomplete) {
    if (complete && whole.head_bytes > cut) FL_CHECK(mayEndHead(parts.get(), size, cut));
    FL_CHECK(same(scanResponse(parts.get(), size, kLimits, &other), result));
    FL_CHECK(!complete || same(whole, other));
  } else if (part.error.details != "http1.headers_too_large") {
    FL_CHECK(same(part, result));
  }
  if (!complete) return 0;
  FL_CHECK(whole.status >= 100 && whole.status <= 999);
  for (const auto method : {AnsweredMethod::Other, AnsweredMethod::Head, AnsweredMethod::Connect}) {
    const FramingResult framing = responseFraming(whole, method, {});
    FL_CHECK(framing.framing.kind != BodyFraming::Kind::Length || framing.framing.length_bytes > 0);
  }
  scanResponse(bytes.get(), size, kLimits, &whole);
  checkAgainstReference(whole, {reinterpret_cast<const char*>(data), size});
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n\r\n",
          "HTTP/1.1 404\nServer: x\nX-Folded: a\n b\n\n",
          "HTTP/1.0 204 No \xe9 Content\r\n\r\n",
          "HTTP/1.1\t304  Not Modified \r\ntransfer-encoding: chunked\r\nEmpty:\r\n\r\n",
          "HTTP/1.1 200 OK\r\ncontent-length: 1\r2\r\nx: a\rb\r\r\n\r\n",
          "HTTP/1.0 200 OK\ntransfer-encoding:\n chunked\ncontent-length: 2\n\nab",
          "X-Trailer: value\r\ngrpc-status: 0\r\n\r\n"};
}
