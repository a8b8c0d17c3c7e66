#include "http/http1/framing.h"

#include "base/text.h"

namespace fairlead::http1 {

namespace {

using http::HeaderId;

constexpr ScanError kInvalidTransferEncoding{501, "http1.invalid_transfer_encoding"};
constexpr ScanError kBothLengths{400, "http1.content_length_and_chunked_not_allowed"};
constexpr ScanError kCodedHttp10{400, "http1.transfer_encoding_in_http_1_0"};
constexpr ScanError kBodyOfConnect{400, "http1.body_disallowed"};

FramingResult refusedFraming(ScanError error) { return {{}, false, error}; }

// What a head says of its body. Two of the same are one too many, be they equal.
struct Declared {
  http::HeaderEntry* length = nullptr;
  const http::HeaderEntry* coding = nullptr;
  bool lengths_twice = false;
  bool codings_twice = false;
};

Declared declaredBy(http::HeaderMap& headers) {
  Declared found;
  for (http::HeaderEntry& entry : headers) {
    if (entry.id == HeaderId::ContentLength) {
      found.lengths_twice |= found.length != nullptr;
      found.length = &entry;
    } else if (entry.id == HeaderId::TransferEncoding) {
      found.codings_twice |= found.coding != nullptr;
      found.coding = &entry;
    }
  }
  return found;
}

// In the real server's order, which decides what a client hears of two faults.
FramingResult framingOf(const Declared& found, const FramingRules& rules) {
  FramingResult result;
  const auto badLength = [](ScanError::Fault fault) {
    return FramingResult{{}, false, codecError(fault), true};
  };
  if (found.lengths_twice) return badLength(ScanError::Fault::Lengths);
  const bool chunked =
      found.coding && !found.codings_twice && equalsIgnoreCase(found.coding->value(), "chunked");
  if (found.length && found.coding) {
    const bool length_is_dropped = rules.allow_chunked_length && (chunked || found.codings_twice);
    if (!length_is_dropped) return refusedFraming(kBothLengths);
  }
  if (found.coding && !chunked) return refusedFraming(kInvalidTransferEncoding);
  if (chunked) {
    // The length goes no further.
    if (found.length) found.length->remove();
    result.framing.kind = BodyFraming::Kind::Chunked;
    return result;
  }
  uint64_t bytes = 0;
  if (found.length && !parseDecimal(found.length->value(), &bytes)) {
    return badLength(ScanError::Fault::Length);
  }
  if (bytes > 0) {
    result.framing.kind = BodyFraming::Kind::Length;
    result.framing.length_bytes = bytes;
  }
  return result;
}

}  // namespace

FramingResult requestFraming(http::RequestHead& head, const FramingRules& rules) {
  const Declared found = declaredBy(head.headers);
  // What follows a CONNECT is the tunnel's (RFC 9110 §9.3.6).
  if (head.method == "CONNECT") {
    if (found.coding) return refusedFraming(kInvalidTransferEncoding);
    if (found.length && found.length->value() != "0") return refusedFraming(kBodyOfConnect);
    if (found.length) found.length->remove();
  }
  const FramingResult framing = framingOf(found, rules);
  // Who passed it on without knowing the coding framed it otherwise (RFC 9112 §6.1).
  const bool is_coded_http10 = found.coding && head.version == http::Version::Http10;
  return framing.ok && is_coded_http10 && rules.accepts_http_10 ? refusedFraming(kCodedHttp10)
                                                                : framing;
}

FramingResult responseFraming(http::ResponseHead& head, AnsweredMethod method,
                              const FramingRules& rules) {
  const Declared found = declaredBy(head.headers);
  FramingResult result = framingOf(found, rules);
  if (!result.ok) return result;
  const bool never_has_body = head.status < 200 || head.status == 204;
  if (never_has_body) {
    // A body that is announced where none may be (RFC 9112 §6.3) would be taken for the next
    // answer.
    if (result.framing.kind != BodyFraming::Kind::None) return refusedFraming(kCodecError);
    if (found.length) found.length->remove();
    return result;
  }
  const bool bodiless = method == AnsweredMethod::Head || head.status == 304 ||
                        (method == AnsweredMethod::Connect && head.status / 100 == 2);
  if (bodiless) return {};
  if (!found.length && !found.coding) result.framing.kind = BodyFraming::Kind::UntilClose;
  return result;
}

}  // namespace fairlead::http1
