#include "http/http1/framing.h"

#include "base/text.h"

namespace fairlead::http1 {

namespace {

using http::HeaderId;

constexpr ScanError kCodecError{400, "http1.codec_error"};
constexpr ScanError kInvalidTransferEncoding{501, "http1.invalid_transfer_encoding"};
constexpr ScanError kBothLengths{400, "http1.content_length_and_chunked_not_allowed"};

FramingResult refused(ScanError error) { return {{}, false, error}; }

struct Declared {
  http::HeaderEntry* length = nullptr;
  const http::HeaderEntry* coding = nullptr;
  bool twice = false;
};

Declared declaredBy(http::HeaderMap& headers) {
  Declared found;
  for (http::HeaderEntry& entry : headers) {
    if (entry.id == HeaderId::ContentLength) {
      found.twice |= found.length != nullptr;
      found.length = &entry;
    } else if (entry.id == HeaderId::TransferEncoding) {
      // Two codings are never just "chunked".
      if (found.coding) return {found.length, &entry, true};
      found.coding = &entry;
    }
  }
  return found;
}

FramingResult framingOf(http::HeaderMap& headers, const FramingRules& rules, bool* declared) {
  const Declared found = declaredBy(headers);
  *declared = found.length || found.coding;
  FramingResult result;
  if (found.coding) {
    if ((found.twice && found.coding) || !equalsIgnoreCase(found.coding->value(), "chunked")) {
      return refused(kInvalidTransferEncoding);
    }
    if (found.length) {
      if (!rules.allow_chunked_length) return refused(kBothLengths);
      // Chunked wins; the length goes no further.
      found.length->id = HeaderId::Other;
      found.length->name_size = 0;
    }
    result.framing.kind = BodyFraming::Kind::Chunked;
    return result;
  }
  if (!found.length) return result;
  uint64_t bytes = 0;
  if (found.twice || !parseDecimal(found.length->value(), &bytes)) return refused(kCodecError);
  if (bytes > 0) {
    result.framing.kind = BodyFraming::Kind::Length;
    result.framing.length_bytes = bytes;
  }
  return result;
}

}  // namespace

FramingResult requestFraming(http::RequestHead& head, const FramingRules& rules) {
  bool declared;
  return framingOf(head.headers, rules, &declared);
}

FramingResult responseFraming(http::ResponseHead& head, AnsweredMethod method,
                              const FramingRules& rules) {
  const bool bodiless = method == AnsweredMethod::Head || head.status / 100 == 1 ||
                        head.status == 204 || head.status == 304 ||
                        (method == AnsweredMethod::Connect && head.status / 100 == 2);
  if (bodiless) return {};
  bool declared = false;
  FramingResult result = framingOf(head.headers, rules, &declared);
  if (result.ok && !declared) result.framing.kind = BodyFraming::Kind::UntilClose;
  return result;
}

}  // namespace fairlead::http1
