// The expected lines were seen from Envoy 1.40, but for %c with a day of one digit, and for the
// years.
#include "log/pattern.h"

#include <unistd.h>

#include <ctime>
#include <string>

#include "test/native/test.h"

namespace fairlead::log {
namespace {

// 2026-11-21 09:13:49.027123456 UTC.
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kTime = 1'795'252'429 * kSecond + 27'123'456;

struct Given {
  std::string text = "error initializing configuration 'x': Invalid path: x";
  const char* zone = "UTC";
  int64_t time_ns = kTime;
  bool escapes = false;
  bool has_place = true;
};

std::string lineOf(std::string_view pattern, const Given& given = {}) {
  ::setenv("TZ", given.zone, 1);
  ::tzset();
  Record record;
  record.time_ns = given.time_ns;
  record.thread = 27149;
  record.level = Level::Critical;
  record.logger = "main";
  if (given.has_place) {
    record.line = 76;
    record.file = "source/server/config_validation/server.cc";
    record.function = "void Server::ValidationInstance(const Options&)";
  }
  record.text = given.text;
  std::string line;
  Pattern(pattern, given.escapes).format(record, &line);
  EXPECT(!line.empty() && line.back() == '\n');
  line.pop_back();
  return line;
}

TEST("%v is the message as it is; a line without flags is the pattern") {
  EXPECT_EQ(lineOf("%v"), "error initializing configuration 'x': Invalid path: x");
  EXPECT_EQ(lineOf("a\nb%v", {.text = "c\nd"}), "a\nbc\nd");
  EXPECT_EQ(lineOf("x"), "x");
  EXPECT_EQ(lineOf(""), "");
  EXPECT_EQ(lineOf("\xc3\xa9%v\xc3\xa9", {.text = "-"}), "\xc3\xa9-\xc3\xa9");
}

TEST("%_ is the message on one line, %j as the inside of a JSON string") {
  EXPECT_EQ(lineOf("%_", {.text = "a\nb\\c\"d"}), "a\\nb\\c\"d");
  EXPECT_EQ(lineOf("%j", {.text = "a\nb\\c\"d\x7f\x01\t\b\f\re/\xc3\xa9\xff"}),
            "a\\nb\\\\c\\\"d\x7f\\u0001\\t\\b\\f\\re/\xc3\xa9\xff");
}

TEST("%* are the tags of a message, %+ is what follows them, as in JSON") {
  const Given tagged = {.text = "[Tags: \"ConnectionId\":\"1\",\"StreamId\":\"7\"] a\nb\""};
  EXPECT_EQ(lineOf("%*", tagged), ",\"ConnectionId\":\"1\",\"StreamId\":\"7\"");
  EXPECT_EQ(lineOf("%+", tagged), "a\\nb\\\"");
  EXPECT_EQ(lineOf("[%*]"), "[]");
  EXPECT_EQ(lineOf("%+", {.text = "a \"b\""}), "a \\\"b\\\"");
  EXPECT_EQ(lineOf("%*|%+", {.text = "[Tags: x"}), "|[Tags: x");
}

TEST("%t, %P and %n: thread, process, logger") {
  const std::string process = std::to_string(::getpid());
  EXPECT_EQ(lineOf("%t|%12t|%2!t|%-12t|"), "27149|       27149|27|27149       |");
  EXPECT_EQ(lineOf("%P"), process);
  EXPECT_EQ(lineOf("%n|%8n|%-8n|%2!n"), "main|    main|main    |ma");
}

TEST("%l and %L: the level, whole and as a letter") {
  EXPECT_EQ(lineOf("%l|%L|%3L"), "critical|C|  C");
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    Record record;
    record.level = static_cast<Level>(i);
    std::string line;
    Pattern("%l %L").format(record, &line);
    constexpr std::string_view kLetters = "TDIWECO";
    EXPECT_EQ(line, std::string(kLevelNames[i]) + ' ' + kLetters[i] + '\n');
  }
}

TEST("%a %A %b %B %h: weekdays and months") {
  EXPECT_EQ(lineOf("%a|%5a|%2!a|%A|%12A|%b|%B|%12B|%h"),
            "Sat|  Sat|Sa|Saturday|    Saturday|Nov|November|    November|Nov");
}

TEST("%c: date and time; what it counts as is fixed") {
  EXPECT_EQ(lineOf("%c|%30c|%10!c|%24!c|%23!c|"),
            "Sat Nov 21 09:13:49 2026|      Sat Nov 21 09:13:49 2026|Sat Nov 21|"
            "Sat Nov 21 09:13:49 2026|Sat Nov 21 09:13:49 202|");
  EXPECT_EQ(lineOf("%c", {.time_ns = kTime - 14 * 86'400 * kSecond}), "Sat Nov 7 09:13:49 2026");
}

TEST("%C %Y %D %x %m %d: dates") {
  EXPECT_EQ(lineOf("%C|%4C|%Y|%6Y|%2!Y|"), "26|  26|2026|  2026|20|");
  EXPECT_EQ(lineOf("%D|%12D|%8!D|%9!D|%10!D|%x"),
            "11/21/26|    11/21/26|11/21/26| 11/21/26|  11/21/26|11/21/26");
  EXPECT_EQ(lineOf("%d|%m|%4m|%1!d"), "21|11|  11|2");
}

TEST("%H %I %M %S %p %r: midnight is 00 of twelve hours") {
  const auto at = [](int hour) {
    return lineOf("%H %I %p %r", {.time_ns = kTime + (hour - 9) * 3600 * kSecond});
  };
  EXPECT_EQ(at(0), "00 00 AM 00:13:49 AM");
  EXPECT_EQ(at(1), "01 01 AM 01:13:49 AM");
  EXPECT_EQ(at(12), "12 12 PM 12:13:49 PM");
  EXPECT_EQ(at(13), "13 01 PM 01:13:49 PM");
  EXPECT_EQ(at(23), "23 11 PM 11:13:49 PM");
  EXPECT_EQ(lineOf("%M:%S"), "13:49");
  EXPECT_EQ(lineOf("%r|%14r|%5!r|%p|%4p|%1!p"), "09:13:49 AM|   09:13:49 AM|09:13|AM|  AM|A");
}

TEST("%e %f %F %E: parts of a second, and seconds since 1970") {
  EXPECT_EQ(lineOf("%e|%5e|%1!e|%E|%12E|%4!E"), "027|  027|0|1795252429|  1795252429|1795");
  EXPECT_EQ(lineOf("%f|%8f|%F|%11F|%3!F"), "027123|  027123|027123456|  027123456|027");
}

TEST("%R %T %X: times") {
  EXPECT_EQ(lineOf("%T|%10T|%2!T|%R|%8R|%X"), "09:13:49|  09:13:49|09|09:13|   09:13|09:13:49");
}

TEST("%z: how far the clock is from UTC") {
  EXPECT_EQ(lineOf("%z|%8z|%2!z"), "+00:00|  +00:00|+0");
  EXPECT_EQ(lineOf("%z %T", {.zone = "XXX+5:30"}), "-05:30 03:43:49");
  EXPECT_EQ(lineOf("%z %T", {.zone = "XXX-5:45"}), "+05:45 14:58:49");
}

TEST("%s %g %# %@ %!: where a line comes from") {
  EXPECT_EQ(lineOf("%s|%40s|%4!s|%g|%8!g"),
            "server.cc|                               server.cc|serv|"
            "source/server/config_validation/server.cc|source/s");
  EXPECT_EQ(lineOf("%#|%6#|%1!#|%-6#"), "76|    76|7|76    ");
  EXPECT_EQ(lineOf("%@|%60@|%5!@|%-60@|"),
            "source/server/config_validation/server.cc:76|"
            "                source/server/config_validation/server.cc:76|sourc|"
            "source/server/config_validation/server.cc:76                |");
  EXPECT_EQ(lineOf("%!|%12!|%-12!|%3!!|"),
            "ValidationInstance|ValidationInstance|ValidationInstance|Val|");
  EXPECT_EQ(lineOf("%s|%g|%#|%@|%!|%4#|", {.has_place = false}), "|||||    |");
}

TEST("%u %i %o %O: how long ago the line before was") {
  Pattern pattern("%u %i %o %O");
  Record record;
  record.time_ns = kTime;
  std::string line;
  pattern.format(record, &line);
  line.clear();
  record.time_ns += 2'345'678'901;
  pattern.format(record, &line);
  EXPECT_EQ(line, "2345678901 2345678 2345 2\n");
}

TEST("%^ and %$ show nothing without colours, %& never does") {
  EXPECT_EQ(lineOf("%^%v%$", {.text = "a"}), "a");
  EXPECT_EQ(lineOf("%&|%4&|%5^x|"), "|    |x|");
}

TEST("%% is a percent sign; a flag that means nothing stays; one that is missing goes") {
  EXPECT_EQ(lineOf("%%|%5%%|%%%v", {.text = "a"}), "%|%%|%a");
  EXPECT_EQ(lineOf("%10%|"), "%|");
  EXPECT_EQ(lineOf("%q|%10q|%k|%G|%w|"), "%q|%q|%k|%G|%w|");
  EXPECT_EQ(lineOf("a%"), "a");
  EXPECT_EQ(lineOf("%-|%=|%"), "%|%|");
  EXPECT_EQ(lineOf("%5|%5"), "%|");
  EXPECT_EQ(lineOf("%\xc3\xa9|"), "%\xc3\xa9|");
}

TEST("an exclamation mark that cuts nothing is the flag of functions") {
  EXPECT_EQ(lineOf("%5!q"), "ValidationInstanceq");
  EXPECT_EQ(lineOf("%!!|%!5l|%!l|"),
            "ValidationInstance!|ValidationInstance5l|ValidationInstancel|");
}

TEST("a width aligns right, left with - and centred with =; with ! it also cuts") {
  EXPECT_EQ(lineOf("%10l|%-10l|%=10l|%=9l|"), "  critical|critical  | critical |critical |");
  EXPECT_EQ(lineOf("%2!l|%-2!l|%=2!l|%12!l|"), "cr|cr|cr|    critical|");
  EXPECT_EQ(lineOf("%0l|%00012l|%-l|%=l"), "critical|    critical|critical|critical");
  EXPECT_EQ(lineOf("%100l"), std::string(64 - 8, ' ') + "critical");
  EXPECT_EQ(lineOf("%99999999999999999999999l"), lineOf("%64l"));
  EXPECT_EQ(lineOf("%-64v|%5!v|"),
            "error initializing configuration 'x': Invalid path: x           |error|");
}

TEST("the flags that change the message take no width") {
  const Given given = {.text = "a long message"};
  EXPECT_EQ(lineOf("%30_|%5!_|%30j|%5!j|%30*|%5!+|", given),
            "a long message|a long message|a long message|a long message||a long message|");
}

TEST("escaped lines are printable ASCII up to the white space at their end") {
  EXPECT_EQ(lineOf("%v", {.text = "a\"'\\\n\t\x01\xc3\xa9 \n", .escapes = true}),
            "a\\\"\\'\\\\\\n\\t\\001\\303\\251 \n");
  EXPECT_EQ(lineOf("\"%v\"\n ", {.text = "x\n", .escapes = true}), "\\\"x\\n\\\"\n ");
}

TEST("the default shows time, thread, level, logger, source and message") {
  EXPECT_EQ(lineOf("[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v", {.text = "hello"}),
            "[2026-11-21 09:13:49.027][27149][critical][main] "
            "[source/server/config_validation/server.cc:76] hello");
}

}  // namespace
}  // namespace fairlead::log
