#include "access_log/access_log.h"

namespace fairlead::access_log {

Result<std::shared_ptr<AccessLog>> AccessLog::build(const plan::AccessLog& plan,
                                                    const Parts& parts) {
  auto log = std::make_shared<AccessLog>();
  const auto serve = [&](const Boxed<plan::LogBuffer>& buffer) {
    log->service_ = parts.services.open(buffer.value_or(plan::LogBuffer()), parts.registry);
  };
  if (plan.grpc) {
    log->encoder_ = makeGrpcEncoder(*plan.grpc);
    serve(plan.grpc->buffer);
  } else if (plan.otel) {
    log->encoder_ = makeOtelEncoder(*plan.otel);
    serve(plan.otel->buffer);
  } else {
    Result<std::shared_ptr<log_files::LogFile>> file = parts.files.open(plan.path);
    if (!file) return file.error();
    log->file_ = std::move(file.value());
    log->format_ = format::Format(plan.format.value_or(plan::Format()));
  }
  if (plan.filter) {
    Result<Filter> filter = Filter::build(*plan.filter, parts.slots);
    if (!filter) return filter.error();
    log->filter_ = std::move(filter.value());
  }
  return log;
}

}  // namespace fairlead::access_log
