// What connections leave behind for the end of the turn (Connection::sendSoon).
#include <memory>
#include <string>
#include <vector>

#include "net/connection.h"
#include "test/native/http/http1/peer.h"
#include "test/native/net/recorder.h"
#include "test/native/test.h"

namespace fairlead::net {

using http1::Peer;
using http1::settle;
using test::Recorder;

TEST("What is short and may leave soon leaves as the turn ends, each part to its own peer") {
  Loop loop;
  OutBatch batch;
  loop.useBatch(batch);
  FileDescriptor ends[2];
  Peer first_peer(&ends[0]);
  Peer second_peer(&ends[1]);
  Recorder first(loop, std::move(ends[0]));
  Recorder second(loop, std::move(ends[1]));
  settle(loop);
  first.writeSoon(batch, "one");
  second.writeSoon(batch, "two");
  EXPECT(batch.empty());
  EXPECT_EQ(first_peer.read() + second_peer.read(), std::string());
  // It counts as written, whoever looks.
  EXPECT_EQ(first->writtenBytes(), 3u);
  // A turn that waits for nobody.
  loop.turn(10'000);
  EXPECT_EQ(first_peer.read(), std::string("one"));
  EXPECT_EQ(second_peer.read(), std::string("two"));
  EXPECT_EQ(first->writtenBytes(), 3u);
  first->close();
  second->close();
  settle(loop);
}

TEST("Nothing overtakes what leaves soon: no later bytes, no end, no close") {
  for (int way = 0; way < 5; ++way) {
    Loop loop;
    OutBatch batch;
    loop.useBatch(batch);
    FileDescriptor end;
    Peer peer(&end);
    Recorder connection(loop, std::move(end));
    settle(loop);
    connection.writeSoon(batch, "first ");
    std::string expected = "first ";
    if (way == 0) connection.write(batch, "second");
    if (way == 1) connection.writeSoon(batch, "second");
    if (way == 2) connection->queue("second");
    if (way < 3) expected += "second";
    if (way == 3) connection->endWriting();
    if (way == 4) connection->close();
    settle(loop);
    EXPECT_EQ(peer.read(), expected);
    EXPECT_EQ(peer.hasEnded(), way >= 3);
    if (way < 4) {
      EXPECT_EQ(connection->writtenBytes(), expected.size());
      connection->close();
    }
    settle(loop);
  }
}

TEST("What is long, or what a full socket would not take, does not leave soon but as ever") {
  Loop loop;
  OutBatch batch;
  loop.useBatch(batch);
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  const std::string large(OutBatch::kMostPostedBytes + 1, 'l');
  connection.writeSoon(batch, large);
  EXPECT(peer.read() == large);
  std::string all;
  while (connection->isWritable()) {
    const std::string part(1000, static_cast<char>('a' + all.size() % 23));
    connection.writeSoon(batch, part);
    all += part;
    connection->settle();
  }
  // The last one went in part, or not at all: the rest waits, and counts once it has left.
  EXPECT_EQ(connection->writtenBytes() + connection->pendingBytes(), large.size() + all.size());
  std::string seen;
  for (int i = 0; i < 50 && seen.size() < all.size(); ++i) {
    seen += peer.read();
    settle(loop);
  }
  EXPECT(seen == all);
  EXPECT_EQ(connection->writtenBytes(), large.size() + all.size());
  connection->close();
  settle(loop);
}

TEST("Many that leave soon go out as their places or their bytes run out, in order") {
  Loop loop;
  OutBatch batch;
  loop.useBatch(batch);
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::unique_ptr<Recorder>> connections;
  for (int i = 0; i < 2 * OutBatch::kMostPosted + 1; ++i) {
    FileDescriptor end;
    peers.push_back(std::make_unique<Peer>(&end));
    connections.push_back(std::make_unique<Recorder>(loop, std::move(end)));
  }
  settle(loop);
  for (const size_t size : {size_t{10}, OutBatch::kMostPostedBytes}) {
    // Of the scratch bytes there is no more than each place may take of them.
    const auto textOf = [size](size_t i) {
      return std::string(size, static_cast<char>(' ' + i % 90));
    };
    for (size_t i = 0; i < connections.size(); ++i) {
      batch.claim(*connections[i]->operator->());
      batch.copy(textOf(i));
      (*connections[i])->sendSoon(batch);
    }
    loop.turn(0);
    for (size_t i = 0; i < connections.size(); ++i) EXPECT(peers[i]->read() == textOf(i));
  }
  for (const auto& connection : connections) (*connection)->close();
  settle(loop);
}

TEST("A peer that is gone when what leaves soon leaves is told of with the next event") {
  Loop loop;
  OutBatch batch;
  loop.useBatch(batch);
  FileDescriptor end;
  Peer peer(&end);
  Recorder connection(loop, std::move(end));
  settle(loop);
  peer.close();
  connection.writeSoon(batch, "lost");
  connection->settle();
  EXPECT(connection->hasFailed());
  EXPECT_EQ(connection->writtenBytes(), 0u);
  settle(loop);
  EXPECT_EQ(connection.write_failures, 1);
  connection->close();
  settle(loop);
}

}  // namespace fairlead::net
