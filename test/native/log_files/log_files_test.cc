#include "log_files/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

#include "net/loop.h"
#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::log_files {
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

// What workers are asked to do, until they come to it.
class Inboxes {
 public:
  explicit Inboxes(size_t workers) : tasks_(workers) {}
  void post(size_t worker, WorkerPost::Task task) {
    const std::lock_guard lock(mutex_);
    tasks_[worker].push_back(std::move(task));
  }
  // On the worker's thread.
  void work(size_t worker) {
    std::vector<WorkerPost::Task> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_[worker]);
    }
    for (const WorkerPost::Task& task : tasks) task();
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<WorkerPost::Task>> tasks_;
};

struct Logs {
  explicit Logs(size_t worker_count, size_t flush_bytes = LogFiles::kFlushBytes)
      : workers(worker_count),
        registry(static_cast<unsigned>(workers)),
        stats(registry.create<stats::Filesystem>(stats::plainScope("filesystem."))),
        inboxes(workers),
        files(workers, stats, flush_bytes) {
    files.reachWorkers(
        [this](size_t worker, WorkerPost::Task task) { inboxes.post(worker, std::move(task)); });
  }

  // All workers come to what they are asked for, also to what follows from it.
  void work() {
    for (int turn = 0; turn < 3; ++turn) {
      for (size_t worker = 0; worker < workers; ++worker) inboxes.work(worker);
    }
  }
  void flush() {
    files.flush();
    work();
  }

  std::shared_ptr<LogFile> open(const std::string& path) {
    Result<std::shared_ptr<LogFile>> file = files.open(path);
    FL_CHECK(file.ok());
    return file.value();
  }
  uint64_t stat(const std::string& name) {
    return registry.value("filesystem." + name).value_or(0);
  }

  const size_t workers;
  stats::Registry registry;
  std::shared_ptr<FilesystemStats> stats;
  Inboxes inboxes;
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

TEST("lines behind the first wait for the interval; then they are in the file and counted") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "one\n");
  logs.work();
  log(*file, 0, "two\n");
  log(*file, 0, "three\n");
  EXPECT(becomesTrue([&] { return logs.stat("write_total_buffered") == 10; }));
  EXPECT_EQ(contentOf(path), "one\n");
  EXPECT_EQ(logs.stat("write_buffered"), 3u);
  logs.flush();
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 2; }));
  EXPECT_EQ(contentOf(path), "one\ntwo\nthree\n");
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
  EXPECT_EQ(logs.stat("flushed_by_timer"), 1u);
}

TEST("what the control thread logs is counted as its own, beside that of workers") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, kControlThread, "of the control thread\n");
  file->flushControlThread();
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 1; }));
  EXPECT_EQ(contentOf(path), "of the control thread\n");
  log(*file, 0, "of a worker\n");
  EXPECT_EQ(logs.stat("write_buffered"), 2u);
  EXPECT_EQ(logs.stat("write_total_buffered"), 12u);
  logs.files.stop();
  EXPECT_EQ(contentOf(path), "of the control thread\nof a worker\n");
}

TEST("a file of the control thread alone has a line as soon as it was flushed") {
  Folder folder;
  Logs logs(1);
  const std::string path = folder.file("admin.log");
  const auto file = logs.open(path);
  std::string wanted;
  for (int i = 0; i < 50; ++i) {
    wanted += std::to_string(i) + "\n";
    log(*file, kControlThread, std::to_string(i) + "\n");
    file->flushControlThread();
    EXPECT(contentOf(path) == wanted);
  }
}

TEST("lines of all threads are in the file in the order of their ends") {
  Folder folder;
  Logs logs(3);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  std::string wanted = "first\n";
  log(*file, 0, wanted);
  logs.work();
  for (int i = 0; i < 30; ++i) {
    const std::string line = std::to_string(i) + "\n";
    log(*file, static_cast<size_t>(i * 7 % 3), line);
    wanted += line;
  }
  log(*file, kControlThread, "of the control thread\n");
  wanted += "of the control thread\n";
  file->flushControlThread();
  logs.work();
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 2; }));
  EXPECT(contentOf(path) == wanted);
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
}

TEST("lines that end while a flush is under way wait for the next one, in their order") {
  Folder folder;
  Logs logs(2);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 1, "1\n");
  logs.files.flush();
  log(*file, 0, "2\n");
  log(*file, kControlThread, "3\n");
  file->flushControlThread();
  log(*file, 1, "4\n");
  // The first worker gives nothing to the first flush, whose end begins the second.
  logs.inboxes.work(0);
  EXPECT_EQ(logs.stat("write_completed"), 0u);
  logs.inboxes.work(1);
  EXPECT(becomesTrue([&] { return contentOf(path) == "1\n"; }));
  logs.work();
  EXPECT(becomesTrue([&] { return logs.stat("write_completed") == 2; }));
  EXPECT_EQ(contentOf(path), "1\n2\n3\n4\n");
}

