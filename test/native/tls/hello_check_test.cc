// What a server says to clients whose first message is broken: as the real server's library does.
#include "tls/hello_check.h"

#include <string>
#include <vector>

#include "test/native/test.h"

namespace fairlead::tls {

namespace {

constexpr HelloRules kRules{.min_version = 0x0303, .max_version = 0x0304, .has_protocols = true};
constexpr uint16_t kNone = 0;

std::string numberBytes(uint32_t value, int size) {
  std::string bytes;
  while (size-- > 0) bytes.push_back(static_cast<char>(value >> (8 * size)));
  return bytes;
}

std::string vectorBytes(int length_bytes, const std::string& body) {
  return numberBytes(static_cast<uint32_t>(body.size()), length_bytes) + body;
}

std::string extension(uint32_t type, const std::string& body) {
  return numberBytes(type, 2) + vectorBytes(2, body);
}

struct Hello {
  uint32_t version = 0x0303;
  std::string session = {};
  std::string ciphers = "\x13\x01\xc0\x2f";
  std::string compressions = std::string(1, '\0');
  std::string extensions = {};
  std::string rest = {};
};

std::string bodyOf(const Hello& hello) {
  return numberBytes(hello.version, 2) + std::string(32, 'r') + vectorBytes(1, hello.session) +
         vectorBytes(2, hello.ciphers) + vectorBytes(1, hello.compressions) +
         vectorBytes(2, hello.extensions) + hello.rest;
}

std::string messageOf(const Hello& hello) { return "\x01" + vectorBytes(3, bodyOf(hello)); }

std::string record(const std::string& body, uint32_t type = 22) {
  return numberBytes(type, 1) + "\x03\x01" + vectorBytes(2, body);
}

std::string recordOf(const Hello& hello) { return record(messageOf(hello)); }

const std::string kNewest = extension(43, vectorBytes(1, "\x03\x04"));
const std::string kNoSession(33, 's');

std::string told(const HelloCheck& check) {
  if (check.outcome == HelloCheck::Outcome::Wait) return "waits";
  if (check.outcome == HelloCheck::Outcome::Begin) return "begins";
  if (check.outcome == HelloCheck::Outcome::Goodbye) return "goodbye";
  std::string names;
  for (const LibraryError& error : check.errors) {
    if (error.number == 0) break;
    names += " " + (error.name ? std::string(error.name) : std::to_string(error.number));
  }
  return std::to_string(check.alert) + names;
}

std::string told(const std::string& bytes) { return told(checkHello(bytes, kRules)); }

}  // namespace

TEST(
    "A hello that is whole begins a handshake, in whatever records; one that is not is waited "
    "for") {
  const std::string hello = recordOf({.extensions = kNewest});
  EXPECT_EQ(told(hello), "begins");
  for (size_t size = 0; size < hello.size(); ++size) {
    EXPECT_EQ(told(hello.substr(0, size)), "waits");
  }
  const std::string message = messageOf({});
  EXPECT_EQ(told(record(message.substr(0, 2)) + record(message.substr(2, 30)) + record("") +
                 record(message.substr(32))),
            "begins");
  // What comes after it is nobody's business here.
  EXPECT_EQ(told(hello + record("\x01", 20)), "begins");
  EXPECT_EQ(told(std::string("\x80\x2e\x01\x03\x01", 5)), "begins");
}

TEST("Warnings before a hello are taken away, a few of them; a goodbye is no error") {
  const std::string warning = record("\x01\x5a", 21);
  const HelloCheck check = checkHello(warning + warning + recordOf({}), kRules);
  EXPECT_EQ(told(check), "begins");
  EXPECT_EQ(check.skipped, 2 * warning.size());
  EXPECT_EQ(told(warning + warning + warning + warning), "waits");
  EXPECT_EQ(checkHello(warning + "\x16", kRules).skipped, warning.size());
  EXPECT_EQ(told(warning + warning + warning + warning + warning), "10 TOO_MANY_WARNING_ALERTS");
  EXPECT_EQ(told(record(std::string("\x01\x00", 2), 21)), "goodbye");
  EXPECT_EQ(told(record("\x02\x28", 21)), "0 1040");
  EXPECT_EQ(told(record("\x03\x28", 21)), "47 UNKNOWN_ALERT_TYPE");
  EXPECT_EQ(told(record("\x02", 21)), "50 BAD_ALERT");
}

TEST("Records that no hello has are refused as soon as they are known") {
  EXPECT_EQ(told("GET / HTTP/1.1\r\n"), "0 HTTP_REQUEST");
  EXPECT_EQ(told("CONNECT a:1"), "0 HTTPS_PROXY_REQUEST");
  EXPECT_EQ(told("hello"), "70 WRONG_VERSION_NUMBER");
  EXPECT_EQ(told(std::string("\x16\x03\x01\x41\x40", 5)), "waits");
  EXPECT_EQ(told(std::string("\x16\x03\x01\x41\x41", 5)), "22 ENCRYPTED_LENGTH_TOO_LONG");
  EXPECT_EQ(told(record(std::string(16385, 'x'))), "22 DATA_LENGTH_TOO_LONG");
  EXPECT_EQ(told(record("\x01", 23)), "10 UNEXPECTED_RECORD");
  EXPECT_EQ(told(record("\x01", 20)), "10 UNEXPECTED_RECORD");
  std::string empty;
  for (int i = 0; i < 32; ++i) empty += record("");
  EXPECT_EQ(told(empty), "waits");
  EXPECT_EQ(told(empty + record("")), "10 TOO_MANY_EMPTY_FRAGMENTS");
  EXPECT_EQ(told(record("\x02" + vectorBytes(3, "ab"))), "10 UNEXPECTED_MESSAGE");
}

TEST("A message may be longer where certificates are asked for") {
  const auto begun = [](uint32_t size) { return record("\x01" + numberBytes(size, 3)); };
  HelloRules rules = kRules;
  EXPECT_EQ(told(begun(16384)), "waits");
  EXPECT_EQ(told(begun(16385)), "47 EXCESSIVE_MESSAGE_SIZE");
  rules.asks_for_certificate = true;
  EXPECT_EQ(told(checkHello(begun(102400), rules)), "waits");
  EXPECT_EQ(told(checkHello(begun(102401), rules)), "47 EXCESSIVE_MESSAGE_SIZE");
}

TEST("A hello is refused by what is first found wrong with it") {
  const std::string bad_name = extension(0, "");
  struct Case {
    Hello hello;
    uint16_t version;
    std::string_view told;
  };
  const std::vector<Case> cases = {
      {{.session = kNoSession}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.ciphers = "\x13\x01\x13"}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.ciphers = ""}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.compressions = ""}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.rest = "x"}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.extensions = "\x01"}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.extensions = extension(99, "") + extension(99, "")}, kNone, "50 CLIENTHELLO_PARSE_FAILED"},
      {{.extensions = bad_name + extension(43, "")}, kNone, "50 ERROR_PARSING_EXTENSION"},
      {{.extensions = extension(0, vectorBytes(2, std::string("\0\0\0", 3)))},
       kNone,
       "112 ERROR_PARSING_EXTENSION"},
      {{.version = 0x0302}, kNone, "70 UNSUPPORTED_PROTOCOL"},
      {{.version = 0x0000}, kNone, "70 UNSUPPORTED_PROTOCOL"},
      {{.extensions = extension(43, vectorBytes(1, "\x03\x09"))}, kNone, "70 UNSUPPORTED_PROTOCOL"},
      {{.extensions = extension(43, vectorBytes(1, ""))}, kNone, "50 DECODE_ERROR"},
      {{.extensions = extension(43, vectorBytes(1, "\x03\x03\x03"))}, kNone, "50 DECODE_ERROR"},
      {{.ciphers = std::string("\xc0\x2f\x56\x00", 4)}, 0x0303, "86 INAPPROPRIATE_FALLBACK"},
      {{.compressions = "\x01"}, 0x0303, "47 INVALID_COMPRESSION_LIST"},
      {{.compressions = std::string("\x01\x00", 2), .extensions = kNewest},
       0x0304,
       "47 INVALID_COMPRESSION_LIST"},
      {{.extensions = extension(10, std::string(2, '\0'))},
       0x0303,
       "50 ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = kNewest + extension(13, vectorBytes(2, "abc"))},
       0x0304,
       "50 DECODE_ERROR ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(11, vectorBytes(1, "\x01"))},
       0x0303,
       "47 ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(0xff01, vectorBytes(1, "x"))},
       0x0303,
       "40 RENEGOTIATION_MISMATCH ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(0xff01, "")},
       0x0303,
       "50 RENEGOTIATION_ENCODING_ERR ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(23, "x")}, 0x0303, "50 ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = kNewest + extension(42, "x")},
       0x0304,
       "50 ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(45, vectorBytes(1, ""))},
       0x0303,
       "50 ERROR_PARSING_EXTENSION PARSE_TLSEXT"},
      {{.extensions = extension(16, vectorBytes(2, std::string(1, '\0')))},
       0x0303,
       "50 PARSE_TLSEXT"},
      // Of no meaning in the version that is spoken.
      {{.extensions = kNewest + extension(23, "x") + extension(11, "") + extension(0xff01, "")},
       kNone,
       "begins"},
      {{.extensions = extension(42, "x")}, kNone, "begins"},
      {{.version = 0x0400}, kNone, "begins"},
  };
  for (const Case& one : cases) {
    const HelloCheck check = checkHello(recordOf(one.hello), kRules);
    EXPECT_EQ(told(check), one.told);
    EXPECT_EQ(check.version, one.version);
  }
  EXPECT_EQ(told(record(messageOf({}) + "more")), "10 EXCESS_HANDSHAKE_DATA");
}

}  // namespace fairlead::tls
