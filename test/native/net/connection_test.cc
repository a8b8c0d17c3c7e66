// Connections on a loop of the test's own, over socket pairs.
#include "net/connection.h"

#include <sys/socket.h>

#include <memory>
#include <string>

#include "test/native/http/http1/peer.h"
#include "test/native/net/recorder.h"
#include "test/native/support/rough_transport.h"
#include "test/native/test.h"

namespace fairlead::net {

using http1::Peer;
using http1::settle;
using test::Recorder;

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
  EXPECT(connection->pendingBytes() > Recorder::kLimit);
  EXPECT(loop.slabs().inUse() * Slab::kBytes < Recorder::kLimit + 3 * Slab::kBytes);
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

TEST("A batch leaves at once behind what is queued, and who queued it hears that with the turn") {
  Loop loop;
  OutBatch batch;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end), test::makeTransportOfTests());
  settle(loop);
  // Of a transport that takes less, the rest comes later.
  connection->queue("queued ");
  connection.write(batch, "sent ");
  if (!test::isRough()) EXPECT_EQ(peer.read(), std::string("queued sent "));
  EXPECT(batch.empty());
  connection->queue("last");
  std::string seen;
  for (int i = 0; i < 50; ++i) {
    settle(loop);
    seen += peer.read();
  }
  EXPECT_EQ(seen, std::string(test::isRough() ? "queued sent last" : "last"));
  EXPECT(connection.drained >= 1);
  EXPECT_EQ(loop.slabs().inUse(), 0u);
  connection->close();
  settle(loop);
}

TEST("What is queued and does not fit into one call with a batch still leaves before it") {
  Loop loop;
  OutBatch batch;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  const std::string before(2 * Slab::kBytes - 1, 'a');
  connection->queue(before);
  std::string after;
  batch.claim(*connection.operator->());
  // A part of its own each.
  const std::string view(OutBatch::kCopyBytes + 1, 'b');
  while (batch.partCount() + 2 < OutBatch::kMaxParts) {
    batch.addView(view);
    batch.copy("c");
    after += view + "c";
  }
  connection->send(batch);
  std::string seen;
  for (int i = 0; i < 200 && seen.size() < before.size() + after.size(); ++i) {
    settle(loop);
    seen += peer.read();
  }
  EXPECT(seen == before + after);
  EXPECT_EQ(connection.drained, 1);
  connection->close();
  settle(loop);
}

TEST(
    "What is short waits for the end of the turn where its batch lets it, and leaves in one "
    "piece") {
  Loop loop;
  OutBatch batch;
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  batch.letWait(true);
  connection.write(batch, "one ");
  EXPECT(peer.read().empty());
  connection.write(batch, "two ");
  const std::string large(OutBatch::kMostWaiting + 1, 'x');
  connection.write(batch, large);
  EXPECT(peer.read() == "one two " + large);
  connection.write(batch, "three");
  EXPECT(peer.read().empty());
  batch.letWait(false);
  loop.turn(0);
  EXPECT_EQ(peer.read(), std::string("three"));
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

TEST("Who has more to read than its share of a turn goes on in the next, after the others") {
  Loop loop;
  FileDescriptor greedy_end;
  FileDescriptor modest_end;
  Peer greedy_peer(&greedy_end);
  Peer modest_peer(&modest_end);
  Recorder greedy(loop, std::move(greedy_end));
  Recorder modest(loop, std::move(modest_end));
  settle(loop);
  const size_t waiting = greedy_peer.fill();
  modest_peer.write("hello");
  EXPECT(waiting > Connection::kTurnBytes);
  loop.turn(0);
  EXPECT_EQ(greedy.got.size(), Connection::kTurnBytes);
  EXPECT_EQ(modest.got, std::string("hello"));
  // No event will come for what is left: the loop must not wait for one.
  loop.turn(60'000);
  EXPECT_EQ(greedy.got.size(), waiting);
  greedy->close();
  modest->close();
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
  Loop loop;
  OutBatch batch;
  FileDescriptor ends[2];
  Peer first(&ends[0]), second(&ends[1]);
  Recorder connection(loop, std::move(ends[0])), other(loop, std::move(ends[1]));
  const std::string body(5000, 'b');
  const std::string huge(OutBatch::kScratchBytes + 1, 'h');
  batch.claim(*connection.operator->());
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
  batch.dropOf(*other.operator->());
  EXPECT(!batch.empty());
  batch.dropOf(*connection.operator->());
  EXPECT(batch.empty());
  connection->close();
  other->close();
  settle(loop);
}

TEST("What is gathered for one connection goes out before another's, each to its own peer") {
  Loop loop;
  OutBatch batch;
  FileDescriptor ends[2];
  Peer first(&ends[0]), second(&ends[1]);
  Recorder one(loop, std::move(ends[0])), two(loop, std::move(ends[1]));
  settle(loop);
  batch.claim(*one.operator->());
  batch.copy("for the first");
  batch.claim(*two.operator->());
  EXPECT(batch.empty());
  batch.copy("for the second");
  two->send(batch);
  settle(loop);
  EXPECT_EQ(first.read(), "for the first");
  EXPECT_EQ(second.read(), "for the second");
  one->close();
  two->close();
  settle(loop);
}

}  // namespace fairlead::net
