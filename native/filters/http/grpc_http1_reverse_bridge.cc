#include "filters/http/grpc_http1_reverse_bridge.h"

#include "base/text.h"
#include "format/grpc_status.h"
#include "http/grpc_frames.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

constexpr uint32_t kUnknownStatus = 2;

// Of one request.
class GrpcReverseBridge final : public HttpFilter {
 public:
  GrpcReverseBridge(const plan::GrpcReverseBridge& plan, FilterMemory& memory,
                    const FilterScope& scope)
      : plan_(plan), memory_(memory), notes_(scope.notes) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    HeaderEntry* const type = head.headers.find(HeaderId::ContentType);
    if (end || !type || !format::isGrpcContentType(type->value())) return FilterStatus::Continue;
    bridges_ = true;
    notes_.sees_response_body = true;
    client_type_ = memory_.keep(type->value());
    type->setValue(plan_.content_type);
    head.headers.set(HeaderId::Accept, plan_.content_type);
    if (!plan_.withholds_frames) return FilterStatus::Continue;
    HeaderEntry* const length = head.headers.find(HeaderId::ContentLength);
    uint64_t bytes = 0;
    if (length && parseDecimal(length->value(), &bytes) && bytes >= http::kGrpcFrameHeaderBytes) {
      text_ = std::to_string(bytes - http::kGrpcFrameHeaderBytes);
      length->setValue(memory_.keep(text_));
    }
    return FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool) override {
    if (!bridges_ || !plan_.withholds_frames || is_unframed_) return FilterStatus::Continue;
    if (data.size() < http::kGrpcFrameHeaderBytes) {
      // As in the real server, whose refusal passes the filter itself, which takes it for a host's.
      return refuse(
          "envoy reverse bridge: upstream responded with unsupported content-type "
          "application/grpc, status code 200",
          "grpc_bridge_content_type_wrong");
    }
    is_unframed_ = true;
    rest_ = data.substr(http::kGrpcFrameHeaderBytes);
    return FilterStatus::Replace;
  }

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end,
                              Arena& arena) override {
    if (!bridges_ || is_refused_) return FilterStatus::Continue;
    const HeaderEntry* const type = headers.find(HeaderId::ContentType);
    if (!type || type->value() != plan_.content_type) {
      text_ = "envoy reverse bridge: upstream responded with ";
      if (type) {
        text_.append("unsupported content-type ").append(type->value());
      } else {
        text_.append("no content-type header");
      }
      text_.append(", status code ").append(std::to_string(status));
      return refuse(text_, "grpc_bridge_content_type_wrong");
    }
    headers.set(HeaderId::ContentType, client_type_);
    grpc_status_ = format::grpcStatusOfHttp(status);
    if (status == 200) grpc_status_ = 0;
    uint64_t bytes = 0;
    HeaderEntry* const length = headers.find(HeaderId::ContentLength);
    if (plan_.withholds_frames && length && parseDecimal(length->value(), &bytes)) {
      length->setValue(arena.decimal(bytes + http::kGrpcFrameHeaderBytes));
    }
    // Until there is a body, its status may still be changed.
    return end ? FilterStatus::Continue : FilterStatus::Pause;
  }

  void onResponseHeadReleased(uint16_t& status, HeaderMap&, Arena&) override {
    if (grpc_status_ >= 0) status = 200;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!bridges_ || is_refused_) return FilterStatus::Continue;
    if (!plan_.withholds_frames) {
      if (!end) return FilterStatus::Continue;
      rest_ = data;
      return FilterStatus::Replace;
    }
    // However long it is, as in the real server: its client waits for a length.
    body_.append(data);
    if (!end) return FilterStatus::Take;
    frameBody();
    return FilterStatus::Replace;
  }

  FilterStatus onResponseTrailers(HeaderMap&) override {
    if (!bridges_ || is_refused_) return FilterStatus::Continue;
    rest_ = {};
    if (plan_.withholds_frames) frameBody();
    return FilterStatus::Replace;
  }

  std::string_view replacement() const override { return rest_; }
  bool addTrailers(HeaderMap& trailers, Arena& arena) const override {
    if (grpc_status_ < 0) return false;
    trailers.add(HeaderId::GrpcStatus, "grpc-status",
                 arena.decimal(static_cast<uint64_t>(grpc_status_)));
    return true;
  }
  LocalReply answer() const override {
    LocalReply reply{200, refusal_, refusal_details_};
    reply.grpc_status = kUnknownStatus;
    return reply;
  }

 private:
  FilterStatus refuse(std::string_view text, std::string_view details) {
    is_refused_ = true;
    refusal_ = text;
    refusal_details_ = details;
    return FilterStatus::Answer;
  }
  void frameBody() {
    std::string framed;
    framed.reserve(http::kGrpcFrameHeaderBytes + body_.size());
    http::appendGrpcFrameHeader(&framed, 0, body_.size());
    framed.append(body_);
    body_ = std::move(framed);
    rest_ = body_;
  }

  const plan::GrpcReverseBridge& plan_;
  FilterMemory& memory_;
  FilterNotes& notes_;
  std::string_view client_type_;
  std::string_view refusal_;
  std::string_view refusal_details_;
  // What goes on in place of the latest piece.
  std::string_view rest_;
  // Of the answer, which waits until its length is known.
  std::string body_;
  std::string text_;
  // Below 0: no answer has come.
  int64_t grpc_status_ = -1;
  bool bridges_ = false;
  bool is_unframed_ = false;
  bool is_refused_ = false;
};

}  // namespace

HttpFilter* GrpcReverseBridgeConfig::make(FilterMemory& memory, const FilterScope& scope,
                                          FilterPlace& place) const {
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty()) {
    const GrpcReverseBridgeSettings* const settings = GrpcReverseBridgeSettings::of(own.front());
    if (settings && settings->plan.disabled) return nullptr;
  }
  return memory.make<GrpcReverseBridge>(plan_, memory, scope);
}

}  // namespace fairlead::filters
