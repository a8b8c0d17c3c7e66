#include "access_log/access_log.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::access_log {
namespace {

plan::FormatPiece piece(plan::FormatPiece::Operator op, const std::string& argument = "") {
  plan::FormatPiece piece;
  piece.op = op;
  piece.argument = argument;
  return piece;
}

TEST("what the filter accepts is written in the format, one line for each request") {
  char path[] = "/tmp/fairlead-access-XXXXXX";
  ::close(::mkstemp(path));
  stats::Registry registry(1);
  log_files::LogFiles files(1,
                            registry.create<stats::Filesystem>(stats::plainScope("filesystem.")));
  ServiceLogs services(1, files.post(), nullptr);
  plan::AccessLog plan;
  plan.path = path;
  plan.format.emplace();
  plan.format->pieces = {piece(plan::FormatPiece::Operator::Literal, "status "),
                         piece(plan::FormatPiece::Operator::ResponseCode),
                         piece(plan::FormatPiece::Operator::Literal, "\n")};
  plan.filter.emplace();
  plan.filter->kind = plan::AccessLogFilter::Kind::Status;
  plan.filter->comparison = plan::AccessLogFilter::Comparison::Ge;
  plan.filter->value = 500;
  const auto log = AccessLog::build(plan, {files, services, registry}).value();

  format::FormatContext context;
  for (const uint16_t status : {200, 503, 404, 500}) {
    context.status = status;
    log->write(0, context);
  }
  files.stop();

  std::ifstream file(path);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(content, "status 503\nstatus 500\n");
  EXPECT_EQ(registry.value("filesystem.write_buffered").value_or(0), 2u);
  ::unlink(path);
}

TEST("a log whose file cannot be opened is refused") {
  stats::Registry registry(1);
  log_files::LogFiles files(1,
                            registry.create<stats::Filesystem>(stats::plainScope("filesystem.")));
  ServiceLogs services(1, files.post(), nullptr);
  plan::AccessLog plan;
  plan.path = "/nowhere/at/all.log";
  const auto log = AccessLog::build(plan, {files, services, registry});
  EXPECT(!log.ok());
}

}  // namespace
}  // namespace fairlead::access_log
