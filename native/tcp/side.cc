#include "tcp/side.h"

namespace fairlead::tcp {

namespace {
// A splice that moved less than this in one event is not worth its pipe.
constexpr uint64_t kWorthSplicingBytes = 16 * 1024;
}  // namespace

void Side::part() {
  other_ = nullptr;
  splice_.reset();
  connection_.endWriting();
}

bool Side::mayReadOn() const {
  return !over_ && other_ && connection_.isReadable() && !connection_.isReadingPaused();
}

// Bytes may go past user space where no transport has to see them.
bool Side::canSplice() const {
  return !connection_.transport() && !other_->connection_.transport();
}

void Side::onReadable() {
  while (mayReadOn()) {
    if (splice_) {
      if (!spliceOn()) return;
      continue;
    }
    const net::Connection::Read got = connection_.read();
    switch (got.result) {
      case net::Connection::ReadResult::Nothing:
        return;
      case net::Connection::ReadResult::End:
        finishReading();
        return;
      case net::Connection::ReadResult::Failed:
        fail();
        return;
      case net::Connection::ReadResult::Data:
        copyOn(got);
        break;
    }
  }
}

void Side::copyOn(const net::Connection::Read& got) {
  net::Connection& to = other_->connection_;
  batch_.claim(to);
  batch_.addView({got.data, got.size});
  to.send(batch_);
  callbacks_.onMoved(*this);
  if (over_) return;
  if (to.isOverHighWatermark()) {
    paused_by_other_ = true;
    pauseReading();
    callbacks_.onFlowControl(*this, true);
    return;
  }
  if (got.size == net::Loop::kReadBufferBytes && to.pendingBytes() == 0 && canSplice()) {
    splice_ = net::Splice::begin(pipes_);
  }
}

bool Side::spliceOn() {
  net::Connection& to = other_->connection_;
  const net::Splice::Moved moved = splice_->move(connection_.fd(), to.fd(), UINT64_MAX);
  connection_.countSpliced(moved.taken, 0);
  to.countSpliced(0, moved.written);
  if (moved.taken + moved.written > 0) callbacks_.onMoved(*this);
  if (over_) return false;
  switch (moved.stop) {
    case net::Splice::Stop::SourceEmpty:
      connection_.markUnreadable();
      if (moved.taken < kWorthSplicingBytes) splice_.reset();
      return false;
    case net::Splice::Stop::SinkFull:
      to.markUnwritable();
      return false;
    case net::Splice::Stop::Limit:
    case net::Splice::Stop::Yield:
      connection_.readNextTurn();
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
  connection_.markUnreadable();
  other_->connection_.endWriting();
  callbacks_.onEnded(*this);
}

void Side::onWritable() {
  // The other side's splice waited for room here.
  if (other_ && other_->splice_) other_->connection_.readSoon();
}

void Side::onDrained() {
  resumeOther();
  if (!over_) callbacks_.onDrained(*this);
}

void Side::resumeOther() {
  if (!other_ || over_) return;
  if (other_->paused_by_other_ && !connection_.isOverHighWatermark()) {
    other_->paused_by_other_ = false;
    callbacks_.onFlowControl(*other_, false);
    other_->resumeReading();
  }
}

void Side::fail() {
  if (!over_) callbacks_.onBroken(*this);
}

void Side::end() {
  if (over_) return;
  over_ = true;
  other_ = nullptr;
  splice_.reset();
  batch_.dropOf(connection_);
  connection_.close();
  connection_.loop().bury(std::unique_ptr<Mortal>(this));
}

}  // namespace fairlead::tcp
