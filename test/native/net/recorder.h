// A connection under test, and what its handler is told.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/connection.h"
#include "test/native/test.h"

namespace fairlead::test {

class Recorder final : private net::ConnectionHandler {
 public:
  static constexpr uint32_t kLimit = 64 * 1024;

  Recorder(net::Loop& loop, net::FileDescriptor fd,
           std::unique_ptr<net::Transport> transport = nullptr)
      : connection_(*new net::Connection(loop, std::move(fd), kLimit,
                                         net::Connection::Start::Established,
                                         std::move(transport))) {
    connection_.setHandler(*this);
    FL_CHECK(connection_.start());
  }
  net::Connection* operator->() { return &connection_; }
  void write(net::OutBatch& batch, std::string_view bytes) {
    batch.claim(connection_);
    batch.addView(bytes);
    connection_.send(batch);
  }
  void writeSoon(net::OutBatch& batch, std::string_view bytes) {
    batch.claim(connection_);
    batch.addView(bytes);
    connection_.sendSoon(batch);
  }

  std::string got;
  int readied = -1;
  int drained = 0;
  int below_low = 0;
  int write_failures = 0;
  bool ended = false;
  size_t pause_after = SIZE_MAX;

 private:
  void onReady(int error) override { readied = error; }
  void onReadable() override {
    while (connection_.isReadable() && !connection_.isReadingPaused()) {
      const net::Connection::Read read = connection_.read();
      if (read.result == net::Connection::ReadResult::Nothing) return;
      if (read.result != net::Connection::ReadResult::Data) {
        ended = true;
        return;
      }
      got.append(read.data, read.size);
      if (got.size() >= pause_after) connection_.pauseReading();
    }
  }
  void onBelowLowWatermark() override { ++below_low; }
  void onDrained() override { ++drained; }
  void onWriteFailed() override { ++write_failures; }

  net::Connection& connection_;
};

}  // namespace fairlead::test
