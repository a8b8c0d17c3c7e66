#include "plan/wire.h"

#include <string>
#include <string_view>

#include "plan/plan.gen.h"
#include "test/native/test.h"

namespace fairlead::plan {
namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string number(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}

std::string bytes(int field, std::string_view value) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(value.size()) + std::string(value);
}

Result<Update> read(std::string_view wire) { return readUpdate(wire.data(), wire.size()); }

// What a listener's chain match says to these bytes.
Result<Update> readMatch(std::string_view match) {
  return read(bytes(4, bytes(8, bytes(2, match))));
}

void expectError(const Result<Update>& result, std::string_view wanted) {
  EXPECT(!result.ok());
  EXPECT_EQ(std::string_view(result.error().message), wanted);
}

}  // namespace

TEST("no bytes are an empty update") {
  const Result<Update> update = read("");
  EXPECT(update.ok());
  EXPECT(update.value().clusters.empty());
}

TEST("a cluster comes out with its numbers, enumerators and messages") {
  const std::string address = bytes(1, std::string_view("\x7f\0\0\1", 4)) + number(2, 10'000);
  const Result<Update> update = read(bytes(
      1, bytes(1, "origin") + number(4, 5'000'000'000) + number(7, 1) + bytes(11, number(1, 7)) +
             bytes(11, number(1, 8)) + bytes(23, bytes(1, address))));
  EXPECT(update.ok());
  const Cluster& cluster = update.value().clusters.at(0);
  EXPECT_EQ(cluster.name, "origin");
  EXPECT_EQ(cluster.connect_timeout_ms, 5'000'000'000u);
  EXPECT(cluster.balancer == Cluster::Balancer::LeastRequest);
  EXPECT_EQ(cluster.limits.size(), 2u);
  EXPECT_EQ(cluster.limits[1].max_connections, 8u);
  EXPECT_EQ(cluster.sources.at(0).address->port, 10'000u);
  EXPECT_EQ(cluster.sources[0].address->ip, std::string("\x7f\0\0\1", 4));
}

TEST("an optional number that is absent is told from 0") {
  const std::string zero = bytes(3, bytes(2, bytes(3, bytes(4, number(6, 0)))));
  const std::string absent = bytes(3, bytes(2, bytes(3, bytes(4, number(5, 1)))));
  const auto action = [](const Result<Update>& update) {
    return *update.value().route_tables[0].virtual_hosts[0].routes[0].cluster;
  };
  EXPECT_EQ(action(read(zero)).idle_timeout_ms.value(), 0u);
  EXPECT(!action(read(absent)).idle_timeout_ms.has_value());
}

TEST("a negative int64 keeps its sign") {
  const std::string header = number(4, static_cast<uint64_t>(-5));
  const Result<Update> update = read(bytes(3, bytes(2, bytes(3, bytes(2, bytes(5, header))))));
  const Route& route = update.value().route_tables[0].virtual_hosts[0].routes[0];
  EXPECT_EQ(route.match->headers[0].range_start, -5);
}

TEST("repeated numbers are read packed, one by one, and mixed") {
  const std::string packed = bytes(6, varint(80) + varint(10'000));
  const Result<Update> update = readMatch(packed + number(6, 1) + packed);
  const std::vector<uint32_t> wanted = {80, 10'000, 1, 80, 10'000};
  EXPECT(update.value().listeners[0].filter_chains[0].match->source_ports == wanted);
}

TEST("fields of a later schema are skipped, whatever their wire type") {
  const std::string later = number(1000, 1) + bytes(1001, "x") + varint(1002 << 3 | 1) +
                            std::string(8, 'x') + varint(1003 << 3 | 5) + std::string(4, 'x');
  const Result<Update> update = read(later + bytes(1, later + bytes(1, "origin")));
  EXPECT(update.ok());
  EXPECT_EQ(update.value().clusters.at(0).name, "origin");
}

TEST("a length that is longer than its message is an error that names the field") {
  expectError(read(bytes(1,
                         "\x0a\x05"
                         "abc")),
              "plan: Cluster.name: longer than its message (offset 2 of its message)");
}

TEST("a number that ends early is an error, and so is one of more than ten bytes") {
  expectError(read(bytes(1, "\x20\xff")),
              "plan: Cluster.connect_timeout_ms: ends inside a number (offset 2 of its message)");
  expectError(read(bytes(1, std::string("\x20") + std::string(10, '\xff') + "\x01")),
              "plan: Cluster.connect_timeout_ms: number too long (offset 11 of its message)");
}

TEST("a number that does not fit its field is an error") {
  expectError(
      read(bytes(1, number(6, uint64_t{1} << 32))),
      "plan: Cluster.per_connection_buffer_limit_bytes: number out of range (offset 6 of its "
      "message)");
}

TEST("an enumerator that is not known is an error") {
  expectError(read(bytes(1, number(7, 99))),
              "plan: Cluster.balancer: unknown enumerator (offset 2 of its message)");
}

TEST("a field of the wrong wire type is an error") {
  expectError(read(number(1, 1)),
              "plan: Update.clusters: expected bytes (offset 1 of its message)");
  expectError(read(bytes(1, bytes(4, "x"))),
              "plan: Cluster.connect_timeout_ms: expected a number (offset 1 of its message)");
}

TEST("messages nest up to 32 deep and no deeper") {
  const auto nested = [](int levels) {
    std::string filter = number(1, 1);
    for (int i = 0; i < levels; ++i) filter = bytes(2, filter);
    return bytes(4, bytes(16, bytes(3, filter)));
  };
  // Update, Listener, AccessLog and the outermost filter come before the nested ones.
  EXPECT(read(nested(29)).ok());
  expectError(read(nested(30)),
              "plan: AccessLogFilter.filters: nested too deep (offset 4 of its message)");
}

}  // namespace fairlead::plan
