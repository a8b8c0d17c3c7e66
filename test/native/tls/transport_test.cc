// Connections over TLS, each with the other end in the same test.
#include "tls/transport.h"

#include "test/native/test.h"
#include "test/native/tls/pair.h"
#include "tls/info.h"

namespace fairlead::tls {

namespace {

using net::TlsValue;
using test::Authority;
using test::authority;
using test::clientPlan;
using test::serverPlan;
using test::TlsEnd;
using test::TlsPair;
using test::TlsSide;
using SslCounter = stats::Ssl::Counter;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST("Bytes of any number pass both ways as they are, and a goodbye is the end") {
  const TlsSide server(serverPlan({authority().sign("server", "DNS:server.test")}));
  for (const uint32_t version : {test::kTls12, test::kTls13}) {
    plan::TlsContext plan = clientPlan(authority().pem());
    plan.max_version = version;
    const TlsSide client(plan);
    TlsPair pair(server, client);
    EXPECT_EQ(pair.client->readied, 0);
    EXPECT_EQ(pair.server->readied, 0);
    std::string all;
    for (int i = 0; i < 300; ++i) all += std::string(static_cast<size_t>(i * 37), 'a' + i % 26);
    pair.client->write(all);
    pair.server->write("hello");
    for (int i = 0; i < 50 && pair.server->got.size() < all.size(); ++i) pair.settle();
    EXPECT(pair.server->got == all);
    EXPECT_EQ(pair.client->got, "hello");
    pair.client->operator->()->endWriting();
    pair.settle();
    EXPECT(pair.server->ended);
    // The other half goes on.
    pair.server->write("more");
    pair.settle();
    EXPECT_EQ(pair.client->got, "hellomore");
  }
  EXPECT_EQ(server.count(SslCounter::Handshake), 2u);
  EXPECT_EQ(server.count(SslCounter::VersionsTLSv12), 1u);
  EXPECT_EQ(server.count(SslCounter::VersionsTLSv13), 1u);
  EXPECT_EQ(server.count(SslCounter::NoCertificate), 2u);
}

TEST("A goodbye that comes together with bytes is the end, though the socket stays open") {
  const TlsSide server(serverPlan({authority().sign("server")}));
  for (const uint32_t version : {test::kTls12, test::kTls13}) {
    net::Loop loop;
    net::FileDescriptor server_fd;
    net::FileDescriptor client_fd;
    http1::Peer to_server(&server_fd);
    http1::Peer to_client(&client_fd);
    plan::TlsContext plan = clientPlan();
    plan.max_version = version;
    const TlsSide client_of_version(plan);
    {
      TlsEnd server_end(loop, std::move(server_fd), server);
      TlsEnd client_end(loop, std::move(client_fd), client_of_version);
      for (int i = 0; i < 10; ++i) {
        loop.turn(0);
        to_server.write(to_client.read());
        loop.turn(0);
        to_client.write(to_server.read());
      }
      EXPECT_EQ(client_end.readied, 0);
      server_end.write("last words");
      server_end->endWriting();
      loop.turn(0);
      to_client.write(to_server.read());
      http1::settle(loop);
      EXPECT_EQ(client_end.got, "last words");
      EXPECT(client_end.ended);
    }
    loop.turn(0);
  }
}

TEST("A server of another authority, of another name or another hash is refused, and counted so") {
  const Authority other("other-ca");
  const TlsSide server(serverPlan({authority().sign("server", "DNS:server.test,DNS:*.wild.test")}));
  const auto subject = [](const std::string& name) {
    plan::SubjectMatch match;
    match.match.emplace().value = name;
    return match;
  };
  plan::TlsContext wrong_authority = clientPlan(other.pem());
  plan::TlsContext wrong_name = clientPlan(authority().pem());
  wrong_name.validation->subjects.push_back(subject("nobody.test"));
  plan::TlsContext wrong_hash = clientPlan(authority().pem());
  wrong_hash.validation->certificate_hashes.push_back(std::string(32, '\0'));
  plan::TlsContext wildcard = clientPlan(authority().pem());
  wildcard.validation->subjects.push_back(subject("a.wild.test"));
  plan::TlsContext untrusted = wrong_authority;
  untrusted.validation->accepts_untrusted = true;
  struct Trial {
    plan::TlsContext plan;
    bool works;
    SslCounter counter;
    const char* failure;
  };
  const Trial trials[] = {
      {wrong_authority, false, SslCounter::FailVerifyError,
       "unable to get local issuer certificate"},
      {wrong_name, false, SslCounter::FailVerifySan,
       "certificate SANs are [server.test, *.wild.test]"},
      {wrong_hash, false, SslCounter::FailVerifyCertHash, "CERTIFICATE_VERIFY_FAILED"},
      {wildcard, true, SslCounter::Handshake, ""},
      {untrusted, true, SslCounter::FailVerifyError, ""},
  };
  for (const Trial& trial : trials) {
    const TlsSide client(trial.plan);
    TlsPair pair(server, client);
    EXPECT_EQ(pair.client->readied, trial.works ? 0 : EPROTO);
    EXPECT_EQ(client.count(trial.counter), 1u);
    EXPECT(contains(pair.client->failure(), trial.failure));
    EXPECT_EQ(client.count(SslCounter::ConnectionError), 0u);
  }
}

TEST("A server that asks for a certificate says why it refuses, and knows who came") {
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan.server->requires_certificate = true;
  plan.validation.emplace().trusted_ca = authority().pem();
  const TlsSide server(plan);
  plan::TlsContext without = clientPlan();
  without.max_version = test::kTls12;
  {
    const TlsSide client(without);
    TlsPair pair(server, client);
    EXPECT_EQ(pair.server->readied, EPROTO);
    EXPECT_EQ(server.count(SslCounter::FailVerifyNoCert), 1u);
    EXPECT(contains(pair.server->failure(),
                    "|268435648:SSL routines:OPENSSL_internal:"
                    "PEER_DID_NOT_RETURN_A_CERTIFICATE:"));
  }
  const test::Identity ann = authority().sign("ann", "URI:spiffe://test/ann,email:ann@kit.test");
  plan::TlsContext with = clientPlan();
  test::addIdentity(&with, ann);
  const TlsSide client(with);
  TlsPair pair(server, client);
  EXPECT_EQ(pair.server->readied, 0);
  EXPECT_EQ(pair.server->value(TlsValue::PeerSubject), "CN=ann");
  EXPECT_EQ(pair.server->value(TlsValue::PeerIssuer), "CN=test-ca");
  EXPECT_EQ(pair.server->value(TlsValue::PeerUriNames), "spiffe://test/ann");
  EXPECT_EQ(pair.server->value(TlsValue::PeerEmailNames), "ann@kit.test");
  EXPECT_EQ(pair.server->value(TlsValue::LocalSubject), "CN=server");
  EXPECT(pair.server->operator->()->transport()->tls()->isPeerValidated());
}

TEST("A certificate need not be shown where nobody could verify it, nor where nobody is refused") {
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan.server->requires_certificate = true;
  const auto readied = [&plan] {
    const TlsSide server(plan);
    const TlsSide client(clientPlan());
    TlsPair pair(server, client);
    return pair.server->readied;
  };
  EXPECT_EQ(readied(), 0);
  plan.validation.emplace();
  EXPECT_EQ(readied(), 0);
  plan.validation->accepts_untrusted = true;
  EXPECT_EQ(readied(), 0);
  plan.validation->trusted_ca = authority().pem();
  EXPECT_EQ(readied(), EPROTO);
}

TEST("OpenSSL is asked once a client's hello is whole, or long, and not what is none") {
  const TlsSide server_side(serverPlan({authority().sign("server")}));
  const auto sessions = [&](const std::vector<std::string>& parts) {
    net::Loop loop;
    net::FileDescriptor fd;
    http1::Peer peer(&fd);
    std::string said;
    {
      TlsEnd server(loop, std::move(fd), server_side);
      for (const std::string& part : parts) {
        peer.write(part);
        loop.turn(0);
        const auto tls = server->transport()->tls();
        said += static_cast<const Info&>(*tls).hasSsl() ? '!' : '.';
      }
    }
    loop.turn(0);
    return said;
  };
  const std::string hello = "\x01" + std::string("\0\0\x2b\3\3", 5) + std::string(33, '\0') +
                            std::string("\0\2\xc0\x2f\1\0\0\0", 8);
  const std::string head("\x16\x03\x01\x00\x2f", 5);
  EXPECT_EQ(sessions({head.substr(0, 3), head.substr(3), hello.substr(0, 40), hello.substr(40)}),
            "...!");
  EXPECT_EQ(sessions({"GET / HTTP/1.1\r\n"}), ".");
  EXPECT_EQ(sessions({std::string("\x16\x03\x01\x40\x00", 5), std::string(4000, 'x'),
                      std::string(91, 'x')}),
            "..!");
}

TEST("What is not TLS is told so, and counted as an error of the connection") {
  const TlsSide server(serverPlan({authority().sign("server")}));
  net::Loop loop;
  net::FileDescriptor fd;
  http1::Peer peer(&fd);
  TlsEnd end(loop, std::move(fd), server);
  peer.write("not tls at all\r\n");
  http1::settle(loop);
  EXPECT_EQ(end.readied, EPROTO);
  EXPECT_EQ(peer.read(), std::string("\x15\x03\x01\x00\x02\x02\x46", 7));
  EXPECT_EQ(server.count(SslCounter::ConnectionError), 1u);
  EXPECT_EQ(
      end.failure(),
      "TLS_error:|268435703:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER:TLS_error_end");
}

TEST("Of ciphers of TLS 1.3 the client's order counts, of older ones the server's") {
  plan::TlsContext server_plan = serverPlan({authority().sign("server")});
  server_plan.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256";
  const TlsSide server(server_plan);
  const auto chosen = [&server](uint32_t version, const std::string& suites) {
    plan::TlsContext plan = clientPlan();
    plan.max_version = version;
    (version == test::kTls13 ? plan.tls13_ciphers : plan.ciphers) = suites;
    const TlsSide client(plan);
    TlsPair pair(server, client);
    return pair.client->value(TlsValue::Cipher);
  };
  const std::string aes_128 = "TLS_AES_128_GCM_SHA256";
  const std::string aes_256 = "TLS_AES_256_GCM_SHA384";
  EXPECT_EQ(chosen(test::kTls13, aes_128 + ":" + aes_256), aes_128);
  EXPECT_EQ(chosen(test::kTls13, aes_256 + ":" + aes_128), aes_256);
  EXPECT_EQ(chosen(test::kTls12, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"),
            "ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST("Of SPIFFE the authorities of its own trust domain vouch for a client, and for no authority") {
  const Authority one("one-ca");
  const Authority two("two-ca");
  const auto sign = [](const Authority& by, const std::string& names, const std::string& usage) {
    return by.sign("client", names, false, 10, false, usage);
  };
  const std::string leaf = "digitalSignature";
  const std::string name = "URI:spiffe://one.test/client";
  struct Trial {
    test::Identity who;
    const char* failure;
  };
  const Trial trials[] = {
      {sign(one, "DNS:a.test," + name, leaf), ""},
      {sign(two, "URI:spiffe://two.test/x", leaf), "verify cert failed: SAN match"},
      {sign(two, name, leaf), "depth 0: unable to get local issuer certificate"},
      {sign(one, "URI:spiffe://three.test/x", leaf), "no trust bundle store"},
      {sign(one, "URI:spiffe://one.test", leaf), "no trust bundle store"},
      {sign(one, "DNS:one.test", leaf), "no trust bundle store"},
      {sign(one, name, "digitalSignature,keyCertSign"), "cert precheck"},
      {sign(one, name, ""), "cert precheck"},
  };
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan::TlsValidation& validation = plan.validation.emplace();
  validation.spiffe.emplace().domains = {{"one.test", one.pem()}, {"two.test", two.pem()}};
  plan::SubjectMatch& subject = validation.subjects.emplace_back();
  subject.kind = plan::SubjectMatch::Kind::Uri;
  subject.match.emplace().value = "spiffe://one.test/client";
  for (const Trial& trial : trials) {
    const TlsSide server(plan);
    plan::TlsContext with = clientPlan();
    test::addIdentity(&with, trial.who);
    const TlsSide client(with);
    TlsPair pair(server, client);
    const bool works = *trial.failure == '\0';
    EXPECT_EQ(pair.server->readied, works ? 0 : EPROTO);
    EXPECT(contains(pair.server->failure(), trial.failure));
    const bool is_name = contains(trial.failure, "SAN match");
    EXPECT_EQ(server.count(SslCounter::FailVerifyError), works || is_name ? 0u : 1u);
    EXPECT_EQ(server.count(SslCounter::FailVerifySan), is_name ? 1u : 0u);
    // Logs say who was refused.
    EXPECT_EQ(pair.server->value(TlsValue::PeerSubject), "CN=client");
  }
  const TlsSide server(plan);
  const TlsSide nobody(clientPlan());
  TlsPair pair(server, nobody);
  EXPECT_EQ(server.count(SslCounter::FailVerifyNoCert), 1u);
}

TEST("The certificate is the one for the name that the client sends, and of the key it takes") {
  const TlsSide server(
      serverPlan({authority().sign("rsa", "DNS:rsa.test,DNS:both.test", true),
                  authority().sign("ec", "DNS:ec.test,DNS:*.many.test,DNS:both.test")}));
  const auto chosen = [&server](const std::string& name) {
    plan::TlsContext plan = clientPlan(authority().pem());
    plan.sni = name;
    const TlsSide client(plan);
    TlsPair pair(server, client);
    return pair.client->value(TlsValue::PeerSubject);
  };
  EXPECT_EQ(chosen("rsa.test"), "CN=rsa");
  EXPECT_EQ(chosen("ec.test"), "CN=ec");
  EXPECT_EQ(chosen("one.many.test"), "CN=ec");
  EXPECT_EQ(chosen("one.two.many.test"), "CN=rsa");
  EXPECT_EQ(chosen("both.test"), "CN=ec");
  EXPECT_EQ(chosen("nobody.test"), "CN=rsa");
  EXPECT_EQ(chosen(""), "CN=ec");
}

TEST("A handshake that takes too long ends, and is counted") {
  const TlsSide server(serverPlan({authority().sign("server")}), 5);
  net::Loop loop;
  net::FileDescriptor fd;
  http1::Peer peer(&fd);
  TlsEnd end(loop, std::move(fd), server);
  for (int i = 0; i < 40 && end.readied < 0; ++i) loop.turn(5);
  EXPECT_EQ(end.readied, EPROTO);
  EXPECT_EQ(end.failure(), "transport socket timeout was reached");
  const auto late = stats::Listener::Counter::DownstreamCxTransportSocketConnectTimeout;
  EXPECT_EQ(server.listener->counter(static_cast<size_t>(late)).value, 1u);
}

TEST("Of protocols the server's first that the client offers is agreed on; none is no obstacle") {
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan.alpn = {"first", "second"};
  const TlsSide server(plan);
  const auto agreed = [&server](std::vector<std::string> offered) {
    plan::TlsContext own = clientPlan();
    own.alpn = std::move(offered);
    const TlsSide client(own);
    TlsPair pair(server, client);
    EXPECT_EQ(pair.client->readied, 0);
    return std::string(pair.server->operator->()->transport()->tls()->protocol());
  };
  EXPECT_EQ(agreed({"second", "first"}), "first");
  EXPECT_EQ(agreed({"other", "second"}), "second");
  EXPECT_EQ(agreed({"other"}), "");
  EXPECT_EQ(agreed({}), "");
}

TEST("A context that lacks a secret fails its connections at once; another one takes its place") {
  plan::TlsContext plan = serverPlan({});
  plan.is_incomplete = true;
  const TlsSide server(plan);
  const TlsSide client(clientPlan());
  {
    TlsPair pair(server, client);
    EXPECT_EQ(pair.server->readied, EPROTO);
    EXPECT_EQ(pair.server->failure(), "TLS error: Secret is not supplied by SDS");
  }
  server.transports->replace(
      tls::Context::build(serverPlan({authority().sign("server")}), {1}).value());
  TlsPair pair(server, client);
  EXPECT_EQ(pair.server->readied, 0);
}

}  // namespace fairlead::tls
