#include "net/splice.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace fairlead::net {

namespace {
constexpr int kPipeBytes = 512 * 1024;
constexpr int kLeastPipeBytes = 64 * 1024;
// Bytes that one stream moves before the others of its worker have their turn.
constexpr uint64_t kTurnBytes = 2 * 1024 * 1024;
}  // namespace

SplicePipe SplicePipes::take() {
  if (std::optional<SplicePipe> pipe = resting_.take()) return std::move(*pipe);
  if (is_refused_ || open_ >= kMaxOpen) return {};
  SplicePipe pipe = make();
  is_refused_ = !pipe.valid();
  if (pipe.valid()) ++open_;
  return pipe;
}

SplicePipe SplicePipes::make() {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return {};
  SplicePipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1]), 0};
  // Refused beyond the user's quota, where new pipes are small too: those are slower than copying.
  const bool is_large = ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes) >= 0 ||
                        ::fcntl(ends[1], F_GETPIPE_SZ) >= kLeastPipeBytes;
  return is_large ? std::move(pipe) : SplicePipe();
}

void SplicePipes::give(SplicePipe pipe) {
  is_refused_ = false;
  if (pipe.held > 0 || !resting_.give(pipe)) --open_;
}

void SplicePipes::trim() {
  is_refused_ = false;
  open_ -= resting_.trim();
}

std::unique_ptr<Splice> Splice::begin(SplicePipes& pipes) {
  SplicePipe pipe = pipes.take();
  if (!pipe.valid()) return nullptr;
  return std::unique_ptr<Splice>(new Splice(pipes, std::move(pipe)));
}

Splice::Moved Splice::move(int source, int sink, uint64_t limit) {
  Moved moved{Stop::Limit, 0, 0};
  constexpr unsigned kFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
  for (;;) {
    while (pipe_.held > 0) {
      // Never SPLICE_F_MORE: a source that pauses would leave the last segment waiting for more.
      const ssize_t written =
          ::splice(pipe_.read_end.get(), nullptr, sink, nullptr, pipe_.held, kFlags);
      if (written <= 0) {
        if (written < 0 && errno == EINTR) continue;
        const bool full = written < 0 && errno == EAGAIN;
        moved.stop = full ? Stop::SinkFull : Stop::SinkFailed;
        return moved;
      }
      pipe_.held -= static_cast<size_t>(written);
      moved.written += static_cast<uint64_t>(written);
    }
    if (moved.taken == limit) return moved;
    if (moved.taken >= kTurnBytes) {
      moved.stop = Stop::Yield;
      return moved;
    }
    const size_t want = static_cast<size_t>(std::min<uint64_t>(limit - moved.taken, kPipeBytes));
    const ssize_t taken = ::splice(source, nullptr, pipe_.write_end.get(), nullptr, want, kFlags);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) {
      if (taken == 0) {
        moved.stop = Stop::SourceEnded;
      } else {
        moved.stop = errno == EAGAIN ? Stop::SourceEmpty : Stop::SourceFailed;
      }
      return moved;
    }
    pipe_.held += static_cast<size_t>(taken);
    moved.taken += static_cast<uint64_t>(taken);
  }
}

}  // namespace fairlead::net
