// One request as it passes an external processor. In the request's memory; the worker's thread.
//
// The filter keeps all of a message that it tells of: its place holds the head, the rest is the
// filter's own (FilterStatus::Take), which injects it as the service answers.
//
// Always holds:
// - What goes on may end the request, and the filter with it: whatever gives something on says so
//   (Going::Gone), and nobody touches the filter after that.
// - Nothing goes on from inside of the filter's own calls: services answer at the end of a turn.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "calls/call.h"
#include "filters/http/ext_proc_answer.h"
#include "filters/http/ext_proc_figures.h"
#include "filters/http/ext_proc_message.h"
#include "filters/http/ext_proc_request.h"
#include "filters/http/ext_proc_settings.h"
#include "filters/http/http_filter.h"
#include "filters/http/request_metadata.h"

namespace fairlead::filters {

class ExtProc final : public HttpFilter, private calls::CallOwner, private ReplyEditor {
 public:
  ExtProc(const ExtProcSettings& settings, const FilterScope& scope, FilterPlace& place);
  ~ExtProc() override;

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override;
  FilterStatus onRequestData(std::string_view data, bool end) override;
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override;
  void onRequestHeadReleased(http::RequestHead& head, Arena& arena) override;
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                              Arena& arena) override;
  FilterStatus onResponseData(std::string_view data, bool end) override;
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override;
  bool addTrailers(http::HeaderMap& trailers, Arena& arena) const override;
  void onEnd() override;

 private:
  using Waits = ProcessedMessage::Waits;
  using Body = ProcessedMessage::Body;
  using Counter = stats::HttpExtProc::Counter;
  // Of what gives something on.
  enum class Going : uint8_t { On, Gone };
  // What has become of an answer of the service.
  struct Outcome {
    enum class Kind : uint8_t { Fine, Spurious, Failed, Gone };
    Kind kind = Kind::Fine;
    // What response code details say.
    std::string_view why = {};
    int64_t grpc_status = kInvalidArgument;

    static constexpr int64_t kInvalidArgument = 3;
    static constexpr int64_t kInternal = 13;

    Outcome(Kind of = Kind::Fine, std::string_view details = {}, int64_t status = kInvalidArgument)
        : kind(of), why(details), grpc_status(status) {}
    Outcome(Going going) : kind(going == Going::Gone ? Kind::Gone : Kind::Fine) {}
  };

  class Deadline final : public net::Timer {
   public:
    explicit Deadline(ExtProc& of) : of_(of) {}
    void onTimer() override { of_.onTimeout(); }

   private:
    ExtProc& of_;
  };

  // ---- ext_proc_filter.cc: the request's way ----
  void readRoute();
  // False: there is none, or there will be none: nothing is to be told.
  bool open();
  FilterStatus takeHead(ProcessedMessage& message, const ToldHeaders& headers, bool end,
                        format::FormatContext& context);
  FilterStatus takeData(ProcessedMessage& message, std::string_view data, bool end);
  FilterStatus takeWhole(ProcessedMessage& message, std::string_view data, bool end);
  FilterStatus takePart(ProcessedMessage& message, std::string_view data, bool end);
  FilterStatus takePiece(ProcessedMessage& message, std::string_view data, bool end);
  FilterStatus observeData(ProcessedMessage& message, std::string_view data, bool end);
  FilterStatus takeTrailers(ProcessedMessage& message, http::HeaderMap& trailers);
  void waitFor(ProcessedMessage& message, Waits waits);
  // `status`: of gRPC, of what it waited for.
  void stopWaiting(ProcessedMessage& message, Waits next = Waits::Nothing, int64_t status = 0);
  void noteBytes();
  void noteEffect(const ProcessedMessage& message, ProcFigures::Part part, EditEffect effect);
  void allowFailure();
  void holdBack(ProcessedMessage& message, size_t bytes);
  void letSenderGoOn(ProcessedMessage& message);
  void closeStream();
  void leaveStream();

  // ---- ext_proc_telling.cc: what the service is told ----
  void ask(std::string_view message);
  void tell(ProcessedMessage& message, ProcessedPart part, std::string_view told,
            format::FormatContext& context);
  void tellBody(ProcessedMessage& message, std::string_view data, bool end, Waits waits);
  void tellTrailers(ProcessedMessage& message);
  ToldHeaders requestHeaders(const http::RequestHead& head, std::string_view scheme) const;

