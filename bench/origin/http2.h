// The origin's side of one HTTP/2 connection, by prior knowledge: GET /N is answered with N bytes,
// anything to /grpc/N as a gRPC method would, with a message of N bytes and trailers, once the
// request has ended. What is no HTTP/2 of a proxy ends the connection; nothing is checked that a
// proxy under test would not get wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "native/http/http2/frames.h"
#include "native/http/http2/hpack_decoder.h"
#include "native/http/http2/hpack_encoder.h"

namespace fairlead::bench {

class Http2 {
 public:
  Http2();

  // Takes what whole frames there are of `bytes` and answers behind `out`. Negative: the connection
  // must be closed; otherwise how many bytes were used.
  ptrdiff_t receive(std::string_view bytes);
  // More to be written, where windows let bodies go on.
  void fill();

  std::string out;

 private:
  struct Request {
    size_t body_bytes = 0;
    bool is_grpc = false;
  };
  struct Answer {
    uint32_t stream;
    size_t left;
    bool is_grpc;
    // Of gRPC: what goes before its message has not gone.
    bool begins;
  };

  bool onFrame(const http2::FrameHead& head, std::string_view payload);
  bool onHeaders(const http2::FrameHead& head, std::string_view payload);
  void onData(const http2::FrameHead& head, std::string_view payload);
  void onSettings(std::string_view payload);
  bool readRequest(std::string_view block, Request* request);
  void answer(uint32_t stream, const Request& request);
  void writeHeaders(uint32_t stream, bool end, std::string_view status, std::string_view type,
                    std::string_view length, std::string_view grpc_status);
  void frame(http2::FrameType type, uint8_t flags, uint32_t stream, std::string_view payload);
  int64_t& windowOf(uint32_t stream);

  http2::HpackDecoder decoder_{4096};
  http2::HpackEncoder encoder_{true};
  fairlead::Arena arena_{4096};
  bool has_begun_ = false;
  // Requests whose body is still to come; a block whose rest is.
  std::unordered_map<uint32_t, Request> open_;
  std::string block_;
  bool block_ends_ = false;
  // Bodies that wait for windows, one frame of each in turn.
  std::deque<Answer> answers_;
  int64_t window_ = http2::kDefaultWindow;
  int64_t initial_window_ = http2::kDefaultWindow;
  // Of the streams that were told otherwise.
  std::unordered_map<uint32_t, int64_t> windows_;
  uint32_t frame_bytes_ = http2::kDefaultFrameBytes;
  uint32_t received_ = 0;
};

}  // namespace fairlead::bench
