// A request's way through an external processor.
#include "filters/http/ext_proc_filter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "calls/calls.h"
#include "log/log.h"
#include "net/loop.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kProcess = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

}  // namespace

ExtProc::ExtProc(const ExtProcSettings& settings, const FilterScope& scope, FilterPlace& place)
    : settings_(settings),
      scope_(scope),
      place_(place),
      stats_(*settings.stats->shard(scope.worker + 1)),
      service_(settings.service.get()),
      forwarding_(&settings.plan.forwarding_namespaces),
      receiving_(&settings.plan.receiving_namespaces),
      of_cluster_(&settings.plan.cluster_namespaces),
      forwarding_typed_(&settings.plan.forwarding_typed_namespaces),
      of_cluster_typed_(&settings.plan.cluster_typed_namespaces),
      attributes_(&settings.attributes),
      figures_(figuresOf(settings.name, scope.notes)),
      failure_mode_allow_(settings.plan.failure_mode_allow),
      mode_(settings.mode),
      call_(*this),
      hides_calls_(settings.plan.hides_calls) {
  readRoute();
  request_.setMode(mode_);
  response_.setMode(mode_);
  scope.calls->prepare(*service_);
  // What an answer's head says may have its body told.
  if (response_.body_mode != Body::None || settings.plan.allow_mode_override ||
      response_.sends_head || response_.sends_trailers) {
    scope.notes.sees_response_body = true;
  }
  if (!settings.response_attributes.empty() || !attributes_->response.empty()) {
    scope.notes.keeps_request_head = true;
  }
}

ExtProc::~ExtProc() {
  request_deadline_.disarm();
  response_deadline_.disarm();
  if (is_gone_) *is_gone_ = true;
}

// Of each thing the most specific place that says it.
void ExtProc::readRoute() {
  bool has_mode = false;
  bool has_allow = false;
  bool has_hiding = false;
  const auto& plan = settings_.plan;
  for (const route::FilterConfig* config : place_.routeConfigs()) {
    const ExtProcRoute* const route = ExtProcRoute::of(config);
    if (!route) continue;
    if (route->plan.mode && !std::exchange(has_mode, true)) mode_ = *route->plan.mode;
    if (route->service && !speaksHttp() && service_ == settings_.service.get()) {
      service_ = route->service.get();
    }
    const auto names = [](const std::vector<std::string>& own,
                          const std::vector<std::string>& of_filter,
                          const std::vector<std::string>** out) {
      if (*out == &of_filter) *out = &own;
    };
    if (const auto& own = route->plan.forwarding_namespaces) {
      names(own->names, plan.forwarding_namespaces, &forwarding_);
      names(own->typed, plan.forwarding_typed_namespaces, &forwarding_typed_);
    }
    if (const auto& own = route->plan.receiving_namespaces) {
      names(own->names, plan.receiving_namespaces, &receiving_);
    }
    if (const auto& own = route->plan.cluster_namespaces) {
      names(own->names, plan.cluster_namespaces, &of_cluster_);
      names(own->typed, plan.cluster_typed_namespaces, &of_cluster_typed_);
    }
    if (route->attributes && attributes_ == &settings_.attributes) {
      attributes_ = &*route->attributes;
    }
    if (route->plan.hides_calls && !std::exchange(has_hiding, true)) {
      hides_calls_ = *route->plan.hides_calls;
    }
    if (route->plan.failure_mode_allow && !std::exchange(has_allow, true)) {
      failure_mode_allow_ = *route->plan.failure_mode_allow;
    }
  }
}

// ---- its stream ----

