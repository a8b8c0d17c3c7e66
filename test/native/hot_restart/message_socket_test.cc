#include "hot_restart/message_socket.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "test/native/test.h"

namespace fairlead::hot_restart {

namespace {

std::string abstractName(const char* test) {
  return "@fairlead_test_" + std::to_string(::getpid()) + "_" + test;
}

bool isOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST("bytes and descriptors arrive together, in order") {
  MessageSocket receiver;
  MessageSocket sender;
  const std::string name = abstractName("pass");
  EXPECT(receiver.bind(name, 0) == 0);
  EXPECT(sender.open() == 0);
  int pipe[2];
  EXPECT(::pipe(pipe) == 0);
  EXPECT(sender.send(name, "one", {}) == 0);
  EXPECT(sender.send(name, "two", pipe) == 0);
  ::close(pipe[0]);
  ::close(pipe[1]);

  MessageSocket::Message message;
  EXPECT(receiver.receive(&message) == 0);
  EXPECT(message.bytes == "one");
  EXPECT(message.descriptors.empty());
  EXPECT(receiver.receive(&message) == 0);
  EXPECT(message.bytes == "two");
  EXPECT(message.descriptors.size() == 2);
  char byte = 0;
  EXPECT(::write(message.descriptors[1].get(), "x", 1) == 1);
  EXPECT(::read(message.descriptors[0].get(), &byte, 1) == 1 && byte == 'x');
  const int passed = message.descriptors[0].get();
  message.descriptors.clear();
  EXPECT(!isOpen(passed));
  EXPECT(receiver.receive(&message) == EAGAIN);
}

TEST("the largest message fits, and more is refused") {
  MessageSocket receiver;
  MessageSocket sender;
  const std::string name = abstractName("large");
  EXPECT(receiver.bind(name, 0) == 0);
  EXPECT(sender.open() == 0);
  const std::string large(MessageSocket::kMaxBytes, 'x');
  EXPECT(sender.send(name, large, {}) == 0);
  EXPECT(sender.send(name, large + "x", {}) == EMSGSIZE);

  MessageSocket::Message message;
  EXPECT(receiver.receive(&message) == 0);
  EXPECT(message.bytes == large);
}

TEST("a full queue and a missing receiver are told apart") {
  MessageSocket sender;
  EXPECT(sender.open() == 0);
  const std::string name = abstractName("full");
  EXPECT(sender.send(name, "x", {}) == ECONNREFUSED);
  EXPECT(sender.send("/no/such/file", "x", {}) == ENOENT);
  MessageSocket receiver;
  EXPECT(receiver.bind(name, 0) == 0);
  const std::string large(MessageSocket::kMaxBytes, 'x');
  int error = 0;
  for (int i = 0; i < 10'000 && error == 0; ++i) error = sender.send(name, large, {});
  EXPECT(error == EAGAIN);
}

TEST("a name is taken only once; a file that was left behind is replaced") {
  const std::string name = abstractName("taken");
  MessageSocket first;
  EXPECT(first.bind(name, 0) == 0);
  EXPECT(MessageSocket().bind(name, 0) == EADDRINUSE);
  EXPECT(MessageSocket().bind("", 0) == ENAMETOOLONG);
  EXPECT(MessageSocket().bind(std::string(200, 'x'), 0) == ENAMETOOLONG);

  const std::string file = "/tmp/fairlead_test_" + std::to_string(::getpid()) + ".socket";
  {
    MessageSocket owner;
    EXPECT(owner.bind(file, 0640) == 0);
    struct stat status;
    EXPECT(::stat(file.c_str(), &status) == 0);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT((status.st_mode & 0777) == (0640 & ~mask));
    EXPECT(MessageSocket().bind(file, 0600) == EADDRINUSE);
    // What a crash leaves: the file, without its socket.
    EXPECT(::link(file.c_str(), (file + ".left").c_str()) == 0);
  }
  EXPECT(::access(file.c_str(), F_OK) != 0);
  MessageSocket again;
  EXPECT(again.bind(file + ".left", 0600) == 0);
}

}  // namespace fairlead::hot_restart
