#include "filters/listener/tls_inspector.h"

#include "filters/listener/client_hello.h"
#include "filters/listener/no_hello.h"
#include "test/native/filters/listener/early_bytes.h"
#include "test/native/test.h"
#include "tls/openssl.h"

namespace fairlead::filters {

namespace {

using test::EarlyBytes;
using test::Verdict;

struct HelloInspector {
  explicit HelloInspector(uint32_t max_bytes = 16 * 1024) : config(settings(max_bytes), registry) {}
  static plan::TlsInspector settings(uint32_t max_bytes) {
    plan::TlsInspector plan;
    plan.ja3 = plan.ja4 = true;
    plan.max_client_hello_bytes = max_bytes;
    return plan;
  }
  uint64_t count(const std::string& name) {
    return registry.value("tls_inspector." + name).value_or(0);
  }
  stats::Registry registry{1};
  TlsInspectorConfig config;
};

// What OpenSSL's client sends first.
std::string helloOf(const char* server_name, const std::string& alpn) {
  const tls::SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  const tls::SslPtr ssl(SSL_new(context.get()));
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (server_name) SSL_set_tlsext_host_name(ssl.get(), server_name);
  if (!alpn.empty()) {
    SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                        static_cast<unsigned>(alpn.size()));
  }
  SSL_connect(ssl.get());
  char bytes[4096];
  const int size = BIO_read(SSL_get_wbio(ssl.get()), bytes, sizeof(bytes));
  ERR_clear_error();
  return std::string(bytes, static_cast<size_t>(size));
}

}  // namespace

TEST("A TLS inspector tells the server name and the protocols, however the bytes come") {
  const std::string hello = helloOf("Server.TEST", std::string("\x02h2\x08http/1.1"));
  for (const size_t piece : {size_t{1}, hello.size()}) {
    HelloInspector inspector;
    EarlyBytes early;
    EXPECT_EQ(early.feedInPieces(*inspector.config.make(0), hello, piece), Verdict::Continue);
    EXPECT_EQ(early.findings().transport_protocol, "tls");
    EXPECT_EQ(early.findings().server_name, "server.test");
    EXPECT_EQ(early.findings().application_protocols.size(), 2u);
    EXPECT_EQ(early.findings().application_protocols[1], "http/1.1");
    EXPECT_EQ(early.findings().ja3.size(), 32u);
    EXPECT(early.findings().ja4.starts_with("t13d"));
    EXPECT_EQ(early.findings().ja4.substr(8, 3), "h2_");
    EXPECT_EQ(early.left(), hello);
    EXPECT_EQ(inspector.count("tls_found"), 1u);
    EXPECT_EQ(inspector.count("sni_found"), 1u);
    EXPECT_EQ(inspector.count("alpn_found"), 1u);
  }
}

TEST("A client that names nobody is found all the same") {
  HelloInspector inspector;
  EarlyBytes early;
  EXPECT_EQ(early.feed(*inspector.config.make(0), helloOf(nullptr, "")), Verdict::Continue);
  EXPECT_EQ(early.findings().transport_protocol, "tls");
  EXPECT(early.findings().ja4.starts_with("t13i"));
  EXPECT_EQ(inspector.count("sni_not_found"), 1u);
  EXPECT_EQ(inspector.count("alpn_not_found"), 1u);
}

TEST("What is not TLS passes, what is too large does not, and half a message waits for the rest") {
  for (const std::string bytes :
       {"GET / HTTP/1.1\r\n", "\x16\x02\x01\x01\x01", "\x16\x03\x01\x00\x05hello"}) {
    HelloInspector inspector;
    EarlyBytes early;
    const std::string whole = bytes[0] == '\x16' && bytes[1] == '\x03'
                                  ? std::string("\x16\x03\x01\x00\x05hello", 10)
                                  : bytes;
    EXPECT_EQ(early.feed(*inspector.config.make(0), whole), Verdict::Continue);
    EXPECT(early.findings().transport_protocol.empty());
    EXPECT_EQ(inspector.count("tls_not_found"), 1u);
  }
  HelloInspector strict(100);
  EarlyBytes large;
  EXPECT_EQ(large.feed(*strict.config.make(0), helloOf("a.test", "")), Verdict::Refuse);
  EXPECT_EQ(strict.count("client_hello_too_large"), 1u);
  HelloInspector inspector;
  EarlyBytes early;
  EXPECT_EQ(early.feed(*inspector.config.make(0), helloOf("a.test", "").substr(0, 60)),
            Verdict::Wait);
  // Less than a record's head may become anything.
  HelloInspector patient;
  EarlyBytes few;
  EXPECT_EQ(few.feed(*patient.config.make(0), "abc"), Verdict::Wait);
}

TEST("Why first bytes are no TLS is told in the real server's words") {
  struct Case {
    std::string bytes;
    std::string_view told;
    size_t looked_at;
  };
  const auto record = [](const char* head, std::string_view body) {
    return std::string(head, 3) + '\0' + static_cast<char>(body.size()) + std::string(body);
  };
  const Case cases[] = {
      {"GET / HTTP/1.1", "1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST", 5},
      {"CONNECT a:1", "1000009b:SSL routines:OPENSSL_internal:HTTPS_PROXY_REQUEST", 5},
      {"hello", "100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER", 5},
      {"\x16\x03\x01\xff\xff", "10000092:SSL routines:OPENSSL_internal:ENCRYPTED_LENGTH_TOO_LONG",
       5},
      {record("\x17\x03\x01", "ab"), "100000e1:SSL routines:OPENSSL_internal:UNEXPECTED_RECORD", 7},
      {record("\x15\x03\x01", "abc"), "10000066:SSL routines:OPENSSL_internal:BAD_ALERT", 8},
      {record("\x16\x03\x01", "hello"),
       "10000096:SSL routines:OPENSSL_internal:EXCESSIVE_MESSAGE_SIZE", 10},
      {record("\x16\x03\x01", "\x02"), "100000df:SSL routines:OPENSSL_internal:UNEXPECTED_MESSAGE",
       6},
  };
  for (const Case& one : cases) {
    const NoHello told = explainNoHello(one.bytes);
    EXPECT_EQ(told.reason, "TLS_error|error:" + std::string(one.told) + ":TLS_error_end");
    EXPECT_EQ(told.looked_at, one.looked_at);
  }
  EXPECT(explainNoHello("ab").reason.empty());
  EXPECT(explainNoHello("").reason.empty());
}

TEST("Cut anywhere, a message is unfinished and never read beyond its end") {
  const std::string hello = helloOf("a.test", std::string("\x02h2"));
  for (size_t size = 1; size < hello.size(); ++size) {
    ClientHello found;
    EXPECT(readClientHello(hello.substr(0, size), 16 * 1024, &found) == HelloRead::Unfinished);
  }
  for (size_t at = 9; at < hello.size(); ++at) {
    std::string wrong = hello;
    wrong[at] = static_cast<char>(~wrong[at]);
    ClientHello found;
    readClientHello(wrong, 16 * 1024, &found);
  }
}

}  // namespace fairlead::filters
