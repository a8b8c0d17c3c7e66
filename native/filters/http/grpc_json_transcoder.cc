#include "filters/http/grpc_json_transcoder.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/http/header_rules.h"
#include "filters/http/waited_request.h"
#include "filters/transcoder/http_body_flow.h"
#include "filters/transcoder/request_translator.h"
#include "filters/transcoder/response_translator.h"
#include "filters/transcoder/status_printer.h"
#include "format/grpc_status.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using transcoder::Delimiter;
using transcoder::RequestTranslator;
using transcoder::ResponseTranslator;
using transcoder::Service;
using Gauge = stats::HttpTranscoder::Gauge;

// Of a message in JSON, where nothing says how large it may be.
constexpr size_t kMaxJsonBytes = 64 << 20;

constexpr std::string_view kTooLargeRequest =
    "Request rejected because the transcoder's internal buffer size exceeds the configured limit.";
constexpr std::string_view kTooLargeResponse =
    "Response not transcoded because the transcoder's internal buffer size exceeds the configured "
    "limit.";
constexpr std::string_view kFailed = "grpc_json_transcode_failure";
constexpr std::string_view kFailedEarly = "early_grpc_json_transcode_failure";

// One request.
class GrpcJsonTranscoder final : public HttpFilter {
 public:
  GrpcJsonTranscoder(const Service& service, stats::Shard<stats::HttpTranscoder>& stats,
                     FilterMemory& memory, const FilterScope& scope, FilterPlace& place)
      : service_(service), stats_(stats), memory_(memory), notes_(scope.notes), place_(place) {}

