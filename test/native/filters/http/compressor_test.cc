// Answers and requests that get a content coding, as the client wants one.
#include "coding/decoder.h"
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

const std::string kText(200, 'a');

plan::Compressor gzipCompressor() {
  plan::Compressor compressor;
  compressor.encoder.emplace();
  compressor.encoder->level = -1;
  compressor.encoder->window_bits = 12;
  compressor.encoder->memory_level = 5;
  compressor.encoder->chunk_bytes = 4096;
  compressor.library = "gz";
  compressor.names_response = true;
  compressor.response.emplace();
  compressor.response->min_content_length = 30;
  plan::StringMatch type;
  type.value = "text/plain";
  type.ignore_case = true;
  compressor.response->content_types.push_back(type);
  return compressor;
}

plan::Update withCompressor(uint16_t port, const plan::Compressor& compressor) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].compressor = compressor;
  return plan;
}

Origin::Script answeringText(const std::string& headers, const std::string& body) {
  return [=](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 200 OK\r\n" + headers +
                   "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
  };
}

std::string unpacked(std::string_view bytes) {
  plan::Decoder plan;
  plan.window_bits = 15;
  plan.max_ratio = 1000;
  const auto config = coding::DecoderConfig::build(plan);
  return std::string(config.value()->make()->decode(bytes).data);
}

}  // namespace

TEST("An answer is compressed for a client that wants it, and comes back as it was") {
  Origin origin(answeringText("content-type: text/plain\r\netag: \"x\"\r\n", kText));
  Proxy proxy(withCompressor(origin.port(), gzipCompressor()));
  const std::string answer = get(proxy, "/", "accept-encoding: gzip\r\n");
  EXPECT(has(answer, "content-encoding: gzip\r\n"));
  EXPECT(has(answer, "vary: Accept-Encoding\r\n"));
  EXPECT(!has(answer, "etag"));
  EXPECT(!has(answer, "content-length"));
  EXPECT(unpacked(bodyOf(answer)) == kText);
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.response.compressed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.response.total_uncompressed_bytes"), 200u);
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.header_compressor_used"), 1u);
}

TEST("An answer stays as it is where nobody wants it compressed, or it says so") {
  Origin origin(
      answeringText("content-type: text/plain\r\ncache-control: no-transform\r\n", kText));
  Proxy proxy(withCompressor(origin.port(), gzipCompressor()));
  EXPECT(get(proxy, "/").ends_with(kText));
  EXPECT(get(proxy, "/", "accept-encoding: br\r\n").ends_with(kText));
  EXPECT(get(proxy, "/", "accept-encoding: gzip\r\n").ends_with(kText));
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.response.not_compressed"), 3u);
}

TEST("A strong entity tag becomes a weak one where the filter is told so") {
  Origin origin(answeringText("content-type: text/plain\r\netag: \"x\"\r\n", kText));
  plan::Compressor compressor = gzipCompressor();
  compressor.weaken_etag = true;
  Proxy proxy(withCompressor(origin.port(), compressor));
  EXPECT(has(get(proxy, "/", "accept-encoding: gzip\r\n"), "etag: W/\"x\"\r\n"));
}

TEST("A request is compressed on its way to a host") {
  std::string seen;
  Origin origin([&seen](Socket& socket, int) {
    seen = socket.readUntil("\r\n0\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  plan::Compressor compressor = gzipCompressor();
  compressor.request = *compressor.response;
  Proxy proxy(withCompressor(origin.port(), compressor));
  Socket client = proxy.connect();
  client.write(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 200\r\n\r\n" +
      kText);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(has(seen, "content-encoding: gzip\r\n"));
  EXPECT(unpacked(bodyOf(seen)) == kText);
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.request.compressed"), 1u);
}

TEST("Encoders serve one request after the other") {
  Origin origin(answeringText("content-type: text/plain\r\n", kText));
  Proxy proxy(withCompressor(origin.port(), gzipCompressor()));
  for (int i = 0; i < 5; ++i) {
    EXPECT(unpacked(bodyOf(get(proxy, "/", "accept-encoding: gzip\r\n"))) == kText);
  }
  EXPECT_EQ(proxy.stat("http.in.compressor.gz.gzip.response.compressed"), 5u);
}

}  // namespace fairlead::test
