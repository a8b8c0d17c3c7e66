#include "access_log/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::access_log {
namespace {

// A folder of its own for a test, removed at the end.
class Folder {
 public:
  Folder() { FL_CHECK(::mkdtemp(path_) != nullptr); }
  ~Folder() {
    for (const std::string& name : names_) ::unlink(name.c_str());
    ::rmdir(path_);
  }
  std::string file(const std::string& name) {
    names_.push_back(std::string(path_) + "/" + name);
    return names_.back();
  }

 private:
  char path_[32] = "/tmp/fairlead-logs-XXXXXX";
  std::vector<std::string> names_;
};

struct Logs {
  explicit Logs(size_t workers, size_t hand_over_bytes = LogFiles::kHandOverBytes)
      : registry(static_cast<unsigned>(workers)),
        stats(registry.create<stats::Filesystem>(stats::plainScope("filesystem."))),
        files(workers, stats, hand_over_bytes) {}

  std::shared_ptr<LogFile> open(const std::string& path) {
    Result<std::shared_ptr<LogFile>> file = files.open(path);
    FL_CHECK(file.ok());
    return file.value();
  }
  uint64_t stat(const std::string& name) {
    return registry.value("filesystem." + name).value_or(0);
  }

  stats::Registry registry;
  std::shared_ptr<FilesystemStats> stats;
  LogFiles files;
};

void log(LogFile& file, size_t worker, std::string_view line) {
  file.lane(worker)->append(line);
  file.lineDone(worker);
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

bool becomesTrue(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST("lines wait for the interval; then they are in the file and counted") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "one\n");
  log(*file, 0, "two\n");
  EXPECT_EQ(contentOf(path), "");
  EXPECT_EQ(logs.stat("write_buffered"), 2u);
  EXPECT_EQ(logs.stat("write_total_buffered"), 8u);
  logs.files.flushWorker(0);
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 1; }));
  EXPECT_EQ(contentOf(path), "one\ntwo\n");
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
  EXPECT_EQ(logs.stat("flushed_by_timer"), 1u);
}

TEST("what the control thread hands over is counted as its own, beside that of workers") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "of a worker\n");
  log(*file, kControlThread, "of the control thread\n");
  file->handOver(kControlThread);
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 1; }));
  EXPECT_EQ(contentOf(path), "of the control thread\n");
  EXPECT_EQ(logs.stat("write_buffered"), 2u);
  EXPECT_EQ(logs.stat("write_total_buffered"), 12u);
  logs.files.stop();
  EXPECT_EQ(contentOf(path), "of the control thread\nof a worker\n");
}

TEST("the timer counts once for each file and interval, whether there was something or not") {
  Folder folder;
  Logs logs(2);
  const auto a = logs.open(folder.file("a.log"));
  const auto b = logs.open(folder.file("b.log"));
  logs.files.flushWorker(0);
  logs.files.flushWorker(1);
  EXPECT_EQ(logs.stat("flushed_by_timer"), 2u);
}

TEST("a full buffer does not wait for the interval") {
  Folder folder;
  Logs logs(1, 10);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "12345678\n");
  log(*file, 0, "x\n");
  EXPECT(becomesTrue([&] { return contentOf(path) == "12345678\nx\n"; }));
}

TEST("without a buffer each line is written at once") {
  Folder folder;
  Logs logs(1, 0);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "x\n");
  EXPECT(becomesTrue([&] { return contentOf(path) == "x\n"; }));
}

TEST("one path is one file") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("a.log");
  EXPECT_EQ(logs.open(path).get(), logs.open(path).get());
}

TEST("a file that cannot be opened is named with the reason") {
  Logs logs(1);
  const auto file = logs.files.open("/nowhere/at/all.log");
  EXPECT(!file.ok());
  EXPECT_EQ(file.error().message,
            "access log: unable to open file '/nowhere/at/all.log': No such file or directory");
}

TEST("stop writes all that was logged, also what no worker handed over") {
  Folder folder;
  const std::string path = folder.file("a.log");
  {
    Logs logs(2);
    const auto file = logs.open(path);
    log(*file, 0, "first\n");
    logs.files.flushWorker(0);
    log(*file, 1, "second\n");
    logs.files.stop();
    EXPECT_EQ(contentOf(path), "first\nsecond\n");
    EXPECT_EQ(logs.stat("write_completed"), 2u);
    EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
  }
  EXPECT_EQ(contentOf(path), "first\nsecond\n");
}

