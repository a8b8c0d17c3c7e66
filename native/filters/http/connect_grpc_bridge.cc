#include "filters/http/connect_grpc_bridge.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/http/connect_error.h"
#include "format/grpc_status.h"
#include "format/url_text.h"
#include "http/grpc_frames.h"
#include "http/query.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

constexpr std::string_view kGrpc = "application/grpc";
constexpr std::string_view kUnaryPrefix = "application/";
constexpr std::string_view kStream = "application/connect";
// A frame's flags: its message is compressed; it ends a stream of Connect.
constexpr uint8_t kCompressed = 1;
constexpr uint8_t kEndOfStream = 2;
// Of gRPC's timeouts, in whatever unit.
constexpr uint64_t kMaxTimeout = 99'999'999;

enum class Call : uint8_t { Other, Unary, Stream };

// The value of a parameter, as it is written.
std::optional<std::string_view> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const size_t size = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, size);
    query.remove_prefix(std::min(size + 1, query.size()));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

// The coarsest unit is the first that it fits in.
std::optional<std::string> grpcTimeout(std::string_view text) {
  uint64_t time = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, time);
  if (text.empty() || at != end || error != std::errc()) return std::nullopt;
  static constexpr std::pair<char, uint64_t> kUnits[] = {
      {'m', 1}, {'S', 1000}, {'M', 60}, {'H', 60}};
  for (const auto& [unit, part] : kUnits) {
    time /= part;
    if (time <= kMaxTimeout) return std::to_string(time) + unit;
  }
  return std::nullopt;
}

// What follows a plus sign; protobuf where nothing does.
std::string_view formatOf(const HeaderMap& headers) {
  const HeaderEntry* const type = headers.find(HeaderId::ContentType);
  const std::string_view text = type ? type->value() : std::string_view();
  return text.starts_with(kGrpc) && text.substr(kGrpc.size()).starts_with('+')
             ? text.substr(kGrpc.size() + 1)
             : "proto";
}

// One request.
class ConnectGrpcBridge final : public HttpFilter {
 public:
  ConnectGrpcBridge(FilterMemory& memory, const FilterScope& scope, FilterPlace& place)
      : memory_(memory), notes_(scope.notes), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override {
    is_http_1_ = head.version <= http::Version::Http11;
    HeaderMap& headers = head.headers;
    const HeaderEntry* const type = headers.find(HeaderId::ContentType);
    const std::string_view text = type ? type->value() : std::string_view();
    if (head.method == "GET" && parameter(view.query(), "connect") == "v1") {
      beginGet(head, view);
      return end ? giveMessage() : FilterStatus::Continue;
    }
    if (text.starts_with(kStream) && text.substr(kStream.size()).starts_with('+')) {
      call_ = Call::Stream;
      setType(headers, text.substr(kStream.size() + 1));
      rename(headers, "connect-content-encoding", "grpc-encoding");
      rename(headers, "connect-accept-encoding", "grpc-accept-encoding");
    } else if (headers.find(std::string_view("connect-protocol-version")) &&
               text.starts_with(kUnaryPrefix) && !text.starts_with(kStream)) {
      call_ = Call::Unary;
      setType(headers, text.substr(kUnaryPrefix.size()));
      const HeaderEntry* const encoding = headers.find(HeaderId::ContentEncoding);
      if (encoding && encoding->value() != "identity") flags_ = kCompressed;
      rename(headers, "content-encoding", "grpc-encoding");
      rename(headers, "accept-encoding", "grpc-accept-encoding");
    } else {
      return FilterStatus::Continue;
    }
    prepare(headers);
    headers.remove(HeaderId::ContentLength);
    return FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (call_ != Call::Unary) return FilterStatus::Continue;
    if (isTooMuch(request_, data)) {
      return refuse(413,
                    "Request rejected because the filter's internal buffer size exceeds the "
                    "configured limit.",
                    "connect_bridge_unary_request_too_large");
    }
    request_.append(data);
    return end ? giveMessage() : FilterStatus::Take;
  }