bool ExtProc::open() {
  if (is_done_) return false;
  if (figures_) figures_->noteDestination(service_->plan.cluster);
  if (speaksHttp()) has_begun_ = true;
  if (is_open_ || speaksHttp()) return true;
  is_open_ = true;
  // What is less specific comes first: a later value takes an earlier one's place.
  std::vector<const route::MutationList*> more;
  for (const route::FilterConfig* config : place_.routeConfigs()) {
    const ExtProcRoute* const route = ExtProcRoute::of(config);
    if (route && !route->metadata.empty()) more.insert(more.begin(), &route->metadata);
  }
  format::FormatContext context;
  place_.describe(&context);
  if (!hides_calls_) call_.traceIn(place_.trace());
  call_.openGrpc(*scope_.calls, *service_, kProcess, &context, more);
  // Of one that never was, its end says all.
  has_begun_ = !call_.hasFailed();
  if (has_begun_) count(Counter::StreamsStarted);
  return true;
}

void ExtProc::closeStream() {
  if (!std::exchange(is_open_, false)) return;
  // Its host hears that nothing more is asked, and that nobody listens. Where it has just said
  // something the real server's codec leaves out the first.
  if (!is_hearing_) call_.finish();
  call_.cancel();
  count(Counter::StreamsClosed);
}

// What was told may still be on its way.
void ExtProc::leaveStream() {
  if (!std::exchange(is_open_, false)) return;
  stats::Shard<stats::HttpExtProc>* const stats = &stats_;
  std::shared_ptr<stats::Block<stats::HttpExtProc>> kept = settings_.stats;
  call_.leave(settings_.plan.deferred_close_ms,
              [stats, kept = std::move(kept)] { stats->add(Counter::StreamsClosed); });
}

void ExtProc::onEnd() {
  is_done_ = true;
  request_deadline_.disarm();
  response_deadline_.disarm();
  if (observes()) {
    leaveStream();
  } else {
    closeStream();
  }
  call_.cancel();
}

void ExtProc::waitFor(ProcessedMessage& message, Waits waits) {
  message.waits = waits;
  message.had_more_time = false;
  net::Loop& loop = place_.loop();
  message.told_at_us = loop.nowMicros();
  if (message.isDuplex()) return;
  loop.timers().arm(&deadlineOf(message), loop.now() + settings_.plan.message_timeout_ms);
}

void ExtProc::stopWaiting(ProcessedMessage& message, Waits next, int64_t status) {
  noteBytes();
  const uint64_t told_at_us = std::exchange(message.told_at_us, 0);
  if (figures_ && told_at_us > 0 && message.waits != Waits::Nothing) {
    const ProcFigures::Part part = message.waits == Waits::Head       ? ProcFigures::Part::Head
                                   : message.waits == Waits::Trailers ? ProcFigures::Part::Trailers
                                                                      : ProcFigures::Part::Body;
    figures_->note(message.is_request, part, place_.loop().nowMicros() - told_at_us, status);
  }
  message.waits = next;
  message.had_more_time = false;
  deadlineOf(message).disarm();
}

// Nothing is known of other services.
void ExtProc::noteBytes() {
  if (figures_ && is_open_ && !service_->isGoogle()) figures_->noteBytes(call_.bytes());
}

void ExtProc::noteEffect(const ProcessedMessage& message, ProcFigures::Part part,
                         EditEffect effect) {
  if (figures_ && effect != EditEffect::None) {
    figures_->noteEffect(message.is_request, part, effect);
  }
}

// ---- heads ----

FilterStatus ExtProc::onRequestHead(http::RequestHead& head, const route::RequestView& view,
                                    bool end) {
  request_.is_complete = end;
  request_.ends_apart = head.version <= http::Version::Http11;
  FilterStatus status = FilterStatus::Continue;
  if (request_.sends_head) {
    format::FormatContext context;
    place_.describe(&context);
    status = takeHead(request_, requestHeaders(head, view.scheme), end, context);
  }
  if (!is_done_ && !observes() && request_.losesLength() && !settings_.plan.allow_content_length) {
    head.headers.remove(http::HeaderId::ContentLength);
  }
  if (status == FilterStatus::Continue && end) request_.has_ended = true;
  return status;
}

