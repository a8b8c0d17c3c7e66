// Content codings that are taken off, and what would become too much.
#include "coding/encoder.h"
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withDecompressor(uint16_t port) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  plan::Decompressor& decompressor = managerOf(plan).http_filters[0].decompressor.emplace();
  plan::Decoder& decoder = decompressor.decoder.emplace();
  decoder.window_bits = 15;
  decoder.max_ratio = 100;
  decoder.chunk_bytes = 4096;
  decompressor.library = "gz";
  decompressor.advertises = true;
  return plan;
}

std::string packed(std::string_view text) {
  plan::Encoder plan;
  plan.level = 9;
  plan.window_bits = 15;
  plan.memory_level = 8;
  const auto config = coding::EncoderConfig::build(plan);
  return std::string(config.value()->make()->encode(text, true));
}

Origin::Script answeringPacked(const std::string& body) {
  return [body](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body);
    }
  };
}

}  // namespace

TEST("An answer is unpacked, and its head says so") {
  Origin origin(answeringPacked(packed("hello")));
  Proxy proxy(withDecompressor(origin.port()));
  const std::string answer = get(proxy, "/");
  EXPECT(!has(answer, "content-encoding"));
  EXPECT(!has(answer, "content-length"));
  EXPECT(has(answer, "5\r\nhello\r\n"));
  EXPECT_EQ(proxy.stat("http.in.decompressor.gz.gzip.response.decompressed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.decompressor.gz.gzip.response.total_uncompressed_bytes"), 5u);
}

TEST("A host is told once that it may compress, and gets what a client compressed unpacked") {
  std::string seen;
  Origin origin([&seen](Socket& socket, int) {
    seen = socket.readUntil("\r\n0\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  Proxy proxy(withDecompressor(origin.port()));
  const std::string body = packed("hello");
  Socket client = proxy.connect();
  client.write(
      "POST / HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip;q=0.1, br\r\n"
      "content-encoding: gzip\r\ncontent-length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(has(seen, "accept-encoding: br,gzip\r\n"));
  EXPECT(!has(seen, "content-encoding"));
  EXPECT(has(seen, "5\r\nhello\r\n"));
}

TEST("A bomb ends in an error, and costs no more than a bounded piece") {
  Origin origin(answeringPacked(packed(std::string(50'000'000, '\0'))));
  Proxy proxy(withDecompressor(origin.port()));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(client.discard(50'000'000) < 20'000'000);
  EXPECT(proxy.stat("http.in.decompressor.gz.gzip.decompressor_library.zlib_data_error") > 0u);
}

}  // namespace fairlead::test
