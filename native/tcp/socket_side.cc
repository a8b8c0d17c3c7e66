#include "tcp/socket_side.h"

namespace fairlead::tcp {

namespace {
// A splice that moved less than this in one event is not worth its pipe.
constexpr uint64_t kWorthSplicingBytes = 16 * 1024;
}  // namespace

// ---- reading ----

bool SocketSide::mayReadOn() const {
  return !over_ && other_ && connection_.isReadable() && !connection_.isReadingPaused();
}

void SocketSide::onReadable() {
  if (early_ && !other_) return readEarly();
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
        readEnd();
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

void SocketSide::readEarly() {
  while (!over_ && !other_ && connection_.isReadable() && !connection_.isReadingPaused()) {
    const net::Connection::Read got = connection_.read();
    switch (got.result) {
      case net::Connection::ReadResult::Nothing:
        return;
      case net::Connection::ReadResult::Failed:
        fail();
        return;
      case net::Connection::ReadResult::End:
        connection_.markUnreadable();
        early_->has_ended = early_->is_full = true;
        pauseReading();
        break;
      case net::Connection::ReadResult::Data:
        early_->bytes.append(got.data, got.size);
        if (early_->bytes.size() < early_->limit) break;
        early_->is_full = true;
        pauseReading();
        break;
    }
    callbacks_.onEarly(*this);
  }
}

void SocketSide::passEarly() {
  if (!early_) return;
  const std::unique_ptr<Early> early = std::move(early_);
  if (!early->bytes.empty()) {
    other_->write(early->bytes);
    other_->flush();
    callbacks_.onMoved(*this);
  }
  if (over_ || !other_) return;
  if (early->has_ended) return finishReading();
  pauseForOther();
  if (early->is_full) {
    resumeReading();
  } else if (connection_.isReadable()) {
    connection_.readSoon();
  }
}

void SocketSide::copyOn(const net::Connection::Read& got) {
  if (!callbacks_.mayMove(*this)) return;
  other_->write({got.data, got.size});
  other_->flush();
  callbacks_.onMoved(*this);
  if (over_ || pauseForOther()) return;
  if (got.size == net::Loop::kReadBufferBytes && other_->pendingBytes() == 0 && canSplice()) {
    splice_ = net::Splice::begin(pipes_);
  }
}

bool SocketSide::spliceOn() {
  net::Connection& to = *other_->raw();
  to.settle();
  const net::Splice::Moved moved = splice_->move(connection_.fd(), to.fd(), UINT64_MAX);
  connection_.countSpliced(moved.taken, 0);
  to.countSpliced(0, moved.written);
  if (moved.taken + moved.written > 0) callbacks_.onMoved(*this);
  // What the kernel moves has gone before anybody could say no.
  if (over_ || (moved.taken > 0 && !callbacks_.mayMove(*this))) return false;
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
      readEnd();
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

void SocketSide::readEnd() {
  splice_.reset();
  connection_.markUnreadable();
  if (callbacks_.mayMove(*this)) finishReading();
}

// ---- writing ----

void SocketSide::write(std::string_view data) {
  batch_.claim(connection_);
  if (batch_.isAlmostFull()) connection_.send(batch_);
  batch_.addView(data);
}

void SocketSide::flush() {
  batch_.claim(connection_);
  connection_.sendSoon(batch_);
}

void SocketSide::onWritable() {
  if (other_) other_->onOtherWritable();
}

void SocketSide::onDrained() {
  resumeOther();
  if (!over_) callbacks_.onDrained(*this);
}

void SocketSide::end(net::Connection::CloseKind kind) {
  if (over_) return;
  over_ = true;
  other_ = nullptr;
  splice_.reset();
  batch_.dropOf(connection_);
  connection_.close(kind);
  connection_.loop().bury(std::unique_ptr<Mortal>(this));
}

}  // namespace fairlead::tcp