  FilterStatus onRequestTrailers(HeaderMap&) override {
    return call_ == Call::Unary ? giveMessage() : FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end, Arena&) override {
    const HeaderEntry* const type = headers.find(HeaderId::ContentType);
    const bool is_grpc = end ? headers.find(HeaderId::GrpcStatus) != nullptr
                             : status == 200 && type && format::isGrpcContentType(type->value());
    if (call_ == Call::Other || !is_grpc) {
      call_ = Call::Other;
      return FilterStatus::Continue;
    }
    is_only_ = end;
    gives_answer_ = true;
    if (call_ == Call::Stream) {
      if (end) endStream(headers, false);
      setStreamHead(headers);
      return end ? FilterStatus::Replace : FilterStatus::Continue;
    }
    if (end) endUnary(headers);
    type_ = memory_.keep(formatOf(headers));
    return end ? FilterStatus::Replace : FilterStatus::Pause;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (call_ != Call::Unary) return FilterStatus::Continue;
    gives_answer_ = true;
    if (isTooMuch(answer_, data)) {
      return refuse(500,
                    "Response discarded because the filter's internal buffer size exceeds the "
                    "configured limit.",
                    "connect_bridge_unary_response_too_large");
    }
    const size_t header = std::min(data.size(), frame_header_left_);
    frame_header_left_ -= header;
    answer_.append(data.substr(header));
    return end ? FilterStatus::Replace : FilterStatus::Take;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (call_ == Call::Other) return FilterStatus::Continue;
    gives_answer_ = true;
    if (call_ == Call::Stream) {
      endStream(trailers, true);
    } else {
      endUnary(trailers);
    }
    return FilterStatus::Replace;
  }

  void onResponseHeadReleased(uint16_t& status, HeaderMap& headers, Arena& arena) override {
    if (call_ == Call::Stream) {
      dropGrpc(headers);
      return;
    }
    if (call_ != Call::Unary) return;
    headers.remove(HeaderId::ContentLength);
    headers.remove(HeaderId::Trailer);
    rename(headers, "grpc-encoding", "content-encoding");
    headers.set(HeaderId::ContentType,
                failed_ ? "application/json" : arena.join(kUnaryPrefix, type_));
    if (failed_) status = status_;
    dropGrpc(headers);
    for (const auto& [name, value] : trailers_) headers.add(HeaderId::Other, name, value);
  }

  std::string_view replacement() const override { return gives_answer_ ? answer_ : request_; }
  LocalReply answer() const override {
    LocalReply reply{refusal_, text_, details_};
    reply.close = reply.is_before_end = is_http_1_ && !gives_answer_;
    return reply;
  }

 private:
  bool isTooMuch(const std::string& kept, std::string_view data) const {
    const uint32_t limit = place_.bufferLimit();
    return limit != 0 && kept.size() + data.size() > limit;
  }
  FilterStatus refuse(uint16_t status, std::string_view text, std::string_view details) {
    call_ = Call::Other;
    refusal_ = status;
    text_ = text;
    details_ = details;
    return FilterStatus::Answer;
  }

  // ---- the request ----

  void setType(HeaderMap& headers, std::string_view format) {
    std::string type(kGrpc);
    type.append("+").append(format);
    headers.set(HeaderId::ContentType, memory_.keep(type));
  }

  void prepare(HeaderMap& headers) {
    notes_.sees_response_body = true;
    const HeaderEntry* last = nullptr;
    for (const HeaderEntry& entry : headers) {
      if (entry.name() == "connect-timeout-ms") last = &entry;
    }
    const std::optional<std::string> timeout = last ? grpcTimeout(last->value()) : std::nullopt;
    if (timeout) {
      headers.remove(std::string_view("connect-timeout-ms"));
      headers.set(HeaderId::GrpcTimeout, memory_.keep(*timeout));
    }
    headers.remove(std::string_view("connect-protocol-version"));
    headers.set(HeaderId::Te, "trailers");
  }

