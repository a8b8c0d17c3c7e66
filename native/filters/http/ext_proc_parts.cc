// What becomes of each part of a message as an external processor says.
#include <charconv>
#include <utility>

#include "base/arena.h"
#include "filters/http/ext_proc_edits.h"
#include "filters/http/ext_proc_filter.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kSpurious = "spurious_message";

template <typename Edit>
class EditorOf final : public HeadEditor {
 public:
  explicit EditorOf(Edit edit) : edit_(std::move(edit)) {}
  void edit(http::RequestHead* request, uint16_t* status, http::HeaderMap& headers,
            Arena& arena) override {
    edit_(EditedHead{request, status, headers}, arena);
  }

 private:
  Edit edit_;
};

}  // namespace

// ---- one after the other ----

ExtProc::Outcome ExtProc::handleHead(ProcessedMessage& message, std::string_view part) {
  if (message.waits != Waits::Head) return {Outcome::Kind::Spurious, kSpurious};
  const PartAnswer answer = PartAnswer::read(part);
  const std::string_view why = editHead(message, answer);
  if (!why.empty()) return {Outcome::Kind::Failed, why};
  if (message.is_request) clearRoute(answer);
  Waits next = Waits::Nothing;
  if (!answer.replaces) {
    const bool has_pieces = message.body_mode == Body::Streamed && !message.pieces.empty();
    if (has_pieces || (message.isDuplex() && message.has_body_begun)) {
      next = Waits::Pieces;
    } else if (message.isDuplex() && message.has_trailers) {
      next = Waits::Trailers;
    }
  }
  stopWaiting(message, next);
  return answer.replaces ? replace(message, answer) : goOnAfterHead(message);
}

// What comes of the message is of no interest from here on.
ExtProc::Outcome ExtProc::replace(ProcessedMessage& message, const PartAnswer& answer) {
  if (answer.has_body) {
    dropLength(message);
    message.is_replaced = true;
    if (answer.change == PartAnswer::Body::Set) {
      message.held = answer.body;
    } else if (answer.change == PartAnswer::Body::Cleared) {
      message.held.clear();
    }
  }
  message.pieces.clear();
  message.queued_bytes = 0;
  message.body_mode = Body::None;
  message.sends_trailers = false;
  letSenderGoOn(message);
  return goOn(message, true);
}

ExtProc::Outcome ExtProc::goOnAfterHead(ProcessedMessage& message) {
  const auto tellHeld = [&](bool end) {
    if (!message.held.empty() || end) {
      std::string held = std::exchange(message.held, {});
      tellBody(message, held, end, Waits::Pieces);
      message.add(held, end);
    }
    if (message.queued_bytes <= limitOf(message)) letSenderGoOn(message);
  };
  if (!message.has_no_body) {
    if (message.is_complete && message.body_mode != Body::None && message.has_body_begun) {
      if (message.waits == Waits::Nothing) {
        // It is here as a whole, however it was to be told.
        tellBody(message, message.held, !message.has_trailers, Waits::WholeBody);
        return {};
      }
      if (message.isDuplex()) return goOn(message, false);
      if (!message.held.empty()) tellHeld(!message.has_trailers);
      return {};
    }
    switch (message.body_mode) {
      case Body::Buffered:
        if (!message.is_complete) {
          letSenderGoOn(message);
          return {};
        }
        break;
      case Body::Streamed:
        if (!message.is_complete) {
          tellHeld(false);
          return goOn(message, false);
        }
        break;
      case Body::FullDuplexStreamed:
        if (!message.is_complete) return goOn(message, false);
        break;
      case Body::BufferedPartial:
        if (!message.is_complete) {
          if (!message.held.empty()) message.add(std::exchange(message.held, {}), false);
          if (message.queued_bytes > limitOf(message)) {
            message.joinPieces();
            tellBody(message, message.pieces.front().bytes, false, Waits::PartOfBody);
          } else {
            letSenderGoOn(message);
          }
          return {};
        }
        break;
      default:
        break;
    }
  }
  if (message.sends_trailers && message.has_trailers) {
    tellTrailers(message);
    if (message.isDuplex()) return goOn(message, false);
    return {};
  }
  if (goOn(message, true) == Going::Gone) return {Outcome::Kind::Gone};
  letSenderGoOn(message);
  return {};
}

