// What an external processor says of a request and its answer.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/json_tree.h"
#include "base/proto_reader.h"
#include "filters/http/ext_proc_edits.h"
#include "filters/http/ext_proc_filter.h"
#include "filters/http/ext_proc_json.h"
#include "format/struct_metadata.h"
#include "log/log.h"
#include "net/loop.h"

namespace fairlead::filters {

namespace {

using Said = ProcessingAnswer::Kind;

constexpr int64_t kGrpcDeadlineExceeded = 4;
constexpr int64_t kGrpcFailedPrecondition = 9;
constexpr int64_t kGrpcAborted = 10;
constexpr int64_t kGrpcInternal = 13;

std::string withoutBlanks(std::string_view text) {
  std::string made(text);
  std::ranges::replace_if(made, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }, '_');
  return made;
}

bool isSame(const plan::ProcessingMode& a, const plan::ProcessingMode& b) {
  // How request heads go is no longer of interest.
  return a.request_body == b.request_body && a.request_trailers == b.request_trailers &&
         a.response_head == b.response_head && a.response_body == b.response_body &&
         a.response_trailers == b.response_trailers;
}

}  // namespace

// ---- the stream ----

void ExtProc::onCallMessage(std::string_view bytes) {
  if (observes() || is_done_) return;
  is_hearing_ = true;
  if (hear(bytes) == Going::On) is_hearing_ = false;
}

ExtProc::Going ExtProc::hear(std::string_view bytes) {
  ProcessingAnswer answer;
  if (!ProcessingAnswer::read(bytes, &answer)) {
    call_.cancel();
    calls::CallAnswer broken;
    broken.grpc_status = kGrpcInternal;
    return give([&] { onCallEnd(broken); });
  }
  if (answer.timeout_ms) {
    onMoreTime(*answer.timeout_ms);
    return Going::On;
  }
  if (answer.mode) overrideMode(*answer.mode);
  if (answer.kind == Said::Immediate && !settings_.plan.disable_immediate_response) {
    count(Counter::StreamMsgsReceived);
    return give([&] { answerAtOnce(answer); });
  }
  const bool was_last_body = endsBody(answer);
  stats::Shard<stats::HttpExtProc>& stats = stats_;
  const auto status = static_cast<uint16_t>(settings_.plan.status_on_error);
  const Outcome outcome = handle(answer);
  switch (outcome.kind) {
    case Outcome::Kind::Gone:
      stats.add(Counter::StreamMsgsReceived);
      return Going::Gone;
    case Outcome::Kind::Fine:
      count(Counter::StreamMsgsReceived);
      break;
    case Outcome::Kind::Spurious:
      count(Counter::SpuriousMsgsReceived);
      log::warn(log::Component::ExtProc, "Spurious response message ",
                static_cast<unsigned>(answer.kind), " received on gRPC stream");
      if (failsOpen()) {
        allowFailure();
        closeStream();
        return goOnUntold(kGrpcFailedPrecondition);
      }
      return give([&] { refuse(status, outcome.why, kGrpcFailedPrecondition); });
    case Outcome::Kind::Failed:
      count(Counter::StreamMsgsReceived);
      return give([&] { refuse(status, outcome.why, outcome.grpc_status); });
  }
  if (is_open_ && !is_done_ && isLast(answer, was_last_body)) {
    is_done_ = true;
    closeStream();
  }
  return Going::On;
}

// The whole of what a service of HTTP says of one part.
void ExtProc::onHttpAnswer(const calls::CallAnswer& answer) {
  constexpr uint16_t kOk = 200;
  if (figures_) figures_->noteBytes(answer.bytes);
  std::string message;
  if (answer.status == kOk && !answer.is_broken &&
      processingResponseOfJson(answer.body, &message)) {
    if (!observes() && !is_done_) hear(message);
    return;
  }
  count(Counter::HttpNotOkRespReceived);
  if (is_done_) return;
  if (failsOpen()) {
    allowFailure();
    goOnUntold(kGrpcAborted);
    return;
  }
  refuse(static_cast<uint16_t>(settings_.plan.status_on_error), "ext_proc_error_HTTP_ERROR",
         kGrpcAborted);
}

