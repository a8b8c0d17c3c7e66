// Bytes from one socket to another without passing through user space: splice(2) by way of a pipe.
// Worth it when 64 KiB and more are still to come (-40 % to -55 % CPU), a loss below 16 KiB.
// One worker's; the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/file_descriptor.h"

namespace fairlead::net {

// A pipe and what it holds. One that is not empty is never used for another stream.
struct SplicePipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
  size_t held = 0;

  bool valid() const { return read_end.valid(); }
};

// Keeps a few empty pipes: making one costs more than a small body.
class SplicePipes {
 public:
  SplicePipe take();
  void give(SplicePipe pipe);

 private:
  static constexpr size_t kMaxKept = 64;
  std::vector<SplicePipe> kept_;
};

class Splice {
 public:
  explicit Splice(SplicePipes& pipes) : pipes_(pipes), pipe_(pipes.take()) {}
  Splice(const Splice&) = delete;
  Splice& operator=(const Splice&) = delete;
  ~Splice() { pipes_.give(std::move(pipe_)); }

  // False: the system gives no pipes; bytes must be copied.
  bool valid() const { return pipe_.valid(); }

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
  SplicePipes& pipes_;
  SplicePipe pipe_;
};

}  // namespace fairlead::net
