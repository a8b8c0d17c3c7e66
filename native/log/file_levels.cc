#include "log/file_levels.h"

#include "log/glob.h"

namespace fairlead::log {

const FileLogger& FileLevels::logger(std::string_view file, Component component) {
  const std::lock_guard lock(mutex_);
  auto& entry = loggers_[{std::string(file), component}];
  if (!entry) {
    std::string name = std::string(file) + ':' + std::string(nameOf(component));
    entry.reset(
        new FileLogger{std::string(file), component, std::move(name), levelOf(file, component)});
  }
  return *entry;
}

void FileLevels::setLevel(Level level) {
  const std::lock_guard lock(mutex_);
  default_ = level;
  rules_.clear();
  apply();
}

void FileLevels::setRules(std::vector<Rule> rules) {
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
  apply();
}

std::vector<std::pair<std::string, Level>> FileLevels::list() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, Level>> result;
  for (const auto& [key, logger] : loggers_) {
    const std::pair<std::string, Level> entry(key.first, logger->level.load());
    if (result.empty() || result.back() != entry) result.push_back(entry);
  }
  return result;
}

Level FileLevels::levelOf(std::string_view file, Component component) const {
  std::string_view stem = file.substr(file.rfind('/') + 1);
  stem = stem.substr(0, stem.find('.'));
  for (const Rule& rule : rules_) {
    const bool is_path = rule.glob.find('/') != std::string::npos;
    if (matchesGlob(rule.glob, is_path ? file : stem) || rule.glob == nameOf(component)) {
      return rule.level;
    }
  }
  return default_;
}

void FileLevels::apply() {
  for (const auto& [key, logger] : loggers_) logger->level = levelOf(key.first, key.second);
}

}  // namespace fairlead::log
