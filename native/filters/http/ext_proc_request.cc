#include "filters/http/ext_proc_request.h"

#include <charconv>
#include <ctime>

#include "format/grpc_status.h"

namespace fairlead::filters {

namespace {

using AttributeKind = plan::ProcessingAttribute::Kind;

constexpr std::string_view kAttributesOf = "envoy.filters.http.ext_proc";
// google.protobuf.Value
constexpr uint32_t kNumberValue = 2;
constexpr uint32_t kTextValue = 3;
constexpr uint32_t kFlagValue = 4;

// "2026-01-31T12:34:56.789+00:00", without zeros at the end of a fraction.
std::string asTime(uint64_t us) {
  const auto seconds = static_cast<time_t>(us / 1'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string made(text, size);
  if (us % 1'000'000 > 0) {
    std::string fraction = std::to_string(us % 1'000'000);
    fraction.insert(0, 6 - fraction.size(), '0');
    fraction.erase(fraction.find_last_not_of('0') + 1);
    made.append(".").append(fraction);
  }
  return made.append("+00:00");
}

uint64_t headBytes(const http::HeaderMap* headers) {
  uint64_t bytes = 0;
  if (!headers) return bytes;
  for (const http::HeaderEntry& entry : *headers) {
    if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
  }
  return bytes;
}

// As the head says, or as far as it has come.
double requestBytes(const format::FormatContext& context) {
  const http::HeaderEntry* const length =
      context.request_headers ? context.request_headers->find(http::HeaderId::ContentLength)
                              : nullptr;
  uint64_t bytes = 0;
  if (length) {
    const std::string_view text = length->value();
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error == std::errc() && at == text.data() + text.size()) return static_cast<double>(bytes);
  }
  return static_cast<double>(context.bytes_received);
}

double requestHeadBytes(const format::FormatContext& context) {
  constexpr uint64_t kNames = 5 + 7 + 7 + 10;
  return static_cast<double>(headBytes(context.request_headers) + kNames + context.path.size() +
                             context.method.size() + context.scheme.size() +
                             context.authority.size());
}

double responseHeadBytes(const format::FormatContext& context) {
  constexpr uint64_t kStatus = 7 + 3;
  const uint64_t head =
      context.response_headers ? kStatus + headBytes(context.response_headers) : 0;
  return static_cast<double>(head + headBytes(context.response_trailers));
}

double grpcStatus(const format::FormatContext& context) {
  for (const http::HeaderMap* headers : {context.response_trailers, context.response_headers}) {
    const http::HeaderEntry* const status =
        headers ? headers->find(http::HeaderId::GrpcStatus) : nullptr;
    if (status) return static_cast<double>(format::parseGrpcStatus(status->value()));
  }
  return static_cast<double>(format::grpcStatusOfHttp(context.status));
}

// A bit for each, in the order of their names.
double asNumber(const format::ResponseFlags& flags) {
  uint64_t bits = 0;
  for (size_t i = 0; i < static_cast<size_t>(format::ResponseFlag::kCount); ++i) {
    if (flags.has(static_cast<format::ResponseFlag>(i))) bits |= uint64_t{1} << i;
  }
  return static_cast<double>(bits);
}

// False: it has no value.
bool writeAttribute(const ProcessingAttribute& attribute, const format::FormatContext& context,
                    Arena& arena, ProtoWriter* out) {
  switch (attribute.plan.kind) {
    case AttributeKind::Text: {
      const std::string_view text = attribute.value.formatTo(context, arena);
      if (text.empty() && attribute.plan.value && attribute.plan.value->omit_empty) return false;
      out->bytes(kTextValue, text);
      return true;
    }
    case AttributeKind::Number: {
      if (attribute.plan.name == "response.code" && context.status == 0) return false;
      const std::string_view text = attribute.value.formatTo(context, arena);
      double number = 0;
      const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (text.empty() || error != std::errc()) return false;
      out->real(kNumberValue, number);
      return true;
    }
    case AttributeKind::IsMutualTls:
      out->number(kFlagValue,
                  context.downstream_tls && context.downstream_tls->isPeerPresented() ? 1 : 0);
      return true;
    case AttributeKind::Query: {
      const size_t at = context.path.find('?');
      const std::string_view query =
          at == std::string_view::npos ? std::string_view() : context.path.substr(at + 1);
      out->bytes(kTextValue, query.substr(0, query.find('#')));
      return true;
    }
    case AttributeKind::RequestTime:
      out->bytes(kTextValue, asTime(context.start_time_us));
      return true;
    case AttributeKind::RequestSize:
      out->real(kNumberValue, requestBytes(context));
      return true;
    case AttributeKind::RequestTotalSize:
      out->real(kNumberValue,
                static_cast<double>(context.bytes_received) + requestHeadBytes(context));
      return true;
    case AttributeKind::ResponseSize:
      out->real(kNumberValue, static_cast<double>(context.bytes_sent));
      return true;
    case AttributeKind::ResponseTotalSize:
      out->real(kNumberValue, static_cast<double>(context.bytes_sent) + responseHeadBytes(context));
      return true;
    case AttributeKind::ResponseFlags:
      out->real(kNumberValue, asNumber(context.flags));
      return true;
    case AttributeKind::ResponseGrpcStatus:
      out->real(kNumberValue, grpcStatus(context));
      return true;
  }
  return false;
}

}  // namespace

void ToldHeaders::add(std::string_view name, std::string_view value) {
  if (!settings_.isTold(name)) return;
  ProtoWriter header;
  header.bytes(1, name);
  if (!value.empty()) header.bytes(3, value);
  map_.bytes(1, header.view());
}

void ToldHeaders::addAll(const http::HeaderMap& headers) {
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size > 0) add(entry.name(), entry.value());
  }
}