FilterStatus ExtProc::onResponseHead(uint16_t status, http::HeaderMap& headers, bool end, Arena&) {
  response_.is_complete = end;
  FilterStatus decided = FilterStatus::Continue;
  format::FormatContext context;
  if (!is_done_) {
    place_.describe(&context);
    response_.ends_apart =
        context.details == "via_upstream" && context.upstream_protocol.starts_with("HTTP/1");
  }
  if (!is_done_ && response_.sends_head) {
    context.status = status;
    context.response_headers = &headers;
    ToldHeaders told(settings_);
    told.add(":status", std::to_string(status));
    told.addAll(headers);
    decided = takeHead(response_, told, end, context);
  }
  if (!is_done_ && !observes() && response_.losesLength() && !settings_.plan.allow_content_length) {
    headers.remove(http::HeaderId::ContentLength);
  }
  if (!is_done_ && !response_.isTold()) {
    is_done_ = true;
    closeStream();
  }
  if (decided == FilterStatus::Continue && end) response_.has_ended = true;
  return decided;
}

FilterStatus ExtProc::takeHead(ProcessedMessage& message, const ToldHeaders& headers, bool end,
                               format::FormatContext& context) {
  if (!open()) return FilterStatus::Continue;
  log::debug(log::Component::ExtProc, "Sending headers message");
  tell(message, partOf(message, ProcessedPart::RequestHead), toldHead(headers, end), context);
  if (observes()) return FilterStatus::Continue;
  message.has_no_body = end;
  message.is_head_held = true;
  waitFor(message, Waits::Head);
  return FilterStatus::Pause;
}

void ExtProc::onRequestHeadReleased(http::RequestHead&, Arena&) {
  if (std::exchange(clears_route_, false)) place_.clearRoute();
}

// ---- bodies ----

FilterStatus ExtProc::onRequestData(std::string_view data, bool end) {
  return takeData(request_, data, end);
}
FilterStatus ExtProc::onResponseData(std::string_view data, bool end) {
  return takeData(response_, data, end);
}

FilterStatus ExtProc::takeData(ProcessedMessage& message, std::string_view data, bool end) {
  message.has_body_begun = true;
  if (end) message.is_complete = true;
  if (observes()) return observeData(message, data, end);
  if (message.is_replaced) {
    // Of what comes, only that it is over is of use to anybody.
    if (!end || message.has_ended) return FilterStatus::Take;
    message.has_ended = true;
    return message.is_head_held ? FilterStatus::Take : FilterStatus::Replace;
  }
  if (is_done_) {
    if (end) message.has_ended = true;
    return FilterStatus::Continue;
  }
  const bool is_first = message.waits == Waits::Head;
  const bool goes_at_once = message.isDuplex() || (message.body_mode == Body::Streamed &&
                                                   settings_.plan.send_body_without_waiting);
  if (is_first && !goes_at_once) {
    message.held.append(data);
    if (message.body_mode == Body::Buffered && message.held.size() > limitOf(message)) {
      return FilterStatus::TooLarge;
    }
    holdBack(message, message.held.size());
    return FilterStatus::Take;
  }
  switch (message.body_mode) {
    case Body::Buffered:
      return takeWhole(message, data, end);
    case Body::Streamed:
    case Body::FullDuplexStreamed:
      return takePiece(message, data, end);
    case Body::BufferedPartial:
      return takePart(message, data, end);
    default:
      if (end) message.has_ended = true;
      return FilterStatus::Continue;
  }
}

FilterStatus ExtProc::takeWhole(ProcessedMessage& message, std::string_view data, bool end) {
  message.held.append(data);
  if (message.held.size() > limitOf(message)) return FilterStatus::TooLarge;
  if (end && open()) tellBody(message, message.held, true, Waits::WholeBody);
  return FilterStatus::Take;
}

FilterStatus ExtProc::takePiece(ProcessedMessage& message, std::string_view data, bool end) {
  // Nobody could do anything with it.
  if (data.empty() && !end) return FilterStatus::Take;
  if (!open()) return FilterStatus::Continue;
  const auto tellPiece = [&](std::string_view piece, bool is_last) {
    if (!message.isDuplex()) {
      message.add(piece, is_last);
      holdBack(message, message.queued_bytes);
    }
    tellBody(message, piece, is_last, message.waits == Waits::Head ? Waits::Head : Waits::Pieces);
  };
  const bool ends_apart = end && message.ends_apart && !data.empty();
  tellPiece(data, end && !ends_apart);
  if (ends_apart) tellPiece({}, true);
  return FilterStatus::Take;
}