TEST("a worker that does not come to give its lines does not make those of others grow") {
  Folder folder;
  constexpr size_t kFlushBytes = 1000;
  constexpr size_t kLines = 40;
  Logs logs(2, kFlushBytes);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 1, "of the stuck one\n");
  const std::string line = std::string(100'000, 'x') + "\n";
  for (size_t i = 0; i < kLines; ++i) {
    log(*file, 0, line);
    logs.inboxes.work(0);
  }
  EXPECT(becomesTrue([&] { return contentOf(path).size() >= (kLines - 12) * line.size(); }));
  logs.inboxes.work(1);
  logs.files.stop();
  EXPECT_EQ(contentOf(path).size(), kLines * line.size() + 17);
  EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
}

TEST("the timer counts once for each file and interval, whether there was something or not") {
  Folder folder;
  Logs logs(2);
  const auto a = logs.open(folder.file("a.log"));
  const auto b = logs.open(folder.file("b.log"));
  logs.flush();
  EXPECT_EQ(logs.stat("flushed_by_timer"), 2u);
}

TEST("a full buffer does not wait for the interval") {
  Folder folder;
  Logs logs(1, 10);
  const std::string path = folder.file("a.log");
  const auto file = logs.open(path);
  log(*file, 0, "0\n");
  logs.work();
  log(*file, 0, "12345678\n");
  log(*file, 0, "x\n");
  logs.work();
  EXPECT(becomesTrue([&] { return contentOf(path) == "0\n12345678\nx\n"; }));
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

TEST("stop writes all that was logged, also what was not flushed") {
  Folder folder;
  const std::string path = folder.file("a.log");
  {
    Logs logs(2);
    const auto file = logs.open(path);
    log(*file, 0, "first\n");
    logs.flush();
    log(*file, 1, "second\n");
    log(*file, 0, "third\n");
    logs.files.stop();
    EXPECT_EQ(contentOf(path), "first\nsecond\nthird\n");
    EXPECT_EQ(logs.stat("write_completed"), 2u);
    EXPECT_EQ(logs.stat("write_total_buffered"), 0u);
  }
  EXPECT_EQ(contentOf(path), "first\nsecond\nthird\n");
}

TEST("after a rotation lines go to the new file, and none is lost") {
  Folder folder;
  const std::string path = folder.file("a.log");
  const std::string old = folder.file("a.log.1");
  Logs logs(1);
  const auto file = logs.open(path);
  log(*file, 0, "before\n");
  logs.flush();
  EXPECT_EQ(::rename(path.c_str(), old.c_str()), 0);
  log(*file, 0, "renamed\n");
  logs.flush();
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
  logs.flush();
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
  for (int i = 0; i < 100; ++i) {
    log(*file, 0, line);
    logs.work();
  }
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
    logs.work();
  }
  logs.flush();
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

TEST("workers log at once, while files are opened and rotated: none is lost, torn or early") {
  Folder folder;
  const std::string path = folder.file("a.log");
  constexpr size_t kWorkers = 3;
  constexpr size_t kLines = 20'000;
  Logs logs(kWorkers, 4096);
  const auto file = logs.open(path);
  std::vector<std::thread> workers;
  std::atomic<size_t> busy{kWorkers};
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      for (size_t i = 0; i < kLines; ++i) {
        // When it ends it is later than this.
        const uint64_t after_us = net::Loop::readClockMicros();
        log(*file, worker,
            std::to_string(worker) + " " + std::to_string(i) + " " + std::to_string(after_us) +
                " end\n");
        if (i % 10 == 0) logs.inboxes.work(worker);
        if (worker == 0 && i % 1000 == 0) logs.files.flush();
      }
      --busy;
      while (busy > 0) logs.inboxes.work(worker);
      logs.inboxes.work(worker);
    });
  }
  for (int i = 0; i < 20; ++i) {
    logs.files.reopen();
    logs.open(folder.file("other" + std::to_string(i)));
  }
  for (std::thread& worker : workers) worker.join();
  logs.files.stop();
  struct Line {
    size_t worker = kWorkers;
    size_t number = 0;
    uint64_t after_us = 0;
    std::string end;
  };
  std::vector<Line> lines;
  std::vector<uint64_t> after_us[kWorkers];
  std::ifstream content(path);
  for (std::string text; std::getline(content, text);) {
    Line line;
    std::istringstream(text) >> line.worker >> line.number >> line.after_us >> line.end;
    FL_CHECK(line.worker < kWorkers && line.end == "end");
    EXPECT(line.number == after_us[line.worker].size());
    after_us[line.worker].push_back(line.after_us);
    lines.push_back(line);
  }
  EXPECT_EQ(lines.size(), kWorkers * kLines);
  uint64_t latest_us = 0;
  bool is_in_order = true;
  for (const Line& line : lines) {
    latest_us = std::max(latest_us, line.after_us);
    // It ended before its worker began the next one.
    const std::vector<uint64_t>& own = after_us[line.worker];
    if (line.number + 1 < own.size()) is_in_order &= latest_us <= own[line.number + 1];
  }
  EXPECT(is_in_order);
}

}  // namespace
}  // namespace fairlead::log_files