void ExtProc::onCallEnd(const calls::CallAnswer& answer) {
  if (speaksHttp()) return onHttpAnswer(answer);
  const bool was_open = std::exchange(is_open_, false);
  if (!was_open) return;
  count(Counter::ServerHalfClosed);
  const int64_t status = answer.grpc_status;
  if (status == 0 && !answer.is_broken) {
    if (is_done_) return;
    count(Counter::StreamsClosed);
    goOnUntold(kGrpcAborted);
    return;
  }
  log::warn(log::Component::ExtProc, "Received gRPC error on stream: ", status, ", message ",
            answer.grpc_message);
  count(Counter::StreamsFailed);
  if (is_done_) return;
  if (failsOpen()) {
    // As the real server has it: once for the error, and once for the end.
    count(Counter::ServerHalfClosed);
    count(Counter::StreamsClosed);
    allowFailure();
    goOnUntold(status);
    return;
  }
  if (figures_ && !service_->isGoogle()) figures_->noteBytes(answer.bytes);
  std::string why = "ext_proc_error_gRPC_error_";
  why.append(std::to_string(status)).append("{").append(answer.grpc_message);
  // What a host has said.
  if (!answer.is_local && !service_->isGoogle()) {
    why.append(answer.grpc_message.empty() ? "via_upstream" : "{via_upstream}");
  }
  why.append("}");
  refuse(static_cast<uint16_t>(settings_.plan.status_on_error), why, status);
}

void ExtProc::onTimeout() {
  log::debug(log::Component::ExtProc, "message timeout reached");
  count(Counter::MessageTimeouts);
  noteBytes();
  closeStream();
  if (failsOpen()) {
    allowFailure();
    goOnUntold(kGrpcDeadlineExceeded);
    return;
  }
  refuse(504, "ext_proc_error_per-message_timeout_exceeded", kGrpcDeadlineExceeded);
}

void ExtProc::onMoreTime(int64_t ms) {
  const auto restart = [this, ms](ProcessedMessage& message) {
    Deadline& deadline = deadlineOf(message);
    if (!deadline.isArmed() || std::exchange(message.had_more_time, true)) return false;
    net::Loop& loop = place_.loop();
    loop.timers().arm(&deadline, loop.now() + static_cast<net::Millis>(ms));
    return true;
  };
  const auto most = static_cast<int64_t>(settings_.plan.max_message_timeout_ms);
  if (ms < 1 || ms > most) {
    log::warn(log::Component::ExtProc,
              "Ext_proc server new timeout setting is out of config range. Ignoring the message.");
    return count(Counter::OverrideMessageTimeoutIgnored);
  }
  const bool is_of_request = restart(request_);
  const bool is_of_response = restart(response_);
  count(is_of_request || is_of_response ? Counter::OverrideMessageTimeoutReceived
                                        : Counter::OverrideMessageTimeoutIgnored);
}

// What is not said of heads and trailers stays as the filter has it.
void ExtProc::overrideMode(const plan::ProcessingMode& said) {
  using Mode = plan::ProcessingMode;
  const Mode& own = settings_.mode;
  if (!settings_.plan.allow_mode_override || settings_.plan.send_body_without_waiting ||
      own.request_body == Body::FullDuplexStreamed ||
      own.response_body == Body::FullDuplexStreamed ||
      (request_.waits != Waits::Head && response_.waits != Waits::Head)) {
    return;
  }
  const auto either = [](Mode::Head one, Mode::Head other) {
    return one == Mode::Head::Default ? other : one;
  };
  Mode mode = said;
  mode.request_head = either(said.request_head, own.request_head);
  mode.response_head = either(said.response_head, own.response_head);
  mode.request_trailers = either(said.request_trailers, own.request_trailers);
  mode.response_trailers = either(said.response_trailers, own.response_trailers);
  const auto& allowed = settings_.plan.allowed_override_modes;
  if (!allowed.empty() &&
      std::ranges::none_of(allowed, [&mode](const Mode& one) { return isSame(one, mode); })) {
    log::debug(log::Component::ExtProc, "Processing mode overridden by server is disallowed");
    return;
  }
  request_.setMode(mode);
  response_.setMode(mode);
}

bool ExtProc::failsOpen() const {
  return failure_mode_allow_ && request_.canGoOnUntold() && response_.canGoOnUntold();
}

void ExtProc::allowFailure() {
  count(Counter::FailureModeAllowed);
  if (figures_) figures_->noteGoingOnUntold();
}

ExtProc::Going ExtProc::goOnUntold(int64_t status) {
  is_done_ = true;
  for (ProcessedMessage* const message : {&request_, &response_}) {
    stopWaiting(*message, Waits::Nothing, status);
    if (!message->pieces.empty()) {
      message->joinPieces();
      ProcessedMessage::Piece piece = message->takePiece();
      if (giveData(*message, std::move(piece.bytes), piece.end) == Going::Gone) return Going::Gone;
    }
    letSenderGoOn(*message);
    const bool may_end = message->is_complete || message->has_no_body;
    if (goOn(*message, may_end) == Going::Gone) return Going::Gone;
  }
  return Going::On;
}

// ---- answers in place of all others ----

void ExtProc::refuse(uint16_t status, std::string_view details, int64_t grpc_status) {
  reply_details_ = withoutBlanks(details);
  reply_body_.clear();
  reply_head_.clear();
  reply_.grpc_status.reset();
  answerWith(status, grpc_status);
}

