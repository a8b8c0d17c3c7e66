#include "log/file_levels.h"

#include "log/glob.h"
#include "test/native/test.h"

namespace fairlead::log {
namespace {

TEST("globs: a star is any text, a question mark one character, the whole name must match") {
  EXPECT(matchesGlob("", ""));
  EXPECT(!matchesGlob("", "a"));
  EXPECT(matchesGlob("*", ""));
  EXPECT(matchesGlob("a*c", "abcbc"));
  EXPECT(!matchesGlob("a*c", "abcb"));
  EXPECT(matchesGlob("?b*", "ab"));
  EXPECT(!matchesGlob("?", ""));
  EXPECT(matchesGlob("native/*/stream*", "native/proxy/stream_end.cc"));
  EXPECT(!matchesGlob("stream", "streams"));
}

TEST("a glob that cannot match takes no longer for being clever") {
  EXPECT(!matchesGlob("a*a*a*a*a*a*a*a*a*a*a*b", std::string(50'000, 'a')));
}

Level levelAfter(std::vector<FileLevels::Rule> rules) {
  FileLevels levels;
  levels.setLevel(Level::Warning);
  levels.setRules(std::move(rules));
  return levels.logger("native/http/http1/server_connection.cc", Component::Http).level;
}

TEST(
    "a glob with a slash is for paths, one without for base names; a component's name selects "
    "too") {
  EXPECT_EQ(levelAfter({}), Level::Warning);
  EXPECT_EQ(levelAfter({{"native/http/http1/server_connection.cc", Level::Debug}}), Level::Debug);
  EXPECT_EQ(levelAfter({{"native/http/http1/server_connection", Level::Debug}}), Level::Warning);
  EXPECT_EQ(levelAfter({{"native/http/*", Level::Debug}}), Level::Debug);
  EXPECT_EQ(levelAfter({{"server_connection", Level::Debug}}), Level::Debug);
  EXPECT_EQ(levelAfter({{"server_connection.cc", Level::Debug}}), Level::Warning);
  EXPECT_EQ(levelAfter({{"serv*_conn?ction", Level::Debug}}), Level::Debug);
  EXPECT_EQ(levelAfter({{"http", Level::Debug}}), Level::Debug);
  EXPECT_EQ(levelAfter({{"ht*", Level::Debug}}), Level::Warning);
  EXPECT_EQ(levelAfter({{"*", Level::Off}}), Level::Off);
}

TEST("the first rule that matches counts, and new rules replace those before") {
  EXPECT_EQ(levelAfter({{"server*", Level::Info}, {"*", Level::Off}}), Level::Info);
  EXPECT_EQ(levelAfter({{"*", Level::Off}, {"server*", Level::Info}}), Level::Off);
  FileLevels levels;
  const FileLogger& a = levels.logger("native/a.cc", Component::Main);
  const FileLogger& b = levels.logger("native/b.cc", Component::Main);
  levels.setRules({{"a", Level::Debug}});
  EXPECT_EQ(a.level.load(), Level::Debug);
  levels.setRules({{"b", Level::Debug}});
  EXPECT_EQ(a.level.load(), Level::Info);
  EXPECT_EQ(b.level.load(), Level::Debug);
  levels.setLevel(Level::Error);
  EXPECT_EQ(b.level.load(), Level::Error);
}

TEST("files are listed once they are reached, each level of each once") {
  FileLevels levels;
  EXPECT_EQ(levels.list().size(), 0u);
  levels.logger("native/b.cc", Component::Main);
  levels.logger("native/a.cc", Component::Main);
  levels.logger("native/a.cc", Component::Http);
  EXPECT_EQ(levels.list().size(), 2u);
  EXPECT_EQ(levels.list()[0].first, "native/a.cc");
  EXPECT_EQ(levels.logger("native/a.cc", Component::Http).name, "native/a.cc:http");
  levels.setRules({{"http", Level::Debug}});
  EXPECT_EQ(levels.list().size(), 3u);
}

}  // namespace
}  // namespace fairlead::log