TEST("after a rotation lines go to the new file, and none is lost") {
  Folder folder;
  const std::string path = folder.file("a.log");
  const std::string old = folder.file("a.log.1");
  Logs logs(1);
  const auto file = logs.open(path);
  log(*file, 0, "before\n");
  logs.files.flushWorker(0);
  EXPECT_EQ(::rename(path.c_str(), old.c_str()), 0);
  log(*file, 0, "renamed\n");
  logs.files.flushWorker(0);
  logs.files.reopen();
  log(*file, 0, "after\n");
  logs.files.stop();
  EXPECT_EQ(contentOf(old), "before\nrenamed\n");
  EXPECT_EQ(contentOf(path), "after\n");
}

TEST("a path that cannot be opened anew keeps the old file, and is counted") {
  Folder folder;
  const std::string path = folder.file("a.log");
  const std::string old = folder.file("a.log.1");
  Logs logs(1);
  const auto file = logs.open(path);
  EXPECT_EQ(::rename(path.c_str(), old.c_str()), 0);
  EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
  logs.files.reopen();
  log(*file, 0, "still here\n");
  logs.files.stop();
  EXPECT_EQ(logs.stat("reopen_failed"), 1u);
  EXPECT_EQ(contentOf(old), "still here\n");
  EXPECT_EQ(::rmdir(path.c_str()), 0);
}

TEST("a full disk is counted, and what comes later is tried again") {
  Logs logs(1);
  const auto file = logs.open("/dev/full");
  log(*file, 0, "lost\n");
  logs.files.flushWorker(0);
  EXPECT(becomesTrue([&] { return logs.stat("write_failed") == 1; }));
  log(*file, 0, "lost too\n");
  logs.files.stop();
  EXPECT_EQ(logs.stat("write_failed"), 2u);
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
}

TEST("a pipe that nobody reads: memory stays bounded, drops are counted, workers do not wait") {
  Folder folder;
  const std::string path = folder.file("pipe");
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Logs logs(1);
  const auto file = logs.open(path);
  const std::string line(1'000'000, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) log(*file, 0, line);
  EXPECT(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  logs.files.stop();
  // 64 MiB wait, which the pipe does not take either.
  EXPECT_EQ(logs.stat("write_failed"), 100u);
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
}

TEST("a slow reader of a pipe gets every line whole") {
  Folder folder;
  const std::string path = folder.file("pipe");
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Logs logs(1);
  const auto file = logs.open(path);
  const int reader = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string wanted;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    wanted += line;
    log(*file, 0, line);
  }
  logs.files.flushWorker(0);
  std::string got;
  char buffer[1000];
  while (got.size() < wanted.size()) {
    const ssize_t size = ::read(reader, buffer, sizeof(buffer));
    if (size <= 0) break;
    got.append(buffer, static_cast<size_t>(size));
  }
  ::close(reader);
  EXPECT(got == wanted);
}

TEST("workers log at once, while files are opened and rotated: no line is lost or torn") {
  Folder folder;
  const std::string path = folder.file("a.log");
  constexpr size_t kWorkers = 3;
  constexpr int kLines = 20'000;
  Logs logs(kWorkers, 4096);
  const auto file = logs.open(path);
  std::vector<std::thread> workers;
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      for (int i = 0; i < kLines; ++i) {
        log(*file, worker, std::to_string(worker) + " " + std::to_string(i) + " end\n");
        if (i % 1000 == 0) logs.files.flushWorker(worker);
      }
      logs.files.flushWorker(worker);
    });
  }
  for (int i = 0; i < 20; ++i) {
    logs.files.reopen();
    logs.open(folder.file("other" + std::to_string(i)));
  }
  for (std::thread& worker : workers) worker.join();
  logs.files.stop();
  std::ifstream content(path);
  int next[kWorkers] = {};
  bool is_in_order = true;
  for (std::string line; std::getline(content, line);) {
    std::istringstream words(line);
    size_t worker = kWorkers;
    int number = -1;
    std::string end;
    words >> worker >> number >> end;
    is_in_order = is_in_order && worker < kWorkers && end == "end" && number == next[worker]++;
  }
  EXPECT(is_in_order);
  for (const int count : next) EXPECT_EQ(count, kLines);
}

}  // namespace
}  // namespace fairlead::access_log
