#include "filters/transcoder/status_printer.h"

#include "base/base64.h"
#include "filters/transcoder/message_printer.h"
#include "filters/transcoder/wire.h"
#include "format/grpc_status.h"
#include "http/query.h"

namespace fairlead::transcoder {

namespace {

// With padding or without.
bool decodeDetails(std::string_view text, std::string* out) {
  std::string padded(text);
  while (padded.size() % 4 != 0) padded.push_back('=');
  return decodeBase64(padded, out);
}

}  // namespace

bool printStatus(const Service& service, const http::HeaderMap& trailers, int64_t code,
                 std::string* json) {
  const MessageType* const type = service.status();
  if (!type) return false;
  std::string message;
  const http::HeaderEntry* const details = trailers.find(format::kGrpcStatusDetails);
  if (!details || !decodeDetails(details->value(), &message)) {
    message.clear();
    appendTag(&message, 1, WireType::Varint);
    appendVarint(&message, static_cast<uint64_t>(code));
    const http::HeaderEntry* const text = trailers.find(http::HeaderId::GrpcMessage);
    if (text && !text->value().empty()) {
      appendDelimited(&message, 2, http::percentDecoded(text->value()));
    }
  }
  MessagePrinter printer(service.types(), service.printOptions());
  return printer.print(*type, message, json);
}

}  // namespace fairlead::transcoder
