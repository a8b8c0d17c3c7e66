// The messages of a streamed answer, which may end as Connect has it: with a frame of JSON that
// says how the call went, and is no message. One answer's; the worker's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/grpc_frames.h"

namespace fairlead::filters {

class ConnectFrames {
 public:
  void add(std::string_view data);
  // Messages that have begun.
  uint64_t count() const { return count_; }
  // The last frame has come, and tells of no error.
  bool hasSucceeded() const { return state_ == State::Succeeded; }

 private:
  enum class State : uint8_t { Messages, LastFrame, Succeeded, Failed };

  void endFrame();

  http::GrpcFrames frames_;
  uint64_t count_ = 0;
  // The last frame, with its header.
  std::string last_;
  State state_ = State::Messages;
  bool is_in_frame_ = false;
};

}  // namespace fairlead::filters