std::string toldHead(const ToldHeaders& headers, bool end) {
  ProtoWriter head;
  head.bytes(1, headers.view());
  if (end) head.number(3, 1);
  return head.take();
}

std::string toldBody(std::string_view body, bool end) {
  ProtoWriter told;
  if (!body.empty()) told.bytes(1, body);
  if (end) told.number(2, 1);
  return told.take();
}

std::string toldTrailers(const ToldHeaders& headers) {
  ProtoWriter trailers;
  trailers.bytes(1, headers.view());
  return trailers.take();
}

std::string toldAttributes(const std::vector<ProcessingAttribute>& attributes,
                           const format::FormatContext& context, Arena& arena) {
  ProtoWriter all;
  for (const ProcessingAttribute& attribute : attributes) {
    ProtoWriter value;
    if (!writeAttribute(attribute, context, arena, &value)) continue;
    ProtoWriter member;
    member.bytes(1, attribute.plan.name);
    member.bytes(2, value.view());
    all.bytes(1, member.view());
  }
  return all.take();
}

std::string processingRequest(ProcessedPart part, std::string_view message,
                              const ToldBeside& beside) {
  ProtoWriter request;
  request.bytes(static_cast<uint32_t>(part), message);
  request.bytes(8, beside.metadata);
  if (beside.attributes.data()) {
    ProtoWriter entry;
    entry.bytes(1, kAttributesOf);
    entry.bytes(2, beside.attributes);
    request.bytes(9, entry.view());
  }
  if (beside.is_observed) request.number(10, 1);
  if (beside.mode) {
    ProtoWriter protocol;
    const auto body = [&](uint32_t field, plan::ProcessingMode::Body mode) {
      if (mode != plan::ProcessingMode::Body::None) {
        protocol.number(field, static_cast<uint64_t>(mode));
      }
    };
    body(1, beside.mode->request_body);
    body(2, beside.mode->response_body);
    if (beside.sends_body_at_once) protocol.number(3, 1);
    request.bytes(11, protocol.view());
  }
  return request.take();
}

}  // namespace fairlead::filters
