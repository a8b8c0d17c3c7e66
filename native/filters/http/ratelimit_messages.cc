#include "filters/http/ratelimit_messages.h"

#include "base/proto_reader.h"
#include "base/proto_writer.h"
#include "base/text.h"

namespace fairlead::filters {

namespace {

constexpr uint64_t kDayS = 86'400;
// By RateLimitResponse.RateLimit.Unit.
constexpr uint64_t kWindows[] = {0, 1, 60, 3600, kDayS, 30 * kDayS, 365 * kDayS, 7 * kDayS};

constexpr uint64_t kOverLimit = 2;

std::pair<std::string, std::string> readHeader(std::string_view message) {
  std::pair<std::string, std::string> header;
  std::string_view raw;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) header.first = reader.bytes();
    if (reader.field() == 2) header.second = reader.bytes();
    if (reader.field() == 3) raw = reader.bytes();
  }
  if (header.second.empty()) header.second = raw;
  for (char& c : header.first) c = lowerAscii(c);
  return header;
}

void readLimit(std::string_view message, RatelimitAnswer::State* out) {
  out->has_limit = true;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) out->requests_per_unit = reader.number();
    if (reader.field() == 2 && reader.number() < std::size(kWindows)) {
      out->window_s = kWindows[reader.number()];
    }
    if (reader.field() == 3) out->name = reader.bytes();
  }
}

RatelimitAnswer::State readState(std::string_view message) {
  RatelimitAnswer::State state;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) readLimit(reader.bytes(), &state);
    if (reader.field() == 3) state.remaining = reader.number();
    if (reader.field() != 4) continue;
    ProtoReader duration(reader.bytes());
    while (duration.next()) {
      if (duration.field() == 1) state.reset_s = duration.number();
    }
  }
  return state;
}

}  // namespace

std::string ratelimitRequest(std::string_view domain, const std::vector<Descriptor>& descriptors,
                             uint32_t hits) {
  ProtoWriter request;
  request.bytes(1, domain);
  for (const Descriptor& descriptor : descriptors) {
    ProtoWriter written;
    forEachEntry(descriptor.entries, [&written](std::string_view key, std::string_view value) {
      ProtoWriter entry;
      entry.bytes(1, key);
      if (!value.empty()) entry.bytes(2, value);
      written.bytes(1, entry.view());
    });
    if (descriptor.limit) {
      ProtoWriter limit;
      if (descriptor.limit->requests_per_unit > 0) {
        limit.number(1, descriptor.limit->requests_per_unit);
      }
      if (descriptor.limit->unit > 0) limit.number(2, descriptor.limit->unit);
      written.bytes(2, limit.view());
    }
    if (descriptor.hits) {
      ProtoWriter own_hits;
      if (*descriptor.hits > 0) own_hits.number(1, *descriptor.hits);
      written.bytes(3, own_hits.view());
    }
    if (descriptor.is_negative) written.number(4, 1);
    request.bytes(2, written.view());
  }
  if (hits > 0) request.number(3, hits);
  return request.take();
}

bool RatelimitAnswer::read(std::string_view message, RatelimitAnswer* out) {
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        out->is_over_limit = reader.number() == kOverLimit;
        break;
      case 2:
        out->states.push_back(readState(reader.bytes()));
        break;
      case 3:
        out->response_headers.push_back(readHeader(reader.bytes()));
        break;
      case 4:
        out->request_headers.push_back(readHeader(reader.bytes()));
        break;
      case 5:
        out->body = reader.bytes();
        break;
      case 6:
        out->metadata = reader.bytes();
        break;
      default:
        break;
    }
  }
  return reader.isWhole();
}

}  // namespace fairlead::filters
