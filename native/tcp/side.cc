#include "tcp/side.h"

#include <sys/epoll.h>
#include <sys/socket.h>

namespace fairlead::tcp {

namespace {
// A splice that moved less than this in one event is not worth its pipe.
constexpr uint64_t kWorthSplicingBytes = 16 * 1024;
}  // namespace

bool Side::onFirstEvent(uint32_t events) {
  if (!connecting_) return true;
  if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  connecting_ = false;
  callbacks_.onConnectResult(*this, error);
  return error == 0;
}

void Side::join(Side& other) { other_ = &other; }

void Side::part() {
  other_ = nullptr;
  splice_.reset();
  endWriting();
}

void Side::relay() {
  while (!over_ && other_ && isReadable() && !isReadingPaused()) {
    if (splice_) {
      if (!spliceOn()) return;
      continue;
    }
    const Read got = read();
    switch (got.result) {
      case ReadResult::Nothing:
        return;
      case ReadResult::End:
        finishReading();
        return;
      case ReadResult::Failed:
        fail();
        return;
      case ReadResult::Data:
        copyOn(got);
        break;
    }
  }
}

void Side::copyOn(const Read& got) {
  batch_.claim(other_);
  batch_.addView({got.data, got.size});
  other_->send(batch_);
  callbacks_.onMoved(*this);
  if (over_) return;
  if (other_->isOverHighWatermark()) {
    paused_by_other_ = true;
    pauseReading();
    callbacks_.onFlowControl(*this, true);
    return;
  }
  if (got.size == net::Loop::kReadBufferBytes && other_->pendingBytes() == 0) {
    splice_ = std::make_unique<net::Splice>(pipes_);
    if (!splice_->valid()) splice_.reset();
  }
}

bool Side::spliceOn() {
  const net::Splice::Moved moved = splice_->move(fd(), other_->fd(), UINT64_MAX);
  read_bytes_ += moved.taken;
  other_->written_bytes_ += moved.written;
  if (moved.taken + moved.written > 0) callbacks_.onMoved(*this);
  if (over_) return false;
  switch (moved.stop) {
    case net::Splice::Stop::SourceEmpty:
      markUnreadable();
      if (moved.taken < kWorthSplicingBytes) splice_.reset();
      return false;
    case net::Splice::Stop::SinkFull:
      other_->markUnwritable();
      return false;
    case net::Splice::Stop::Limit:
    case net::Splice::Stop::Yield:
      loop().defer(this);
      return false;
    case net::Splice::Stop::SourceEnded:
      finishReading();
      return false;
    case net::Splice::Stop::SourceFailed:
      fail();
      return false;
    case net::Splice::Stop::SinkFailed:
      other_->fail();
      return false;
  }
  return false;
}

void Side::finishReading() {
  ended_ = true;
  splice_.reset();
  markUnreadable();
  other_->endWriting();
  callbacks_.onEnded(*this);
}

void Side::onWritable() {
  // The other side's splice waited for room here.
  if (other_ && other_->splice_) other_->relay();
}

void Side::onDrained() {
  resumeOther();
  if (!over_) callbacks_.onDrained(*this);
}

void Side::resumeOther() {
  if (!other_ || over_) return;
  if (other_->paused_by_other_ && !isOverHighWatermark()) {
    other_->paused_by_other_ = false;
    callbacks_.onFlowControl(*other_, false);
    other_->resumeReading();
  }
}

void Side::writeAll(std::string_view bytes) {
  batch_.claim(this);
  batch_.addView(bytes);
  send(batch_);
}

void Side::fail() {
  if (!over_) callbacks_.onBroken(*this);
}

void Side::end(CloseKind kind) {
  if (over_) return;
  over_ = true;
  other_ = nullptr;
  splice_.reset();
  batch_.dropOf(this);
  close(kind);
}

}  // namespace fairlead::tcp
