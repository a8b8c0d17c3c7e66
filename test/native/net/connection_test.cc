// Connections and splices on a loop of the test's own, over socket pairs.
#include "net/connection.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "net/splice.h"
#include "test/native/http/http1/peer.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

using http1::Peer;
using http1::settle;

constexpr uint32_t kLimit = 64 * 1024;

// A connection and what its handler is told.
class Recorder final : private ConnectionHandler {
 public:
  Recorder(Loop& loop, FileDescriptor fd, std::unique_ptr<Transport> transport = nullptr)
      : connection_(*new Connection(loop, std::move(fd), kLimit, Connection::Start::Established,
                                    std::move(transport))) {
    connection_.setHandler(*this);
    FL_CHECK(connection_.start());
  }
  Connection* operator->() { return &connection_; }
  void write(OutBatch& batch, std::string_view bytes) {
    batch.claim(this);
    batch.addView(bytes);
    connection_.send(batch);
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
      const Connection::Read read = connection_.read();
      if (read.result == Connection::ReadResult::Nothing) return;
      if (read.result != Connection::ReadResult::Data) {
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

  Connection& connection_;
};

}  // namespace

TEST("What a socket does not take waits in slabs, and leaves in order as the peer reads") {
  Loop loop;
  OutBatch batch;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  std::string all;
  for (int i = 0; !connection->isOverHighWatermark(); ++i) {
    const std::string part(10'000, static_cast<char>('a' + i % 26));
    all += part;
    connection.write(batch, part);
  }
  EXPECT(connection->pendingBytes() > kLimit);
  EXPECT(loop.slabs().inUse() * Slab::kBytes < kLimit + 3 * Slab::kBytes);
  std::string seen;
  for (int i = 0; i < 200 && seen.size() < all.size(); ++i) {
    seen += peer.read();
    settle(loop);
  }
  EXPECT(seen == all);
  EXPECT_EQ(connection.drained, 1);
  EXPECT_EQ(connection.below_low, 1);
  EXPECT_EQ(loop.slabs().inUse(), 0u);
  connection->close();
  settle(loop);
}

TEST("endWriting() ends after what is pending; close() drops it") {
  Loop loop;
  OutBatch batch;
  const std::string large(4'000'000, 'x');
  for (const bool closes : {false, true}) {
    FileDescriptor end;
    Peer peer(&end);
    Recorder connection(loop, std::move(end));
    settle(loop);
    connection.write(batch, large);
    EXPECT(connection->pendingBytes() > 0);
    if (closes) {
      connection->close();
    } else {
      connection->endWriting();
    }
    size_t seen = 0;
    for (int i = 0; i < 500 && !peer.hasEnded(); ++i) {
      settle(loop);
      seen += peer.read().size();
    }
    EXPECT(peer.hasEnded());
    EXPECT_EQ(loop.slabs().inUse(), 0u);
    if (!closes) connection->close();
    settle(loop);
  }
}

TEST("A pause leaves bytes where they are; the resume reads them without a new event") {
  Loop loop;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  connection.pause_after = 1;
  peer.write("one");
  settle(loop);
  EXPECT_EQ(connection.got, std::string("one"));
  peer.write("two");
  peer.close();
  settle(loop);
  EXPECT_EQ(connection.got, std::string("one"));
  connection.pause_after = SIZE_MAX;
  connection->pauseReading();
  connection->resumeReading();
  EXPECT_EQ(connection.got, std::string("one"));
  connection->resumeReading();
  // Not inside of whoever resumes it.
  EXPECT_EQ(connection.got, std::string("one"));
  loop.turn(0);
  EXPECT_EQ(connection.got, std::string("onetwo"));
  EXPECT(connection.ended);
  connection->close();
  settle(loop);
}

TEST("A write that fails is told with the next event, once the caller is done") {
  Loop loop;
  OutBatch batch;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  peer.close();
  connection.write(batch, "lost");
  EXPECT_EQ(connection.write_failures, 0);
  EXPECT(batch.empty());
  settle(loop);
  EXPECT_EQ(connection.write_failures, 1);
  connection->close();
  settle(loop);
}

TEST("A batch gathers heads and bodies in order, and large ones beyond its scratch") {
  OutBatch batch;
  const std::string body(5000, 'b');
  const std::string huge(OutBatch::kScratchBytes + 1, 'h');
  batch.claim(&body);
  batch.copy("head ");
  batch.copy("line ");
  EXPECT_EQ(batch.partCount(), 1);
  batch.addView(body);
  batch.addView("small");
  batch.copy(huge);
  std::string all;
  for (int i = 0; i < batch.partCount(); ++i) {
    all.append(static_cast<char*>(batch.parts()[i].iov_base), batch.parts()[i].iov_len);
  }
  EXPECT(all == "head line " + body + "small" + huge);
  EXPECT_EQ(batch.size(), all.size());
  const int other = 0;
  batch.dropOf(&other);
  EXPECT(!batch.empty());
  batch.dropOf(&body);
  EXPECT(batch.empty());
}

TEST("A splice stops at its limit, when its source is empty or over, and when its sink is full") {
  SplicePipes pipes;
  FileDescriptor source_end;
  FileDescriptor sink_end;
  Peer source(&source_end);
  Peer sink(&sink_end);
  Splice splice(pipes);
  EXPECT(splice.valid());
  using Stop = Splice::Stop;
  const auto move = [&](uint64_t limit) {
    return splice.move(source_end.get(), sink_end.get(), limit);
  };
  EXPECT_EQ(move(10).stop, Stop::SourceEmpty);
  source.write("0123456789abcdef");
  Splice::Moved moved = move(10);
  EXPECT_EQ(moved.stop, Stop::Limit);
  EXPECT_EQ(moved.written, 10u);
  EXPECT_EQ(sink.read(), std::string("0123456789"));
  EXPECT_EQ(move(100).stop, Stop::SourceEmpty);
  EXPECT_EQ(sink.read(), std::string("abcdef"));
  // Until the sink is full: what was taken and not written is held.
  std::string sent;
  uint64_t taken = 0;
  uint64_t written = 0;
  do {
    const std::string part(50'000, static_cast<char>('a' + sent.size() / 50'000 % 26));
    source.write(part);
    sent += part;
    moved = move(UINT64_MAX);
    taken += moved.taken;
    written += moved.written;
  } while (moved.stop == Stop::SourceEmpty);
  EXPECT_EQ(moved.stop, Stop::SinkFull);
  EXPECT_EQ(splice.held(), taken - written);
  source.close();
  std::string seen;
  for (int i = 0; i < 200 && moved.stop == Stop::SinkFull; ++i) {
    seen += sink.read();
    moved = move(UINT64_MAX);
  }
  EXPECT_EQ(moved.stop, Stop::SourceEnded);
  EXPECT(seen + sink.read() == sent);
  EXPECT_EQ(splice.held(), 0u);
  sink.close();
  EXPECT_EQ(move(1).stop, Stop::SourceEnded);
}

TEST("A pipe that holds bytes is never used again; an empty one is") {
  SplicePipes pipes;
  SplicePipe pipe = pipes.take();
  const int first = pipe.read_end.get();
  pipes.give(std::move(pipe));
  pipe = pipes.take();
  EXPECT_EQ(pipe.read_end.get(), first);
  pipe.held = 1;
  pipes.give(std::move(pipe));
  EXPECT(::fcntl(first, F_GETFD) == -1);
}

}  // namespace fairlead::net
