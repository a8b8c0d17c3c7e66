#include "filters/http/grpc_web.h"

#include "base/base64.h"
#include "filters/http/waited_request.h"
#include "format/grpc_message.h"
#include "format/grpc_status.h"
#include "http/grpc_frames.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

constexpr std::string_view kWeb = "application/grpc-web";
constexpr std::string_view kWebProto = "application/grpc-web+proto";
constexpr std::string_view kText = "application/grpc-web-text";
constexpr std::string_view kTextProto = "application/grpc-web-text+proto";
constexpr std::string_view kBadSize = "grpc_base_64_decode_failed_bad_size";
// The flag of the frame that holds trailers.
constexpr uint8_t kTrailersFrame = 0x80;

bool isText(std::string_view type) { return type == kText || type == kTextProto; }
bool isBinary(std::string_view type) { return type == kWeb || type == kWebProto; }

std::string_view typeOf(const HeaderMap& headers) {
  const HeaderEntry* type = headers.find(HeaderId::ContentType);
  return type ? type->value() : std::string_view();
}

// An answer that gRPC or gRPC-Web can be made of.
bool isOfGrpc(uint16_t status, const HeaderMap& headers) {
  const std::string_view type = typeOf(headers);
  return (status == 200 && format::isGrpcContentType(type)) || isBinary(type) || isText(type);
}