  // ---- the request ----

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    is_http_1_ = head.version <= http::Version::Http11;
    has_request_ended_ = end;
    const HeaderEntry* const type = head.headers.find(HeaderId::ContentType);
    if (head.path.empty() || (type && format::isGrpcContentType(type->value()))) {
      return FilterStatus::Continue;
    }
    std::string why;
    const Service::Outcome outcome = service_.find(head.method, head.path, &call_, &why);
    if (isNotMeant(outcome)) return FilterStatus::Continue;
    ends_apart_ = is_http_1_ && !hasRequestWaited(place_);
    if (outcome == Service::Outcome::NoMethod) {
      return refuse(404, std::move(why), kFailedEarly, "NOT_FOUND");
    }
    if (outcome == Service::Outcome::BadParameter) {
      return refuse(400, std::move(why), kFailedEarly, "INVALID_ARGUMENT");
    }
    begin();
    if (takesHttpBody() && !beginHttpBody(type ? type->value() : std::string_view())) {
      return refuse(400, std::move(why_), kFailedEarly, "INVALID_ARGUMENT");
    }
    makeCall(head);
    return end ? finishRequest(kFailedEarly) : FilterStatus::Continue;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!transcodes_) return FilterStatus::Continue;
    gives_answer_ = false;
    const size_t kept = takesHttpBody() ? request_body_.keptBytes() : request_->keptBytes();
    if (kept + data.size() > maxRequestBytes()) {
      return refuseData(413, std::string(kTooLargeRequest), "request_buffer_size_limit_reached");
    }
    request_bytes_.clear();
    if (takesHttpBody()) {
      request_body_.add(data);
      if (end || call_.method->plan->client_streaming) giveHttpBody();
    } else if (!request_->add(data, &request_bytes_)) {
      return refuseData(400, request_->error(), "INVALID_ARGUMENT");
    }
    if (end) {
      if (!takesHttpBody() && !request_->finish(&request_bytes_)) {
        return refuse(400, request_->error(), kFailed, "INVALID_ARGUMENT");
      }
      note(Gauge::TranscoderRequestBufferBytes, &request_noted_, 0);
      return FilterStatus::Replace;
    }
    note(Gauge::TranscoderRequestBufferBytes, &request_noted_,
         takesHttpBody() ? request_body_.keptBytes() : request_->keptBytes());
    return request_bytes_.empty() ? FilterStatus::Take : FilterStatus::Replace;
  }

  FilterStatus onRequestTrailers(HeaderMap& trailers) override {
    if (!transcodes_) return FilterStatus::Continue;
    keep(trailers, &request_trailers_);
    return finishRequest(kFailed);
  }

  // ---- the answer ----

  FilterStatus onResponseHead(uint16_t status, HeaderMap& headers, bool end, Arena&) override {
    is_answering_ = true;
    if (!transcodes_) return FilterStatus::Continue;
    const HeaderEntry* const type = headers.find(HeaderId::ContentType);
    const bool is_grpc = end ? headers.find(HeaderId::GrpcStatus) != nullptr
                             : status == 200 && type && format::isGrpcContentType(type->value());
    if (!is_grpc) {
      transcodes_ = false;
      return FilterStatus::Continue;
    }
    if (end) {
      is_trailers_only_ = true;
      if (call_.method->plan->server_streaming) setContentType(headers);
      finishAnswer(headers);
      return FilterStatus::Replace;
    }
    setContentType(headers);
    headers.remove(HeaderId::ContentLength);
    is_head_sent_ = call_.method->plan->server_streaming && !givesHttpBody();
    return is_head_sent_ ? FilterStatus::Continue : FilterStatus::Pause;
  }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!transcodes_) return FilterStatus::Continue;
    has_body_ = has_body_ || !data.empty() || !end;
    gives_answer_ = true;
    const bool is_stream = call_.method->plan->server_streaming;
    if (is_stream) bytes_.clear();
    const size_t kept = givesHttpBody() ? answer_body_.keptBytes() : response_->keptBytes();
    if (kept + data.size() > maxResponseBytes()) {
      return refuse(500, std::string(kTooLargeResponse), kFailed,
                    "response_buffer_size_limit_reached");
    }
    if (givesHttpBody() ? !answer_body_.add(data, call_.method->response_path, is_stream, &bytes_)
                        : !response_->add(data, &bytes_)) {
      return refuse(502,
                    givesHttpBody() ? "the answer is no google.api.HttpBody" : response_->error(),
                    kFailed, givesHttpBody() ? "INVALID_ARGUMENT" : response_->errorStatus());
    }
    if (end && !givesHttpBody()) response_->finish(&bytes_);
    note(Gauge::TranscoderResponseBufferBytes, &response_noted_,
         end ? 0
             : (givesHttpBody() ? answer_body_.keptBytes() : response_->keptBytes()) +
                   (is_stream ? 0 : bytes_.size()));
    if (end) return FilterStatus::Replace;
    return is_stream && !bytes_.empty() ? FilterStatus::Replace : FilterStatus::Take;
  }

  FilterStatus onResponseTrailers(HeaderMap& trailers) override {
    if (!transcodes_) return FilterStatus::Continue;
    keep(trailers, &trailers_);
    if (call_.method->plan->server_streaming) bytes_.clear();
    finishAnswer(trailers);
    note(Gauge::TranscoderResponseBufferBytes, &response_noted_, 0);
    return FilterStatus::Replace;
  }

  void onResponseHeadReleased(uint16_t& status, HeaderMap& headers, Arena& arena) override {
    if (!transcodes_) return;
    if (answer_body_.hasBody()) {
      // The host's own bytes: what could not be a header is none.
      const std::string& type = answer_body_.contentType();
      headers.set(HeaderId::ContentType, memory_.keep(isHeaderValue(type) ? type : std::string()));
    }
    if (answer_body_.hasBody() && !call_.method->plan->server_streaming) {
      headers.set(HeaderId::ContentLength, arena.decimal(bytes_.size()));
    }
    if (!ends_) return;
    if (status_ != 0) status = status_;
    if (is_converted_) {
      headers.set(HeaderId::ContentType, "application/json");
      headers.remove(HeaderId::GrpcStatus);
      headers.remove(HeaderId::GrpcMessage);
      headers.remove(format::kGrpcStatusDetails);
    } else if (!is_trailers_only_) {
      if (!grpc_status_.empty()) headers.set(HeaderId::GrpcStatus, grpc_status_);
      if (grpc_message_) headers.set(HeaderId::GrpcMessage, *grpc_message_);
    }
    if (is_http_1_) headers.remove(HeaderId::Trailer);
    if (status_ != 0) headers.set(HeaderId::ContentLength, arena.decimal(bytes_.size()));
  }

  std::string_view replacement() const override { return gives_answer_ ? bytes_ : request_bytes_; }

  bool addTrailers(HeaderMap& trailers, Arena&) const override {
    const Trailers& kept = gives_answer_ ? trailers_ : request_trailers_;
    for (const auto& [name, value] : kept) {
      trailers.add(http::internHeader(name), name, value);
    }
    return !kept.empty();
  }

  LocalReply answer() const override {
    LocalReply reply{refusal_, why_, details_};
    // A request that makes no sense ends its connection, whether it had a body or not.
    reply.close = ends_apart_ && !is_answering_ && (!has_request_ended_ || refusal_ != 404);
    reply.is_before_end = is_before_end_ && ends_apart_;
    return reply;
  }

  void onEnd() override {
    note(Gauge::TranscoderRequestBufferBytes, &request_noted_, 0);
    note(Gauge::TranscoderResponseBufferBytes, &response_noted_, 0);
  }

 private:
  using Trailers = std::vector<std::pair<std::string_view, std::string_view>>;

  bool takesHttpBody() const { return call_.method->plan->takes_http_body; }
  bool givesHttpBody() const { return call_.method->plan->gives_http_body; }

  size_t maxRequestBytes() const {
    if (service_.plan().max_request_bytes != 0) return service_.plan().max_request_bytes;
    if (!takesHttpBody()) return kMaxJsonBytes;
    return place_.bufferLimit() == 0 ? SIZE_MAX : place_.bufferLimit();
  }
  size_t maxResponseBytes() const {
    const size_t own = service_.plan().max_response_bytes;
    const size_t of_stream = place_.bufferLimit() == 0 ? SIZE_MAX : place_.bufferLimit();
    if (givesHttpBody()) return std::max(own, of_stream);
    return own != 0 ? own : of_stream;
  }

  RequestTranslator::Settings settingsOf(bool is_stream) {
    const plan::GrpcJsonTranscoder& plan = service_.plan();
    return {service_.types(),           *call_.method->input,    is_stream,
            plan.ignores_case_of_enums, plan.rejects_collisions, std::move(call_.body_path),
            std::move(call_.bindings)};
  }

  void begin() {
    const plan::TranscodedMethod& method = *call_.method->plan;
    const plan::GrpcJsonTranscoder& plan = service_.plan();
    transcodes_ = true;
    notes_.sees_response_body = true;
    if (!takesHttpBody()) request_.emplace(settingsOf(method.client_streaming));
    if (!givesHttpBody()) {
      response_.emplace(service_.types(), *call_.method->output, service_.printOptions(),
                        method.server_streaming,
                        plan.delimits_as_events     ? Delimiter::Events
                        : plan.delimits_by_newlines ? Delimiter::Lines
                                                    : Delimiter::List);
    }
  }

  // The call that the request is. What it was is said in headers.
  void makeCall(http::RequestHead& head) {
    const std::string_view path = memory_.keep(head.path);
    const std::string_view method = memory_.keep(head.method);
    head.headers.remove(HeaderId::ContentLength);
    head.headers.set(HeaderId::ContentType, "application/grpc");
    head.headers.set(HeaderId::XEnvoyOriginalPath, path);
    static const std::string& name_of_method = *new std::string(http::ownHeader("original-method"));
    head.headers.add(HeaderId::Other, name_of_method, method);
    head.headers.set(HeaderId::Te, "trailers");
    head.path = call_.method->plan->path;
    head.method = "POST";
    if (!service_.plan().keeps_route) place_.clearRoute();
  }

  FilterStatus finishRequest(std::string_view details) {
    gives_answer_ = false;
    request_bytes_.clear();
    if (takesHttpBody()) {
      giveHttpBody();
    } else if (!request_->finish(&request_bytes_)) {
      return refuse(400, request_->error(), details, "INVALID_ARGUMENT");
    }
    note(Gauge::TranscoderRequestBufferBytes, &request_noted_, 0);
    return FilterStatus::Replace;
  }

  // ---- bytes of any type ----

  // What path and query say goes before it. False: why_ says what is wrong.
  bool beginHttpBody(std::string_view type) {
    request_body_.begin(RequestTranslator::messageOf(settingsOf(false), &why_), type);
    return why_.empty();
  }

  void giveHttpBody() {
    request_body_.give(call_.method->request_path, call_.unknown, &request_bytes_);
  }

  // ---- the end ----

  void setContentType(HeaderMap& headers) {
    const bool is_events = service_.plan().delimits_as_events &&
                           call_.method->plan->server_streaming && !givesHttpBody();
    headers.set(HeaderId::ContentType, is_events ? "text/event-stream" : "application/json");
  }

  // `trailers`: or a head that is all of its answer.
  void finishAnswer(const HeaderMap& trailers) {
    ends_ = gives_answer_ = true;
    const HeaderEntry* const status = trailers.find(HeaderId::GrpcStatus);
    const int64_t code = status ? format::parseGrpcStatus(status->value()) : -1;
    if (code > 0 && convertStatus(trailers, code)) return;
    if (!givesHttpBody()) response_->finish(&bytes_);
    // What is streamed has begun before its status is known.
    if (call_.method->plan->server_streaming && !is_trailers_only_) return;
    status_ = code < 0 ? 503 : format::httpStatusOfGrpc(code);
    if (code >= 0) grpc_status_ = memory_.keep(std::to_string(code));
    if (const HeaderEntry* message = trailers.find(HeaderId::GrpcMessage)) {
      grpc_message_ = memory_.keep(message->value());
    }
  }

  // A call that failed without a message answers its google.rpc.Status.
  bool convertStatus(const HeaderMap& trailers, int64_t code) {
    std::string json;
    if (!service_.plan().converts_status || has_body_ ||
        !transcoder::printStatus(service_, trailers, code, &json)) {
      return false;
    }
    bytes_ = std::move(json);
    is_converted_ = true;
    status_ = format::httpStatusOfGrpc(code);
    return true;
  }

  void keep(const HeaderMap& trailers, Trailers* kept) {
    for (const HeaderEntry& entry : trailers) {
      if (entry.name_size == 0) continue;
      kept->emplace_back(memory_.keep(entry.name()), memory_.keep(entry.value()));
    }
  }

  FilterStatus refuse(uint16_t status, std::string why, std::string_view details,
                      std::string_view code) {
    transcodes_ = false;
    refusal_ = status;
    why_ = std::move(why);
    details_.assign(details).append("{").append(code).append("}");
    return FilterStatus::Answer;
  }

  // What it knows nothing of is somebody else's, unless it is to be refused.
  bool isNotMeant(Service::Outcome outcome) const {
    const plan::GrpcJsonTranscoder& plan = service_.plan();
    return (outcome == Service::Outcome::NoMethod && !plan.rejects_unknown_methods) ||
           (outcome == Service::Outcome::BadParameter && !plan.rejects_unknown_query_parameters);
  }

  // Whether more is to come or not.
  FilterStatus refuseData(uint16_t status, std::string why, std::string_view code) {
    is_before_end_ = true;
    return refuse(status, std::move(why), kFailed, code);
  }

  void note(Gauge gauge, size_t* noted, size_t bytes) {
    if (bytes > *noted) stats_.up(gauge, bytes - *noted);
    if (bytes < *noted) stats_.down(gauge, *noted - bytes);
    *noted = bytes;
  }

  const Service& service_;
  stats::Shard<stats::HttpTranscoder>& stats_;
  FilterMemory& memory_;
  FilterNotes& notes_;
  FilterPlace& place_;
  transcoder::Call call_;
  std::optional<RequestTranslator> request_;
  std::optional<ResponseTranslator> response_;
  // What goes on in place of the latest piece of the request.
  std::string request_bytes_;
  // The same of the answer; where that is one message, all of it.
  std::string bytes_;
  // Of bodies that are no JSON.
  transcoder::HttpBodyRequest request_body_;
  transcoder::HttpBodyAnswer answer_body_;
  // Kept, of the message that passes.
  Trailers request_trailers_;
  Trailers trailers_;
  std::string_view grpc_status_;
  std::optional<std::string_view> grpc_message_;
  // Of an answer in place of the host's.
  std::string why_;
  std::string details_;
  size_t request_noted_ = 0;
  size_t response_noted_ = 0;
  uint16_t refusal_ = 0;
  // 0: as it is.
  uint16_t status_ = 0;
  bool transcodes_ = false;
  bool is_http_1_ = true;
  // As HTTP/1 has it, where nobody has held the request before.
  bool ends_apart_ = true;
  // With its head.
  bool has_request_ended_ = false;
  bool is_before_end_ = false;
  bool is_answering_ = false;
  // The latest replacement is the answer's.
  bool gives_answer_ = false;
  bool has_body_ = false;
  bool is_head_sent_ = false;
  bool is_trailers_only_ = false;
  bool is_converted_ = false;
  // The head that is released is that of a whole answer.
  bool ends_ = false;
};

}  // namespace

