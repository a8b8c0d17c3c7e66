#include "access_log/access_log.h"

namespace fairlead::access_log {

Result<std::shared_ptr<AccessLog>> AccessLog::build(const plan::AccessLog& plan, LogFiles& files,
                                                    RuntimeSlots* slots) {
  auto log = std::make_shared<AccessLog>();
  Result<std::shared_ptr<LogFile>> file = files.open(plan.path);
  if (!file) return file.error();
  log->file_ = std::move(file.value());
  log->format_ = format::Format(plan.format.value_or(plan::Format()));
  if (plan.filter) {
    Result<Filter> filter = Filter::build(*plan.filter, slots);
    if (!filter) return filter.error();
    log->filter_ = std::move(filter.value());
  }
  return log;
}

}  // namespace fairlead::access_log
