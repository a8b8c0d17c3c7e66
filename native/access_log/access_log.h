// One access log: a condition, a format, a file. Immutable; each worker writes to a lane of its
// own.
#pragma once

#include <memory>
#include <optional>

#include "access_log/filter.h"
#include "access_log/log_files.h"
#include "format/format.h"

namespace fairlead::access_log {

class AccessLog {
 public:
  static Result<std::shared_ptr<AccessLog>> build(const plan::AccessLog& plan, LogFiles& files,
                                                  RuntimeSlots* slots = nullptr);

  // Whether its lines or its filter speak of the request's head, or of the answer's.
  bool readsRequestHead() const {
    return format_.readsRequestHead() || (filter_ && filter_->readsRequestHead());
  }
  bool readsResponseHead() const { return format_.readsResponseHead(); }

  // The worker's thread. Logs the line if the filter accepts it.
  void write(size_t worker, const format::FormatContext& context, uint64_t random = 0) {
    if (filter_ && !filter_->accepts(context, random)) return;
    format_.appendLine(context, file_->lane(worker));
    file_->lineDone(worker);
  }
  // The control thread, which has no time to flush at.
  void writeAtOnce(const format::FormatContext& context, uint64_t random) {
    write(kControlThread, context, random);
    file_->flushControlThread();
  }

 private:
  std::optional<Filter> filter_;
  format::Format format_;
  std::shared_ptr<LogFile> file_;
};

}  // namespace fairlead::access_log