FilterStatus ExtProc::takePart(ProcessedMessage& message, std::string_view data, bool end) {
  if (message.is_part_done) {
    if (end) message.has_ended = true;
    return FilterStatus::Continue;
  }
  message.add(data, end);
  if (message.waits == Waits::PartOfBody) return FilterStatus::Take;
  if (end || message.queued_bytes > limitOf(message)) {
    if (!open()) return FilterStatus::Take;
    message.joinPieces();
    holdBack(message, message.queued_bytes);
    tellBody(message, message.pieces.front().bytes, end, Waits::PartOfBody);
  }
  return FilterStatus::Take;
}

// Of bodies it is told piece by piece, or nothing.
FilterStatus ExtProc::observeData(ProcessedMessage& message, std::string_view data, bool end) {
  if (message.body_mode == Body::Streamed && open()) {
    const bool ends_apart = end && message.ends_apart && !data.empty();
    tellBody(message, data, end && !ends_apart, Waits::Nothing);
    if (ends_apart) tellBody(message, {}, true, Waits::Nothing);
  } else if (message.body_mode != Body::None && !is_done_) {
    log::error(log::Component::ExtProc, "Wrong body mode for observability mode, no data is sent.");
  }
  return FilterStatus::Continue;
}

void ExtProc::holdBack(ProcessedMessage& message, size_t bytes) {
  if (bytes <= limitOf(message) || std::exchange(message.pauses_sender, true)) return;
  if (message.is_request) {
    place_.pauseRequest();
  } else {
    place_.pauseResponse();
  }
}

void ExtProc::letSenderGoOn(ProcessedMessage& message) {
  if (!std::exchange(message.pauses_sender, false)) return;
  if (message.is_request) {
    place_.resumeRequest();
  } else {
    place_.resumeResponse();
  }
}

// ---- trailers ----

FilterStatus ExtProc::onRequestTrailers(http::HeaderMap& trailers) {
  return takeTrailers(request_, trailers);
}
FilterStatus ExtProc::onResponseTrailers(http::HeaderMap& trailers) {
  return takeTrailers(response_, trailers);
}

FilterStatus ExtProc::takeTrailers(ProcessedMessage& message, http::HeaderMap& trailers) {
  const bool was_complete = std::exchange(message.is_complete, true);
  if (is_done_ || message.is_replaced) {
    message.has_ended = true;
    return FilterStatus::Continue;
  }
  message.trailers.save({}, {}, {}, trailers);
  message.has_trailers = true;
  if (observes()) {
    if (message.sends_trailers && open()) tellTrailers(message);
    message.has_ended = true;
    return FilterStatus::Continue;
  }
  if (message.waits != Waits::Nothing && !message.isDuplex()) return FilterStatus::Take;
  const bool has_whole = message.body_mode == Body::Buffered && message.has_body_begun;
  const bool has_part = message.body_mode == Body::BufferedPartial && !message.pieces.empty();
  if (!was_complete && (has_whole || has_part)) {
    if (!open()) return FilterStatus::Take;
    if (has_whole) {
      tellBody(message, message.held, false, Waits::WholeBody);
    } else {
      message.joinPieces();
      tellBody(message, message.pieces.front().bytes, false, Waits::PartOfBody);
    }
    return FilterStatus::Take;
  }
  if (!message.sends_trailers || !open()) {
    message.has_ended = true;
    message.is_head_held = false;
    return FilterStatus::Continue;
  }
  tellTrailers(message);
  return FilterStatus::Take;
}

bool ExtProc::addTrailers(http::HeaderMap& trailers, Arena&) const {
  if (!gives_trailers_of_) return false;
  gives_trailers_of_->trailers.restore(&trailers);
  return true;
}

}  // namespace fairlead::filters
