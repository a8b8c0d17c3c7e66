#include "filters/http/grpc_http1_bridge.h"

#include "format/grpc_status.h"
#include "http/grpc_frames.h"
#include "http/saved_head.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

// Of one request.
class GrpcHttp1Bridge final : public HttpFilter {
 public:
  GrpcHttp1Bridge(const plan::GrpcHttp1Bridge& plan, FilterMemory& memory, const FilterScope& scope,
                  FilterPlace& place)
      : plan_(plan), memory_(memory), notes_(scope.notes), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    HeaderEntry* const type = head.headers.find(HeaderId::ContentType);
    if (!type) return FilterStatus::Continue;
    const bool is_protobuf = plan_.upgrade_protobuf && type->value() == "application/x-protobuf";
    if (is_protobuf) {
      type->setValue("application/grpc");
      head.headers.remove(HeaderId::ContentLength);
    }
    bridges_ = head.version <= http::Version::Http11 && format::isGrpcContentType(type->value());
    if (!bridges_) return FilterStatus::Continue;
    frames_ = is_protobuf;
    if (plan_.ignores_query) head.path = head.path.substr(0, head.path.find('?'));
    notes_.sees_response_body = true;
    return frames_ && !end ? FilterStatus::Pause : FilterStatus::Continue;
  }

  // A message without a frame waits until its length is known.
  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!frames_) return FilterStatus::Continue;
    if (isTooMuch(data)) return refuse(413, "request_payload_too_large");
    body_.append(data);
    if (!end) return FilterStatus::Take;
    std::string framed;
    framed.reserve(http::kGrpcFrameHeaderBytes + body_.size());
    http::appendGrpcFrameHeader(&framed, 0, body_.size());
    framed.append(body_);
    body_ = std::move(framed);
    return FilterStatus::Replace;
  }

  FilterStatus onResponseHead(uint16_t, HeaderMap& headers, bool end, Arena&) override {
    if (!bridges_ || end || refusal_ != 0) return FilterStatus::Continue;
    body_.clear();
    if (frames_) headers.remove(HeaderId::ContentLength);
    return FilterStatus::Pause;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!bridges_ || refusal_ != 0) return FilterStatus::Continue;
    bytes_ += data.size();
    if (!frames_) return end ? FilterStatus::Continue : FilterStatus::Buffer;
    if (isTooMuch(data)) return refuse(500, "response_payload_too_large");
    body_.append(data);
    // What ends without trailers is none of gRPC, and has no frame.
    return end ? FilterStatus::Replace : FilterStatus::Take;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (!bridges_) return FilterStatus::Continue;
    has_trailers_ = true;
    const auto kept = [this](const HeaderEntry* entry) {
      return entry ? memory_.keep(entry->value()) : std::string_view();
    };
    status_ = kept(trailers.find(HeaderId::GrpcStatus));
    message_ = kept(trailers.find(HeaderId::GrpcMessage));
    // They go on: HTTP/1 does not send them behind a length, but logs tell of them.
    if (!frames_) return FilterStatus::Continue;
    trailers_.save({}, {}, {}, trailers);
    unframe();
    bytes_ = body_.size();
    return FilterStatus::Replace;
  }

  bool addTrailers(HeaderMap& trailers, Arena&) const override {
    if (!trailers_.isSet()) return false;
    trailers_.restore(&trailers);
    return true;
  }

  void onResponseHeadReleased(uint16_t& status, HeaderMap& headers, Arena& arena) override {
    if (!has_trailers_) return;
    if (!status_.empty()) {
      if (format::parseGrpcStatus(status_) != 0) status = 503;
      headers.set(HeaderId::GrpcStatus, status_);
    }
    if (!message_.empty()) headers.set(HeaderId::GrpcMessage, message_);
    headers.set(HeaderId::ContentLength, arena.decimal(bytes_));
  }

  std::string_view replacement() const override { return body_; }
  LocalReply answer() const override {
    LocalReply reply{refusal_, http::reasonPhrase(refusal_), refusal_details_};
    reply.close = reply.is_before_end = refusal_ == 413;
    return reply;
  }

 private:
  bool isTooMuch(std::string_view data) const {
    const uint32_t limit = place_.bufferLimit();
    return limit != 0 && body_.size() + data.size() > limit;
  }
  FilterStatus refuse(uint16_t status, std::string_view details) {
    refusal_ = status;
    refusal_details_ = details;
    return FilterStatus::Answer;
  }
  void unframe() { body_.erase(0, std::min(body_.size(), http::kGrpcFrameHeaderBytes)); }

  const plan::GrpcHttp1Bridge& plan_;
  FilterMemory& memory_;
  FilterNotes& notes_;
  FilterPlace& place_;
  // The message while it waits for its end: the request's, then the answer's.
  std::string body_;
  // Of the answer's body.
  uint64_t bytes_ = 0;
  // Of the trailers, kept.
  std::string_view status_;
  std::string_view message_;
  std::string_view refusal_details_;
  // All of them, while the message out of its frame goes before them.
  http::SavedHead trailers_;
  // Of an answer in place of the host's; 0: there is none.
  uint16_t refusal_ = 0;
  bool frames_ = false;
  bool bridges_ = false;
  bool has_trailers_ = false;
};

}  // namespace

HttpFilter* GrpcHttp1BridgeConfig::make(FilterMemory& memory, const FilterScope& scope,
                                        FilterPlace& place) const {
  return memory.make<GrpcHttp1Bridge>(plan_, memory, scope, place);
}

}  // namespace fairlead::filters
