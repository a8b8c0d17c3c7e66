// Fine-grain logging: a logger per source file (and the component it logs for), made when it is
// first reached. Any thread; only there is a lock, and only in fine-grain mode.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/component.h"
#include "log/level.h"

namespace fairlead::log {

struct FileLogger {
  std::string file;
  Component component;
  // What lines show of it: "native/net/listener.cc:conn_handler".
  std::string name;
  std::atomic<Level> level;
};

class FileLevels {
 public:
  // `glob`: of whole paths if it has a slash, else of base names without their extension; or the
  // name of a component. The first that matches counts.
  struct Rule {
    std::string glob;
    Level level;
  };

  // The logger of a file, which lives as long as this.
  const FileLogger& logger(std::string_view file, Component component);
  // Of all files; rules are forgotten.
  void setLevel(Level level);
  // Instead of the rules before.
  void setRules(std::vector<Rule> rules);

  // Files that were reached, by name, each level of each once.
  std::vector<std::pair<std::string, Level>> list();

 private:
  Level levelOf(std::string_view file, Component component) const;
  void apply();

  std::mutex mutex_;
  // Guarded by mutex_, all of them.
  Level default_ = Level::Info;
  std::vector<Rule> rules_;
  std::map<std::pair<std::string, Component>, std::unique_ptr<FileLogger>, std::less<>> loggers_;
};

}  // namespace fairlead::log
