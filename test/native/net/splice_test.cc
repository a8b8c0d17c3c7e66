// Bytes from socket to socket by way of a pipe, and the pipes that a worker has for it.
#include "net/splice.h"

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/native/http/http1/peer.h"
#include "test/native/support/socket.h"
#include "test/native/test.h"

namespace fairlead::net {

using http1::Peer;

TEST("A splice stops at its limit, when its source is empty or over, and when its sink is full") {
  SplicePipes pipes;
  FileDescriptor source_end;
  FileDescriptor sink_end;
  Peer source(&source_end);
  Peer sink(&sink_end);
  const std::unique_ptr<Splice> splice = Splice::begin(pipes);
  using Stop = Splice::Stop;
  const auto move = [&](uint64_t limit) {
    return splice->move(source_end.get(), sink_end.get(), limit);
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
  EXPECT_EQ(splice->held(), taken - written);
  source.close();
  std::string seen;
  for (int i = 0; i < 200 && moved.stop == Stop::SinkFull; ++i) {
    seen += sink.read();
    moved = move(UINT64_MAX);
  }
  EXPECT_EQ(moved.stop, Stop::SourceEnded);
  EXPECT(seen + sink.read() == sent);
  EXPECT_EQ(splice->held(), 0u);
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

TEST("There is a most of pipes, of those that rest too; what nobody needs is closed") {
  const size_t before = test::openDescriptors();
  SplicePipes pipes;
  std::vector<SplicePipe> taken;
  for (size_t i = 0; i < SplicePipes::kMaxOpen; ++i) taken.push_back(pipes.take());
  EXPECT(taken.back().valid());
  EXPECT(!pipes.take().valid());
  EXPECT(Splice::begin(pipes) == nullptr);
  pipes.give(std::move(taken.back()));
  EXPECT(Splice::begin(pipes) != nullptr);
  taken.pop_back();
  for (SplicePipe& pipe : taken) pipes.give(std::move(pipe));
  taken.clear();
  EXPECT_EQ(pipes.open(), SplicePipes::kMaxResting);
  EXPECT_EQ(test::openDescriptors(), before + 2 * SplicePipes::kMaxResting);
  // Of these, 3 are needed now and then.
  pipes.trim();
  for (int i = 0; i < 3; ++i) taken.push_back(pipes.take());
  for (SplicePipe& pipe : taken) pipes.give(std::move(pipe));
  pipes.trim();
  EXPECT_EQ(pipes.open(), 3u);
  pipes.trim();
  EXPECT_EQ(test::openDescriptors(), before);
}

TEST("A system that refuses pipes is asked again when one comes back, or after a while") {
  SplicePipes pipes;
  SplicePipe pipe = pipes.take();
  {
    const test::NoMoreDescriptors none;
    EXPECT(!pipes.take().valid());
  }
  EXPECT(!pipes.take().valid());
  pipes.give(std::move(pipe));
  pipe = pipes.take();
  EXPECT(pipe.valid());
  EXPECT(pipes.take().valid());
  EXPECT_EQ(pipes.open(), 2u);
  pipes.trim();
}

}  // namespace fairlead::net
