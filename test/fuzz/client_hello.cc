// Any bytes as what a TLS client says first: more bytes never change what was read, nor does how
// records cut it, and fingerprints have their form. Seeds are what OpenSSL's clients say.
#include "filters/listener/client_hello.h"

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

using namespace fairlead;
using filters::ClientHello;
using filters::HelloRead;

namespace {

constexpr size_t kMostBytes = 16 * 1024;
constexpr size_t kRecordHead = 5;

bool areSame(const ClientHello& a, const ClientHello& b) {
  return a.version == b.version && a.server_name == b.server_name && a.protocols == b.protocols &&
         a.ciphers == b.ciphers && a.extensions == b.extensions && a.groups == b.groups &&
         a.point_formats == b.point_formats && a.versions == b.versions &&
         a.signatures == b.signatures;
}

// The first part alone for which it is decided, and all that has more.
void checkPrefixes(std::string_view bytes, HelloRead whole, const ClientHello& hello) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    ClientHello part;
    const HelloRead read = readClientHello(bytes.substr(0, size), kMostBytes, &part);
    if (read == HelloRead::Unfinished) continue;
    FL_CHECK(read == whole);
    if (read == HelloRead::Found) FL_CHECK(areSame(part, hello));
    return;
  }
}

std::string recordOf(std::string_view part) {
  std::string record("\x16\x03\x01", 3);
  record.push_back(static_cast<char>(part.size() >> 8));
  record.push_back(static_cast<char>(part.size()));
  return record.append(part);
}

// As one record, and as many.
void checkCuts(std::string_view message) {
  if (message.empty()) return;
  ClientHello whole;
  const HelloRead read = readClientHello(recordOf(message), kMostBytes, &whole);
  for (const size_t size : {1, 7, 100}) {
    std::string cut;
    for (size_t at = 0; at < message.size(); at += size) cut += recordOf(message.substr(at, size));
    ClientHello part;
    FL_CHECK(readClientHello(cut, kMostBytes, &part) == read);
    if (read == HelloRead::Found) FL_CHECK(areSame(part, whole));
  }
}

void checkFingerprints(const ClientHello& hello) {
  const std::string ja3 = ja3Of(hello);
  FL_CHECK(ja3.size() == 32);
  const std::string ja4 = ja4Of(hello);
  FL_CHECK(ja4.size() == 36 && ja4[0] == 't' && ja4[10] == '_' && ja4[23] == '_');
}

// What differs from one time to the next, of a hello that was made here.
void blankChance(std::string* hello) {
  constexpr size_t kRandom = kRecordHead + 4 + 2;
  hello->replace(kRandom, 32, 32, 'r');
  size_t at = kRandom + 32;
  const auto byte = [&](size_t place) { return static_cast<uint8_t>((*hello)[place]); };
  const auto number = [&](size_t place) { return size_t{byte(place)} << 8 | byte(place + 1); };
  hello->replace(at + 1, byte(at), byte(at), 's');
  at += 1 + byte(at);
  at += 2 + number(at);
  at += 1 + byte(at);
  constexpr size_t kKeyShare = 51;
  for (at += 2; at + 4 <= hello->size(); at += 4 + number(at + 2)) {
    if (number(at) == kKeyShare)
      hello->replace(at + 10, number(at + 2) - 6, number(at + 2) - 6, 'k');
  }
}

std::string helloOf(int version, const char* name, std::string_view protocols) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version);
  // One share of one group, whose place is known.
  SSL_CTX_set1_groups_list(context.get(), "X25519:P-256");
  const std::unique_ptr<SSL, decltype(&SSL_free)> client(SSL_new(context.get()), &SSL_free);
  if (name) SSL_set_tlsext_host_name(client.get(), name);
  if (!protocols.empty()) {
    SSL_set_alpn_protos(client.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                        static_cast<unsigned>(protocols.size()));
  }
  BIO* const said = BIO_new(BIO_s_mem());
  SSL_set_bio(client.get(), BIO_new(BIO_s_mem()), said);
  SSL_set_connect_state(client.get());
  SSL_do_handshake(client.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(said, &bytes);
  std::string hello(bytes, static_cast<size_t>(size));
  blankChance(&hello);
  return hello;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ClientHello hello;
  const HelloRead read = readClientHello(bytes, kMostBytes, &hello);
  if (read == HelloRead::Found) checkFingerprints(hello);
  checkPrefixes(bytes, read, hello);
  checkCuts(bytes.substr(std::min(size, kRecordHead)));
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  constexpr std::string_view kProtocols("\x02h2\x08http/1.1", 12);
  const std::string hello = helloOf(TLS1_3_VERSION, "a.test", kProtocols);
  return {hello, helloOf(TLS1_2_VERSION, "LONG.Name.test", {}),
          helloOf(TLS1_3_VERSION, nullptr, kProtocols),
          recordOf(hello.substr(kRecordHead, 3)) + recordOf(hello.substr(kRecordHead + 3)),
          std::string("\x16\x03\x01\x40\x00\x01\x00\x7f\xff", 9)};
}
