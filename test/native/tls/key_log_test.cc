#include "tls/key_log.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "test/native/test.h"
#include "test/native/tls/pair.h"

namespace fairlead::tls {

namespace {

std::string contentOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

plan::CidrRange rangeOf(const char bytes[4], uint32_t prefix_length) {
  plan::CidrRange range;
  range.ip = std::string(bytes, 4);
  range.prefix_length = prefix_length;
  return range;
}

}  // namespace

TEST("Secrets go to the key log, of connections between the addresses that it names") {
  char path[] = "/tmp/fairlead-key-log-XXXXXX";
  ::close(::mkstemp(path));
  stats::Registry registry{1};
  const test::Authority authority;
  const auto logged = [&](uint32_t version, const std::vector<plan::CidrRange>& local) {
    {
      log_files::LogFiles files(1, registry.create<stats::Filesystem>(stats::plainScope("f.")), 0);
      plan::TlsContext plan = test::serverPlan({authority.sign("server")});
      plan.max_version = version;
      plan::TlsKeyLog& log = plan.key_log.emplace();
      log.path = path;
      log.local = local;
      Context::Surroundings around;
      around.key_log = KeyLog::open(log, files).value();
      const test::TlsSide server(plan, 0, around);
      const test::TlsSide client(test::clientPlan());
      test::TlsPair pair(server, client);
      EXPECT_EQ(pair.server->readied, 0);
      files.stop();
    }
    std::string text = contentOf(path);
    FL_CHECK(::truncate(path, 0) == 0);
    return text;
  };
  EXPECT(logged(test::kTls12, {}).starts_with("CLIENT_RANDOM "));
  const std::string text = logged(test::kTls13, {});
  for (const char* name : {"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_HANDSHAKE_TRAFFIC_SECRET ",
                           "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "}) {
    EXPECT(text.find(name) != std::string::npos);
  }
  // A pipe has no address in it.
  EXPECT_EQ(logged(test::kTls13, {rangeOf("\x7f\0\0\0", 8)}), "");
  ::unlink(path);
}

}  // namespace fairlead::tls