  // All of the call is in its query.
  void beginGet(http::RequestHead& head, const route::RequestView& view) {
    call_ = Call::Unary;
    const std::string_view query = view.query();
    const std::string_view compression = parameter(query, "compression").value_or("identity");
    if (compression != "identity") flags_ = kCompressed;
    const std::string message = http::percentDecoded(parameter(query, "message").value_or(""));
    request_ = message;
    if (parameter(query, "base64") == "1") {
      request_.clear();
      if (!format::decodeUrlBase64(message, &request_)) request_.clear();
    }
    const std::string_view path = view.pathOnly();
    setType(head.headers, parameter(query, "encoding").value_or(""));
    head.headers.remove(std::string_view("grpc-encoding"));
    head.headers.add(HeaderId::Other, "grpc-encoding", memory_.keep(compression));
    rename(head.headers, "accept-encoding", "grpc-accept-encoding");
    prepare(head.headers);
    head.headers.remove(HeaderId::ContentLength);
    head.method = "POST";
    head.path = memory_.keep(path);
  }

  FilterStatus giveMessage() {
    gives_answer_ = false;
    std::string frame;
    http::appendGrpcFrameHeader(&frame, flags_, request_.size());
    request_.insert(0, frame);
    return FilterStatus::Replace;
  }

  // ---- the answer ----

  void setStreamHead(HeaderMap& headers) {
    std::string type(kStream);
    type.append("+").append(formatOf(headers));
    headers.set(HeaderId::ContentType, memory_.keep(type));
    headers.remove(HeaderId::ContentLength);
    rename(headers, "grpc-encoding", "connect-content-encoding");
    rename(headers, "grpc-accept-encoding", "connect-accept-encoding");
  }

  // `has_metadata`: they are trailers, and no head.
  void endStream(const HeaderMap& trailers, bool has_metadata) {
    const std::string end = connectEndOf(trailers, has_metadata);
    answer_.clear();
    http::appendGrpcFrameHeader(&answer_, kEndOfStream, end.size());
    answer_.append(end);
  }

  void endUnary(const HeaderMap& trailers) {
    const HeaderEntry* const header = trailers.find(HeaderId::GrpcStatus);
    const int64_t status = header ? format::parseGrpcStatus(header->value()) : 2;
    failed_ = status != 0;
    if (failed_) {
      status_ = connectStatusOf(status);
      answer_.clear();
      appendConnectError(&answer_, status, trailers);
    }
    if (is_only_) return;
    for (const HeaderEntry& entry : trailers) {
      if (entry.name_size == 0 || entry.name().starts_with("grpc-")) continue;
      std::string name("trailer-");
      name.append(entry.name());
      trailers_.emplace_back(memory_.keep(name), memory_.keep(entry.value()));
    }
  }

  // What is said of the call's end in a head that is all of its answer.
  void dropGrpc(HeaderMap& headers) {
    if (!is_only_) return;
    headers.remove(HeaderId::GrpcStatus);
    headers.remove(HeaderId::GrpcMessage);
    headers.remove(format::kGrpcStatusDetails);
  }

  void rename(HeaderMap& headers, std::string_view from, std::string_view to) {
    const uint32_t size = headers.size();
    for (uint32_t i = 0; i < size; ++i) {
      if (headers[i].name() != from) continue;
      const std::string_view value = headers[i].value();
      headers[i].remove();
      headers.add(http::internHeader(to), to, value);
    }
  }

  FilterMemory& memory_;
  FilterNotes& notes_;
  FilterPlace& place_;
  Call call_ = Call::Other;
  // Of a call of one message: as far as it has come, without its frame; then what is given on.
  std::string request_;
  std::string answer_;
  // Of an answer of one message, kept.
  std::vector<std::pair<std::string_view, std::string_view>> trailers_;
  std::string_view type_;
  // Of an answer in place of the host's.
  std::string_view text_;
  std::string_view details_;
  size_t frame_header_left_ = http::kGrpcFrameHeaderBytes;
  uint16_t refusal_ = 0;
  uint16_t status_ = 0;
  uint8_t flags_ = 0;
  bool failed_ = false;
  bool is_only_ = false;
  bool is_http_1_ = true;
  // The latest replacement is the answer's.
  bool gives_answer_ = false;
};

}  // namespace

HttpFilter* ConnectGrpcBridgeConfig::make(FilterMemory& memory, const FilterScope& scope,
                                          FilterPlace& place) const {
  return memory.make<ConnectGrpcBridge>(memory, scope, place);
}

}  // namespace fairlead::filters