Result<std::unique_ptr<const route::FilterConfig>> TranscoderSettings::build(
    const plan::GrpcJsonTranscoder& plan) {
  auto settings = std::make_unique<TranscoderSettings>();
  Result<std::unique_ptr<const Service>> service = Service::build(plan);
  if (!service) return service.error();
  settings->service = std::move(service.value());
  return std::unique_ptr<const route::FilterConfig>(std::move(settings));
}

BuiltFilter GrpcJsonTranscoderConfig::build(const plan::GrpcJsonTranscoder& plan,
                                            const ConfigScope& scope) {
  auto config = std::make_shared<GrpcJsonTranscoderConfig>();
  Result<std::unique_ptr<const Service>> service = Service::build(plan);
  if (!service) return service.error();
  config->service_ = std::move(service.value());
  config->stats_ = scope.registry.create<stats::HttpTranscoder>(scope.stats);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* GrpcJsonTranscoderConfig::make(FilterMemory& memory, const FilterScope& scope,
                                           FilterPlace& place) const {
  const Service* service = service_.get();
  const route::FilterConfigList settings = place.routeConfigs();
  if (!settings.empty()) {
    const TranscoderSettings* const own = TranscoderSettings::of(settings[0]);
    if (!own) return nullptr;
    service = own->service.get();
  }
  if (service->plan().methods.empty()) return nullptr;
  return memory.make<GrpcJsonTranscoder>(*service, *stats_->shard(scope.worker + 1), memory, scope,
                                         place);
}

}  // namespace fairlead::filters
