// Bytes from one socket to another without passing through user space: splice(2) by way of a pipe.
// Worth it when 64 KiB and more are still to come (-40 % to -55 % CPU), a loss below 16 KiB.
// One worker's; the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/resting.h"
#include "net/file_descriptor.h"

namespace fairlead::net {

// A pipe and what it holds. One that is not empty is never used for another stream.
struct SplicePipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
  size_t held = 0;

  bool valid() const { return read_end.valid(); }
};

// All pipes of a worker. Empty ones are kept for a while: making one costs more than a small body.
// There is a most of them, since each takes two descriptors, and the system has only so much memory
// for pipes: beyond it, bytes are copied.
class SplicePipes {
 public:
  static constexpr size_t kMaxOpen = 256;
  static constexpr size_t kMaxResting = 64;

  // Not valid: there are no more.
  SplicePipe take();
  void give(SplicePipe pipe);
  // Closes those that nobody needed since the previous call.
  void trim();
  size_t open() const { return open_; }

 private:
  SplicePipe make();

  Resting<SplicePipe> resting_{kMaxResting};
  // In use or resting.
  size_t open_ = 0;
  // The system refused one: it is not asked again before another one is given back, or trim().
  bool is_refused_ = false;
};

class Splice {
 public:
  // Null: there are no pipes; bytes must be copied.
  static std::unique_ptr<Splice> begin(SplicePipes& pipes);
  Splice(const Splice&) = delete;
  Splice& operator=(const Splice&) = delete;
  ~Splice() { pipes_.give(std::move(pipe_)); }

  enum class Stop : uint8_t {
    SourceEmpty,  // An event will tell of more.
    SourceEnded,
    SourceFailed,
    SinkFull,  // An event will tell of room; the pipe may hold bytes.
    SinkFailed,
    Limit,  // All that was asked for was moved.
    Yield,  // More could be moved, but others wait: go on in the next turn.
  };
  struct Moved {
    Stop stop;
    uint64_t taken;    // Left the source.
    uint64_t written;  // Reached the sink.
  };
  // Moves until something stops it; at most `limit` bytes leave the source.
  Moved move(int source, int sink, uint64_t limit);
  size_t held() const { return pipe_.held; }

 private:
  Splice(SplicePipes& pipes, SplicePipe pipe) : pipes_(pipes), pipe_(std::move(pipe)) {}

  SplicePipes& pipes_;
  SplicePipe pipe_;
};

}  // namespace fairlead::net
