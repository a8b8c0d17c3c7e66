// One access log: a condition, and a format and a file, or an encoder and a service. Immutable;
// each worker writes to a lane of its own.
#pragma once

#include <memory>
#include <optional>

#include "access_log/entry_encoder.h"
#include "access_log/filter.h"
#include "access_log/service_logs.h"
#include "format/format.h"
#include "log_files/log_files.h"

namespace fairlead::access_log {

class AccessLog {
 public:
  struct Parts {
    log_files::LogFiles& files;
    ServiceLogs& services;
    stats::Registry& registry;
    RuntimeSlots* slots = nullptr;
  };
  static Result<std::shared_ptr<AccessLog>> build(const plan::AccessLog& plan, const Parts& parts);

  // Whether its lines or its filter speak of the request's head, or of the answer's.
  bool readsRequestHead() const {
    return format_.readsRequestHead() || (filter_ && filter_->readsRequestHead()) ||
           (encoder_ && encoder_->readsRequestHead());
  }
  bool readsResponseHead() const {
    return format_.readsResponseHead() || (filter_ && filter_->readsResponseHead()) ||
           (encoder_ && encoder_->readsResponseHead());
  }

  // The worker's thread. Logs the line if the filter accepts it.
  void write(size_t worker, const format::FormatContext& context, uint64_t random = 0) {
    if (filter_ && !filter_->accepts(context, random)) return;
    if (!file_) [[unlikely]] {
      send(worker, context);
      return;
    }
    format_.appendLine(context, file_->lane(worker));
    file_->lineDone(worker);
  }
  // The control thread, which has no time to flush at.
  void writeAtOnce(const format::FormatContext& context, uint64_t random) {
    write(log_files::kControlThread, context, random);
    if (file_) file_->flushControlThread();
  }

 private:
  void send(size_t worker, const format::FormatContext& context) {
    std::string* const entries = service_->begin(worker);
    if (!entries) return;
    encoder_->append(context, entries);
    service_->entryDone(worker);
  }

  std::optional<Filter> filter_;
  format::Format format_;
  // Null: its entries go to a service, and these two are there.
  std::shared_ptr<log_files::LogFile> file_;
  std::unique_ptr<const EntryEncoder> encoder_;
  std::shared_ptr<ServiceLog> service_;
};

}  // namespace fairlead::access_log
