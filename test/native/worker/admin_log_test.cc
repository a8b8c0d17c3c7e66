#include "worker/admin_log.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::worker {
namespace {

using Op = plan::FormatPiece::Operator;

plan::FormatPiece piece(Op op, const char* argument = "") {
  plan::FormatPiece piece;
  piece.op = op;
  piece.argument = argument;
  return piece;
}

TEST("An admin request is shown with its own headers, those of its answer and its flags") {
  char path[] = "/tmp/fairlead-admin-log-XXXXXX";
  ::close(::mkstemp(path));
  stats::Registry registry(1);
  auto stats = registry.create<stats::Filesystem>(stats::plainScope("filesystem."));
  log_files::LogFiles files(1, stats);
  access_log::ServiceLogs services(1, files.post(), nullptr);
  AdminLog admin;
  plan::AdminRequest request;
  admin.write(request);

  plan::AccessLog log;
  log.path = path;
  log.format = plan::Format();
  log.format->pieces = {piece(Op::Req, ":path"),   piece(Op::Literal, " "),
                        piece(Op::Req, "foo"),     piece(Op::Literal, " "),
                        piece(Op::Resp, "server"), piece(Op::Literal, " "),
                        piece(Op::ResponseFlags),  piece(Op::Literal, " "),
                        piece(Op::ResponseCode),   piece(Op::Literal, "\n")};
  auto built = access_log::AccessLog::build(log, {files, services, registry});
  EXPECT(built.ok());
  admin.use({built.value()});
  request.path = "/ready";
  request.headers = {"foo", "bar"};
  request.response_headers = {"server", "envoy"};
  request.status = 200;
  admin.write(request);
  request.is_cut = true;
  request.headers = {"foo"};
  admin.write(request);
  files.stop();

  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "/ready bar envoy - 200\n/ready - envoy DC 200\n");
  ::unlink(path);
}

}  // namespace
}  // namespace fairlead::worker