void ExtProc::answerAtOnce(const ProcessingAnswer& answer) {
  if (figures_) figures_->noteAnswerAtOnce();
  takeMetadata(answer, request_);
  const ImmediateAnswer said = ImmediateAnswer::read(answer.part);
  reply_details_ = withoutBlanks(said.details);
  if (reply_details_.empty()) reply_details_ = kEmptyDetails;
  reply_body_ = said.body;
  reply_head_ = said.head.value_or(std::string_view());
  reply_.grpc_status = said.grpc_status;
  answerWith(static_cast<uint16_t>(said.status), 0);
}

void ExtProc::answerWith(uint16_t status, int64_t grpc_status) {
  is_done_ = true;
  stopWaiting(request_, Waits::Nothing, grpc_status);
  stopWaiting(response_, Waits::Nothing, grpc_status);
  closeStream();
  count(Counter::ImmediateResponsesSent);
  reply_.status = status;
  reply_.body = reply_body_;
  reply_.details = reply_details_;
  reply_.editor = reply_head_.empty() ? nullptr : this;
  place_.answerInstead(reply_);
}

void ExtProc::edit(http::HeaderMap& headers, Arena& arena) {
  EditTally tally;
  const ProcessorEdits edits{reply_head_, settings_.rules, place_.responseLimits()};
  const std::string_view why = edits.apply(EditedHead{nullptr, nullptr, headers}, arena, &tally);
  count(Counter::RejectedHeaderMutations, tally.rejected);
  if (!why.empty()) {
    log::error(log::Component::ExtProc, "Immediate response mutations failed with ", why);
  }
}

// ---- one after the other ----

ExtProc::Outcome ExtProc::handle(const ProcessingAnswer& answer) {
  const bool is_of_request = answer.kind == Said::RequestHead || answer.kind == Said::RequestBody ||
                             answer.kind == Said::RequestTrailers;
  ProcessedMessage& message = messageOf(is_of_request);
  switch (answer.kind) {
    case Said::RequestHead:
    case Said::ResponseHead:
      takeMetadata(answer, message);
      return handleHead(message, answer.part);
    case Said::RequestBody:
    case Said::ResponseBody:
      takeMetadata(answer, message);
      return handleBody(message, answer.part);
    case Said::RequestTrailers:
    case Said::ResponseTrailers:
      takeMetadata(answer, message);
      return handleTrailers(message, answer.part);
    case Said::Immediate:
      return {Outcome::Kind::Spurious, "unhandled_immediate_response_due_to_config_disabled_it"};
    default:
      return {Outcome::Kind::Spurious, "unhandled_message"};
  }
}

// ---- the end of it ----

// Of bodies that are told piece by piece.
bool ExtProc::endsBody(const ProcessingAnswer& answer) const {
  if (answer.kind != Said::RequestBody && answer.kind != Said::ResponseBody) return false;
  const ProcessedMessage& message = answer.kind == Said::RequestBody ? request_ : response_;
  if (message.isDuplex()) return PartAnswer::read(answer.part).is_last;
  return message.body_mode == Body::Streamed && !message.pieces.empty() &&
         message.pieces.front().end;
}

bool ExtProc::isLast(const ProcessingAnswer& answer, bool was_last_body) const {
  const auto isHeadAll = [](const ProcessedMessage& message) {
    return message.has_no_body || (message.body_mode == Body::None && !message.sends_trailers);
  };
  switch (answer.kind) {
    case Said::RequestHead:
      return isHeadAll(request_) && !response_.isTold();
    case Said::RequestBody:
      return was_last_body && !response_.isTold();
    case Said::RequestTrailers:
      return !response_.isTold();
    case Said::ResponseHead:
      return isHeadAll(response_);
    case Said::ResponseBody:
      return was_last_body;
    case Said::ResponseTrailers:
      return true;
    default:
      return false;
  }
}

// ---- metadata ----

// Each member is a namespace; those that it may not set are left out.
void ExtProc::takeMetadata(const ProcessingAnswer& answer, const ProcessedMessage&) {
  if (!answer.metadata || receiving_->empty()) return;
  Arena arena(1024);
  for (ProtoReader members(*answer.metadata); members.next();) {
    if (members.field() != 1) continue;
    std::string_view space;
    std::string_view object;
    for (ProtoReader member(members.bytes()); member.next();) {
      if (member.field() == 1) space = member.bytes();
      if (member.field() != 2) continue;
      for (ProtoReader value(member.bytes()); value.next();) {
        object = value.field() == 5 ? value.bytes() : std::string_view();
      }
    }
    if (std::ranges::find(*receiving_, space) == receiving_->end()) continue;
    std::vector<plan::MetadataValue> values;
    if (!format::readStruct(object, &values)) continue;
    if (const JsonNode* const node = parseJson(values[0].text, arena, JsonRepeats::LastWins)) {
      metadata_.set(scope_.notes, space, *node);
    }
  }
}

}  // namespace fairlead::filters