ExtProc::Outcome ExtProc::handleBody(ProcessedMessage& message, std::string_view part) {
  const PartAnswer answer = PartAnswer::read(part);
  Outcome outcome;
  bool goes_on = true;
  if (answer.has_body) noteEffect(message, ProcFigures::Part::Body, EditEffect::Applied);
  switch (message.waits) {
    case Waits::WholeBody:
      outcome = applyWhole(message, answer);
      break;
    case Waits::Pieces:
      outcome = applyPiece(message, answer, &goes_on);
      break;
    case Waits::PartOfBody:
      outcome = applyPart(message, answer);
      break;
    default:
      return {Outcome::Kind::Spurious, kSpurious};
  }
  if (outcome.kind != Outcome::Kind::Fine) return outcome;
  if (message.is_request) clearRoute(answer);
  const bool is_over = message.pieces.empty() && !message.isDuplex();
  if (message.sends_trailers && message.has_trailers && message.pieces.empty() &&
      !message.has_told_trailers) {
    tellTrailers(message);
    return {};
  }
  if (goes_on || (message.has_trailers && is_over)) return goOn(message, true);
  return {};
}

ExtProc::Outcome ExtProc::applyWhole(ProcessedMessage& message, const PartAnswer& answer) {
  if (message.is_head_held) {
    const std::string_view why = editHead(message, answer);
    if (!why.empty()) return {Outcome::Kind::Failed, why};
  }
  if (answer.has_body) {
    const size_t bytes = answer.change == PartAnswer::Body::Set ? answer.body.size() : 0;
    if (message.is_head_held && hasOtherLength(message, bytes)) {
      return {Outcome::Kind::Failed,
              "mismatch_between_content_length_and_the_length_of_the_mutated_body",
              Outcome::kInternal};
    }
    if (answer.change == PartAnswer::Body::Set) message.held = answer.body;
    if (answer.change == PartAnswer::Body::Cleared) message.held.clear();
  }
  letSenderGoOn(message);
  stopWaiting(message);
  return {};
}

ExtProc::Outcome ExtProc::applyPiece(ProcessedMessage& message, const PartAnswer& answer,
                                     bool* goes_on) {
  const bool is_streamed = answer.change == PartAnswer::Body::Streamed;
  if (is_streamed && !message.isDuplex()) {
    return {Outcome::Kind::Spurious,
            "spurious message: streamed_response is received while body_mode_ is not "
            "FULL_DUPLEX_STREAMED"};
  }
  if (!is_streamed && message.isDuplex()) {
    return {Outcome::Kind::Spurious,
            "spurious message: Normal body mutation response is received while body_mode_ is "
            "FULL_DUPLEX_STREAMED"};
  }
  if (is_streamed) {
    stopWaiting(message, answer.is_last ? Waits::Nothing : Waits::Pieces);
    *goes_on = answer.is_last;
    return giveData(message, std::string(answer.body), answer.is_last);
  }
  if (message.pieces.empty()) return {Outcome::Kind::Spurious, kSpurious};
  ProcessedMessage::Piece piece = message.takePiece();
  if (answer.change == PartAnswer::Body::Set) piece.bytes = answer.body;
  if (answer.change == PartAnswer::Body::Cleared) piece.bytes.clear();
  if (message.queued_bytes < limitOf(message) / 2) letSenderGoOn(message);
  stopWaiting(message, message.pieces.empty() ? Waits::Nothing : Waits::Pieces);
  *goes_on = piece.end;
  if (piece.bytes.empty()) return {};
  return giveData(message, std::move(piece.bytes), piece.end);
}

ExtProc::Outcome ExtProc::applyPart(ProcessedMessage& message, const PartAnswer& answer) {
  if (message.is_head_held) {
    const std::string_view why = editHead(message, answer);
    if (!why.empty()) return {Outcome::Kind::Failed, why};
  }
  ProcessedMessage::Piece piece = message.takePiece();
  if (answer.change == PartAnswer::Body::Set) piece.bytes = answer.body;
  if (answer.change == PartAnswer::Body::Cleared) piece.bytes.clear();
  stopWaiting(message);
  message.is_part_done = true;
  const bool ends = piece.end && message.pieces.empty();
  if (!piece.bytes.empty() && giveData(message, std::move(piece.bytes), ends) == Going::Gone) {
    return {Outcome::Kind::Gone};
  }
  if (!message.pieces.empty()) {
    message.joinPieces();
    ProcessedMessage::Piece rest = message.takePiece();
    if (giveData(message, std::move(rest.bytes), rest.end) == Going::Gone) {
      return {Outcome::Kind::Gone};
    }
  }
  letSenderGoOn(message);
  return {};
}

