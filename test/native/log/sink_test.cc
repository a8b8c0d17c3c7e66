#include "log/sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "log/log.h"
#include "test/native/test.h"

namespace fairlead::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLong{10'000};

// The process's log in a folder of its own, at debug for one component; off and on stderr
// afterwards.
class LogFolder {
 public:
  explicit LogFolder(const char* pattern = "%v") {
    char name[] = "/tmp/fairlead-log-XXXXXX";
    folder_ = ::mkdtemp(name);
    Sink::get().setPattern(pattern, false);
    setLevel(Component::Testing, Level::Debug);
    setLevel(Component::Main, Level::Warning);
  }
  ~LogFolder() {
    setLevel(Component::Testing, Level::Off);
    setLevel(Component::Main, Level::Off);
    Sink::get().openFile("");
    Sink::get().flush(kLong);
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + '/' + name; }
  void use(const std::string& name) { EXPECT_EQ(Sink::get().openFile(path(name)), ""); }
  std::string text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

TEST("a line is made of its parts when its level is on; else they are not even computed") {
  LogFolder folder("%l %n %s %v");
  folder.use("a.log");
  int computed = 0;
  const auto part = [&computed] { return ++computed; };
  trace(Component::Testing, part);
  EXPECT_EQ(computed, 0);
  debug(Component::Testing, Tags{.connection = 3, .stream = 7}, "n=", part, ' ', true, " ", -5,
        std::string("."));
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("a.log"),
            "debug testing sink_test.cc [Tags: \"ConnectionId\":\"3\",\"StreamId\":\"7\"] "
            "n=1 true -5.\n");
}

TEST("lines of several threads come in order, and whole") {
  LogFolder folder;
  folder.use("a.log");
  constexpr int kThreads = 3;
  constexpr int kLines = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) info(Component::Testing, t, " ", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT(Sink::get().flush(kLong));
  std::istringstream lines(folder.text("a.log"));
  std::map<int, int> next;
  int thread = 0;
  int number = 0;
  bool in_order = true;
  while (lines >> thread >> number) in_order = in_order && next[thread]++ == number;
  EXPECT(in_order);
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(next[t], kLines);
}

TEST("a new pattern is for the lines that come after it") {
  LogFolder folder("1 %v");
  folder.use("a.log");
  info(Component::Testing, "a");
  Sink::get().setPattern("2 %v", false);
  info(Component::Testing, "b");
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("a.log"), "1 a\n2 b\n");
}

TEST("after a rename the file is opened anew, and no line is lost under way") {
  LogFolder folder;
  folder.use("now.log");
  constexpr int kRotations = 20;
  std::atomic<bool> is_done{false};
  std::atomic<int> sent{0};
  std::thread writer([&] {
    while (!is_done) {
      info(Component::Testing, "line ", ++sent);
      if (sent % 64 == 0) std::this_thread::sleep_for(milliseconds(1));
    }
  });
  for (int i = 0; i < kRotations; ++i) {
    const int before = sent;
    while (sent < before + 50) std::this_thread::yield();
    std::filesystem::rename(folder.path("now.log"), folder.path(std::to_string(i) + ".log"));
    Sink::get().reopen();
    EXPECT(Sink::get().flush(kLong));
  }
  is_done = true;
  writer.join();
  EXPECT(Sink::get().flush(kLong));
  std::string all;
  for (int i = 0; i < kRotations; ++i) all += folder.text(std::to_string(i) + ".log");
  all += folder.text("now.log");
  std::istringstream lines(all);
  std::string line;
  int seen = 0;
  bool in_order = true;
  while (std::getline(lines, line)) in_order = in_order && line == "line " + std::to_string(++seen);
  EXPECT(in_order);
  EXPECT_EQ(seen, sent.load());
}

TEST("what was sent before a reopening goes to the old file, what comes after to the new") {
  LogFolder folder;
  folder.use("a.log");
  info(Component::Testing, "before");
  Sink::get().flush(kLong);
  std::filesystem::rename(folder.path("a.log"), folder.path("old.log"));
  info(Component::Testing, "still before");
  Sink::get().reopen();
  info(Component::Testing, "after");
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("old.log"), "before\nstill before\n");
  EXPECT_EQ(folder.text("a.log"), "after\n");
}

TEST("a file that cannot be opened again stays in use, and the log says so") {
  LogFolder folder("%l %v");
  std::filesystem::create_directory(folder.path("in"));
  folder.use("in/a.log");
  std::filesystem::rename(folder.path("in"), folder.path("out"));
  Sink::get().reopen();
  info(Component::Testing, "more");
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("out/a.log"),
            "error cannot open the log file again: No such file or directory\ninfo more\n");
}

TEST("a file that cannot be opened is refused, and the log stays where it was") {
  LogFolder folder;
  folder.use("a.log");
  EXPECT_EQ(Sink::get().openFile(folder.path("none/b.log")), "No such file or directory");
  info(Component::Testing, "here");
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("a.log"), "here\n");
}

TEST("a full pipe holds nobody up; lines are dropped, and told of when it is read again") {
  LogFolder folder;
  EXPECT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  folder.use("pipe");
  const int reader = ::open(folder.path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  constexpr int kLines = 50'000;
  const auto started = steady_clock::now();
  for (int i = 0; i < kLines; ++i) info(Component::Testing, "a line that nobody reads ", i);
  EXPECT(steady_clock::now() - started < milliseconds(2000));
  EXPECT(!Sink::get().flush(milliseconds(50)));

  std::string text;
  std::atomic<bool> is_done{false};
  std::thread drainer([&] {
    char bytes[4096];
    for (;;) {
      const bool is_last = is_done;
      const ssize_t size = ::read(reader, bytes, sizeof bytes);
      if (size > 0) text.append(bytes, static_cast<size_t>(size));
      if (size <= 0 && is_last) return;
      if (size <= 0) std::this_thread::yield();
    }
  });
  EXPECT(Sink::get().flush(kLong));
  is_done = true;
  drainer.join();
  int written = 0;
  int dropped = 0;
  int last = -1;
  bool in_order = true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("were dropped") != std::string::npos) {
      dropped += std::atoi(line.c_str());
      continue;
    }
    const std::string_view start = "a line that nobody reads ";
    const int number = line.starts_with(start) ? std::atoi(line.c_str() + start.size()) : -1;
    in_order = in_order && number > last;
    last = number;
    ++written;
  }
  ::close(reader);
  EXPECT(in_order);
  EXPECT(written > 1000);
  EXPECT(dropped > 0);
  EXPECT_EQ(written + dropped, kLines);
}

TEST("lines that the disk refuses are counted, and told of when it takes some again") {
  LogFolder folder;
  EXPECT_EQ(Sink::get().openFile("/dev/full"), "");
  info(Component::Testing, "lost");
  info(Component::Testing, "lost\ntoo");
  EXPECT(Sink::get().flush(kLong));
  folder.use("a.log");
  info(Component::Testing, "kept");
  EXPECT(Sink::get().flush(kLong));
  EXPECT_EQ(folder.text("a.log"),
            "kept\n3 log line(s) could not be written: No space left on device\n");
}

}  // namespace
}  // namespace fairlead::log
