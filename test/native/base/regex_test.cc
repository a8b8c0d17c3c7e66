#include "base/regex.h"

#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "test/native/base/regex_programs.h"
#include "test/native/test.h"

namespace fairlead {
namespace {

std::string fromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

std::vector<std::string> fieldsOf(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  return fields;
}

std::string replaced(const Regex& regex, std::string_view text, std::string_view rewrite) {
  std::string out;
  regex.replaceAll(text, rewrite, &out);
  return out;
}

TEST("what re2js finds in the generated cases is found") {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/regex_cases.txt");
  EXPECT(file.good());
  std::optional<Regex> regex;
  std::string pattern;
  int texts = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = fieldsOf(line);
    if (fields[0] == "regex") {
      Result<Regex> loaded = Regex::load(fromHex(fields[1]));
      EXPECT(loaded.ok());
      regex = loaded.value();
      pattern = fields[2];
      continue;
    }
    ++texts;
    const std::string text = fromHex(fields[1]);
    const std::string what = pattern + " in '" + text + "': ";
    EXPECT_EQ(what + std::to_string(regex->fullMatch(text)), what + fields[2]);
    EXPECT_EQ(what + std::to_string(regex->search(text)), what + fields[3]);
    EXPECT_EQ(what + replaced(*regex, text, fromHex(fields[4])), what + fromHex(fields[5]));
  }
  EXPECT(texts > 500);
}

}  // namespace
}  // namespace fairlead