ExtProc::Outcome ExtProc::handleTrailers(ProcessedMessage& message, std::string_view part) {
  if ((message.waits != Waits::Trailers && !message.isDuplex()) || !message.has_trailers ||
      message.has_ended) {
    return {Outcome::Kind::Spurious, kSpurious};
  }
  if (const std::optional<std::string_view> mutation = readTrailersAnswer(part)) {
    http::HeaderMap& trailers = scope_.calls->headers();
    message.trailers.restore(&trailers);
    Arena arena(1024);
    EditTally tally;
    const HeadLimits limits = message.is_request ? place_.requestLimits() : place_.responseLimits();
    const ProcessorEdits edits{*mutation, settings_.rules, limits};
    const std::string_view why = edits.apply(EditedHead{nullptr, nullptr, trailers}, arena, &tally);
    count(Counter::RejectedHeaderMutations, tally.rejected);
    noteEffect(message, ProcFigures::Part::Trailers, tally.effect);
    if (!why.empty()) return {Outcome::Kind::Failed, why};
    // What is saved may lie in what is there.
    http::SavedHead edited;
    edited.save({}, {}, {}, trailers);
    message.trailers = std::move(edited);
  }
  stopWaiting(message);
  return goOn(message, true);
}

// ---- heads ----

// What response code details say of it; empty: it was done.
std::string_view ExtProc::editHead(ProcessedMessage& message, const PartAnswer& answer) {
  if (!answer.head) return {};
  std::string_view why;
  EditTally tally;
  const HeadLimits limits = message.is_request ? place_.requestLimits() : place_.responseLimits();
  EditorOf editor([&](const EditedHead& head, Arena& arena) {
    const ProcessorEdits edits{*answer.head, settings_.rules, limits, answer.replaces,
                               message.losesLength() && !settings_.plan.allow_content_length};
    why = edits.apply(head, arena, &tally);
  });
  if (message.is_request) {
    place_.editRequestHead(editor);
  } else {
    place_.editResponseHead(editor);
  }
  count(Counter::RejectedHeaderMutations, tally.rejected);
  noteEffect(message,
             message.waits == Waits::Head ? ProcFigures::Part::Head : ProcFigures::Part::Body,
             tally.effect);
  return why;
}

bool ExtProc::hasOtherLength(ProcessedMessage& message, size_t bytes) {
  bool is_other = false;
  EditorOf editor([&](const EditedHead& head, Arena&) {
    const http::HeaderEntry* const length = head.headers.find(http::HeaderId::ContentLength);
    size_t said = 0;
    if (!length) return;
    const std::string_view text = length->value();
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), said);
    is_other = error == std::errc() && at == text.data() + text.size() && said != bytes;
  });
  if (message.is_request) {
    place_.editRequestHead(editor);
  } else {
    place_.editResponseHead(editor);
  }
  return is_other;
}

void ExtProc::dropLength(ProcessedMessage& message) {
  EditorOf editor(
      [](const EditedHead& head, Arena&) { head.headers.remove(http::HeaderId::ContentLength); });
  if (message.is_request) {
    place_.editRequestHead(editor);
  } else {
    place_.editResponseHead(editor);
  }
}

void ExtProc::clearRoute(const PartAnswer& answer) {
  using RouteCache = plan::ExtProc::RouteCache;
  if (!answer.head) {
    if (answer.clears_route) count(Counter::ClearRouteCacheIgnored);
    return;
  }
  switch (settings_.plan.route_cache) {
    case RouteCache::ByAnswer:
      clears_route_ = clears_route_ || answer.clears_route;
      break;
    case RouteCache::Clear:
      clears_route_ = true;
      break;
    case RouteCache::Retain:
      if (answer.clears_route) count(Counter::ClearRouteCacheDisabled);
      break;
  }
}

}  // namespace fairlead::filters
