#include "upstream/pooled_connection.h"

#include "upstream/pool.h"
#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;

uint64_t PooledConnection::millisSinceStart() const {
  return (net::Loop::readClockMicros() - started_at_us_) / 1000;
}

const net::Address& PooledConnection::localAddress() {
  if (local_address_.rawSize() == 0) {
    local_address_ = pool_.host().address().isInternal() ? net::InternalListeners::clientAddress()
                                                         : codec_->connection().localAddress();
  }
  return local_address_;
}

void PooledConnection::onConnected() {
  established_at_us_ = net::Loop::readClockMicros();
  pool_.onConnected(*this);
}

void PooledConnection::onConnectFailed(Failure failure, int error) {
  pool_.onConnectFailed(*this, failure, error);
}

void PooledConnection::onStreamEnded(http::ResponseSink& sink, StreamEnd end) {
  // Only waiters are given streams.
  pool_.onStreamEnded(*this, static_cast<PoolWaiter&>(sink), end);
}

void PooledConnection::onRoom() { pool_.onRoom(*this); }

void PooledConnection::onGoaway() { pool_.onGoaway(*this); }

void PooledConnection::onClosed(CloseReason reason, bool lost_streams) {
  pool_.onClosed(*this, reason, lost_streams);
}

void PooledConnection::serveWaiting() { pool_.serveWaiting(); }

void PooledConnection::onBytes(size_t received, size_t sent) {
  stats::Shard<stats::Cluster>& stats = pool_.cluster_.stats();
  if (received > 0) {
    stats.add(Counter::UpstreamCxRxBytesTotal, received);
    // As the real server has it: the latest read counts as buffered until the next.
    stats.up(Gauge::UpstreamCxRxBytesBuffered, received);
    stats.down(Gauge::UpstreamCxRxBytesBuffered, shown_as_buffered_);
    shown_as_buffered_ = static_cast<uint32_t>(received);
  }
  if (sent > 0) stats.add(Counter::UpstreamCxTxBytesTotal, sent);
}

}  // namespace fairlead::upstream