  // ---- ext_proc_answers.cc: what the service says ----
  void onCallMessage(std::string_view bytes) override;
  Going hear(std::string_view bytes);
  void onCallEnd(const calls::CallAnswer& answer) override;
  void onHttpAnswer(const calls::CallAnswer& answer);
  void onTimeout();
  void onMoreTime(int64_t ms);
  void overrideMode(const plan::ProcessingMode& said);
  Outcome handle(const ProcessingAnswer& answer);
  // The parts: ext_proc_parts.cc.
  Outcome handleHead(ProcessedMessage& message, std::string_view part);
  Outcome handleBody(ProcessedMessage& message, std::string_view part);
  Outcome handleTrailers(ProcessedMessage& message, std::string_view part);
  Outcome goOnAfterHead(ProcessedMessage& message);
  Outcome applyWhole(ProcessedMessage& message, const PartAnswer& answer);
  Outcome applyPiece(ProcessedMessage& message, const PartAnswer& answer, bool* goes_on);
  Outcome applyPart(ProcessedMessage& message, const PartAnswer& answer);
  Outcome replace(ProcessedMessage& message, const PartAnswer& answer);
  std::string_view editHead(ProcessedMessage& message, const PartAnswer& answer);
  bool hasOtherLength(ProcessedMessage& message, size_t bytes);
  void dropLength(ProcessedMessage& message);
  void clearRoute(const PartAnswer& answer);
  void takeMetadata(const ProcessingAnswer& answer, const ProcessedMessage& message);
  bool isLast(const ProcessingAnswer& answer, bool was_last_body) const;
  bool endsBody(const ProcessingAnswer& answer) const;
  void answerAtOnce(const ProcessingAnswer& answer);
  // Nothing more is asked: all goes on as it is. `status`: as stopWaiting().
  Going goOnUntold(int64_t status);
  // Gives the client that in place of whatever there is. The filter is gone when it returns.
  void refuse(uint16_t status, std::string_view details, int64_t grpc_status);
  void answerWith(uint16_t status, int64_t grpc_status);
  bool failsOpen() const;

  // ---- ext_proc_going.cc: what goes on ----
  Going goOn(ProcessedMessage& message, bool may_end);
  Going giveHead(ProcessedMessage& message, bool ends);
  Going giveData(ProcessedMessage& message, std::string bytes, bool end);
  Going giveTrailers(ProcessedMessage& message);
  template <typename Give>
  Going give(Give give_it);

  // ReplyEditor
  void edit(http::HeaderMap& headers, Arena& arena) override;

  ProcessedMessage& messageOf(bool is_request) { return is_request ? request_ : response_; }
  Deadline& deadlineOf(const ProcessedMessage& message) {
    return message.is_request ? request_deadline_ : response_deadline_;
  }
  size_t limitOf(const ProcessedMessage& message) const {
    const uint32_t limit = message.is_request ? place_.requestBufferLimit() : place_.bufferLimit();
    return limit == 0 ? SIZE_MAX : limit;
  }
  ProcessedPart partOf(const ProcessedMessage& message, ProcessedPart of_request) const {
    return static_cast<ProcessedPart>(static_cast<uint8_t>(of_request) +
                                      (message.is_request ? 0 : 1));
  }
  bool observes() const { return settings_.plan.observability_mode; }
  bool speaksHttp() const { return settings_.plan.http.has_value(); }
  void count(Counter counter, uint64_t times = 1) {
    if (times > 0) stats_.add(counter, times);
  }

  const ExtProcSettings& settings_;
  const FilterScope& scope_;
  FilterPlace& place_;
  stats::Shard<stats::HttpExtProc>& stats_;
  const calls::Service* service_;
  const std::vector<std::string>* forwarding_;
  const std::vector<std::string>* receiving_;
  const std::vector<std::string>* of_cluster_;
  const std::vector<std::string>* forwarding_typed_;
  const std::vector<std::string>* of_cluster_typed_;
  const ToldInstead* attributes_;
  // Null: nobody asks for them.
  std::shared_ptr<ProcFigures> figures_;
  bool failure_mode_allow_;
  plan::ProcessingMode mode_;
  calls::Call call_;
  Deadline request_deadline_{*this};
  Deadline response_deadline_{*this};
  ProcessedMessage request_{true};
  ProcessedMessage response_{false};
  RequestMetadata metadata_;
  // Set while something is given on.
  bool* is_gone_ = nullptr;
  // Whose trailers are asked for; null: nobody's.
  const ProcessedMessage* gives_trailers_of_ = nullptr;
  LocalReply reply_{500, {}, {}};
  std::string reply_body_;
  std::string reply_details_;
  // HeaderMutation
  std::string reply_head_;
  bool is_open_ = false;
  // While the service is heard.
  bool is_hearing_ = false;
  // There was a host to tell.
  bool has_begun_ = false;
  // The service is neither told nor heard any more.
  bool is_done_ = false;
  bool has_told_protocol_ = false;
  bool clears_route_ = false;
  bool hides_calls_;
};

template <typename Give>
ExtProc::Going ExtProc::give(Give give_it) {
  bool is_gone = false;
  bool* const outer = std::exchange(is_gone_, &is_gone);
  give_it();
  if (is_gone) {
    if (outer) *outer = true;
    return Going::Gone;
  }
  is_gone_ = outer;
  return Going::On;
}

}  // namespace fairlead::filters
