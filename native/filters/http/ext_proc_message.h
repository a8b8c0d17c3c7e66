// What becomes of one message, a request or its answer, while an external processor is told of it.
// Part of a filter; the worker's thread.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "http/saved_head.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

struct ProcessedMessage {
  using Mode = plan::ProcessingMode;
  using Body = plan::ProcessingMode::Body;

  // For whose answer: of a head, of a body as a whole, of its pieces one by one, of as much as
  // there was room for, of trailers.
  enum class Waits : uint8_t { Nothing, Head, WholeBody, Pieces, PartOfBody, Trailers };

  struct Piece {
    std::string bytes;
    bool end;
  };

  explicit ProcessedMessage(bool of_request) : is_request(of_request) {}

  void setMode(const Mode& mode) {
    sends_head = (is_request ? mode.request_head : mode.response_head) != Mode::Head::Skip;
    sends_trailers =
        (is_request ? mode.request_trailers : mode.response_trailers) == Mode::Head::Send;
    body_mode = is_request ? mode.request_body : mode.response_body;
  }
  bool isTold() const { return sends_head || sends_trailers || body_mode != Body::None; }
  bool isDuplex() const { return body_mode == Body::FullDuplexStreamed; }
  // The service may change the body's length, and is not there to say so in the head.
  bool losesLength() const {
    return body_mode == Body::Streamed || isDuplex() || body_mode == Body::BufferedPartial ||
           (body_mode == Body::Buffered && !sends_head);
  }
  // What was told piece by piece is gone: nothing could go on without an answer.
  bool canGoOnUntold() const { return !isDuplex() || !has_told_body; }

  void add(std::string_view data, bool end) {
    queued_bytes += data.size();
    pieces.push_back({std::string(data), end});
  }
  Piece takePiece() {
    Piece piece = std::move(pieces.front());
    pieces.pop_front();
    queued_bytes -= piece.bytes.size();
    return piece;
  }
  // All pieces are one from here on.
  void joinPieces() {
    while (pieces.size() > 1) {
      pieces.front().bytes.append(pieces[1].bytes);
      pieces.front().end = pieces[1].end;
      pieces.erase(pieces.begin() + 1);
    }
  }

  const bool is_request;
  bool sends_head = false;
  bool sends_trailers = false;
  Body body_mode = Body::None;
  Waits waits = Waits::Nothing;
  // Its head waits with the filter's place.
  bool is_head_held = false;
  // It is a head and nothing else.
  bool has_no_body = false;
  // All of its body has come.
  bool is_complete = false;
  // HTTP/1 tells of the end by itself, after all bytes have come, to whoever is told piece by
  // piece.
  bool ends_apart = false;
  bool has_body_begun = false;
  bool has_told_body = false;
  // The service has put another body in the place of what comes.
  bool is_replaced = false;
  bool is_part_done = false;
  bool has_trailers = false;
  bool has_told_trailers = false;
  bool has_told_attributes = false;
  // When what it waits for was told; 0: nothing was since it was last answered.
  uint64_t told_at_us = 0;
  // More time was asked for since the latest part was told.
  bool had_more_time = false;
  // Its end has gone on.
  bool has_ended = false;
  bool pauses_sender = false;
  // Of the body: what waits for the head's answer, or is told as a whole.
  std::string held;
  // What was told, or will be, in pieces, in their order.
  std::deque<Piece> pieces;
  size_t queued_bytes = 0;
  http::SavedHead trailers;
};

}  // namespace fairlead::filters