// Of one request.
class GrpcWeb final : public HttpFilter {
 public:
  GrpcWeb(GrpcCalls& calls, FilterMemory& memory, const FilterScope& scope, FilterPlace& place)
      : calls_(calls), memory_(memory), worker_(scope.worker), notes_(scope.notes), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    const std::string_view type = typeOf(head.headers);
    if (!isText(type) && !isBinary(type)) return FilterStatus::Continue;
    is_web_ = true;
    notes_.sees_response_body = true;
    is_text_request_ = isText(type);
    const HeaderEntry* const accept = head.headers.find(HeaderId::Accept);
    is_text_response_ = accept && isText(accept->value());
    ends_apart_ = head.version <= http::Version::Http11 && !hasRequestWaited(place_);
    path_ = memory_.keep(head.path);
    head.headers.remove(HeaderId::ContentLength);
    head.headers.set(HeaderId::ContentType, "application/grpc");
    head.headers.set(HeaderId::Te, "trailers");
    head.headers.set(HeaderId::GrpcAcceptEncoding, "identity");
    return FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!is_web_ || !is_text_request_) return FilterStatus::Continue;
    undecoded_.append(data);
    const bool is_cut = end && undecoded_.size() % 4 != 0;
    // The end of a request of HTTP/1 comes after all of its body.
    const size_t whole = undecoded_.size() / 4 * 4;
    if (is_cut && (whole == 0 || !ends_apart_)) return refuse(kBadSize);
    if (whole == 0) return end ? FilterStatus::Continue : FilterStatus::Take;
    bytes_.clear();
    if (!decodeBase64(std::string_view(undecoded_).substr(0, whole), &bytes_)) {
      return refuse("grpc_base_64_decode_failed");
    }
    if (is_cut) return refuse(kBadSize);
    undecoded_.erase(0, whole);
    return FilterStatus::Replace;
  }

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end, Arena&) override {
    if (!is_web_) return FilterStatus::Continue;
    countStatus(headers);
    is_foreign_ = !end && !isOfGrpc(status, headers);
    status_ = status;
    headers.set(HeaderId::ContentType, is_text_response_ ? kTextProto : kWebProto);
    headers.remove(HeaderId::ContentLength);
    return is_foreign_ ? FilterStatus::Pause : FilterStatus::Continue;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!is_web_) return FilterStatus::Continue;
    if (is_foreign_) return takeForeign(data, end);
    if (!is_text_response_) return FilterStatus::Continue;
    bytes_.clear();
    frames_.add(data, [this](std::string_view piece, bool ends) {
      text_.add(piece, &bytes_);
      if (ends) text_.finish(&bytes_);
    });
    if (end) text_.finish(&bytes_);
    return bytes_.empty() && !end ? FilterStatus::Take : FilterStatus::Replace;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (!is_web_) return FilterStatus::Continue;
    if (is_foreign_) return takeForeign({}, true);
    countStatus(trailers);
    std::string lines;
    for (const HeaderEntry& entry : trailers) {
      if (entry.name_size == 0) continue;
      lines.append(entry.name()).append(":").append(entry.value()).append("\r\n");
    }
    std::string frame;
    http::appendGrpcFrameHeader(&frame, kTrailersFrame, lines.size());
    frame.append(lines);
    bytes_.clear();
    if (is_text_response_) {
      text_.finish(&bytes_);
      text_.add(frame, &bytes_);
      text_.finish(&bytes_);
    } else {
      bytes_ = std::move(frame);
    }
    return FilterStatus::Replace;
  }

  // What is no gRPC becomes its message.
  void onResponseHeadReleased(uint16_t&, HeaderMap& headers, Arena& arena) override {
    if (!is_foreign_) return;
    headers.set(HeaderId::GrpcStatus,
                arena.decimal(static_cast<uint64_t>(format::grpcStatusOfHttp(status_))));
    if (!foreign_.empty()) {
      headers.set(HeaderId::GrpcMessage, arena.copy(format::percentEncoded(foreign_)));
    }
    headers.set(HeaderId::ContentLength, "0");
  }

  std::string_view replacement() const override { return bytes_; }
  LocalReply answer() const override {
    LocalReply reply{400, "Bad gRPC-web request, invalid base64 data.", refusal_};
    // The end of a request of HTTP/1 comes after all of its body: what is found by then is found
    // early.
    reply.close = reply.is_before_end = ends_apart_ && refusal_ != kBadSize;
    return reply;
  }

 private:
  FilterStatus refuse(std::string_view details) {
    refusal_ = details;
    return FilterStatus::Answer;
  }

  // As much of it as waits of other answers.
  FilterStatus takeForeign(std::string_view data, bool end) {
    const size_t limit = place_.bufferLimit();
    const size_t room = limit == 0 ? data.size() : limit - std::min(limit, foreign_.size());
    foreign_.append(data.substr(0, room));
    bytes_.clear();
    return end ? FilterStatus::Replace : FilterStatus::Take;
  }

  void countStatus(const HeaderMap& headers) {
    const HeaderEntry* const status = headers.find(HeaderId::GrpcStatus);
    const GrpcMethod method = GrpcMethod::of(path_);
    const std::string_view cluster = place_.clusterName();
    if (!status || method.isEmpty() || cluster.empty()) return;
    calls_.addStatus(worker_, cluster, method, status->value());
  }

  GrpcCalls& calls_;
  FilterMemory& memory_;
  const unsigned worker_;
  FilterNotes& notes_;
  FilterPlace& place_;
  std::string_view path_;
  std::string_view refusal_;
  // Of the request: what fills no group of four.
  std::string undecoded_;
  // What goes on in place of the latest piece.
  std::string bytes_;
  std::string foreign_;
  http::GrpcFrames frames_;
  Base64Writer text_;
  uint16_t status_ = 0;
  bool is_web_ = false;
  bool is_text_request_ = false;
  bool is_text_response_ = false;
  bool is_foreign_ = false;
  // As HTTP/1 has it, where nobody has held the request before.
  bool ends_apart_ = true;
};

}  // namespace

BuiltFilter GrpcWebConfig::build(const ConfigScope& scope) {
  auto config = std::make_shared<GrpcWebConfig>();
  config->calls_ = std::make_shared<GrpcCalls>(scope.workers, "grpc-web");
  scope.late_counts.add(config->calls_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* GrpcWebConfig::make(FilterMemory& memory, const FilterScope& scope,
                                FilterPlace& place) const {
  return memory.make<GrpcWeb>(*calls_, memory, scope, place);
}

}  // namespace fairlead::filters
