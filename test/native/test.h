// The native tests' vocabulary: TEST("a rule, with what is observed") { EXPECT…; }. A failed
// expectation is printed with its place and fails the run; the test goes on.
#pragma once

#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fairlead::test {

struct Case {
  const char* name;
  const char* file;
  void (*run)();
  // It shows where reads and writes of a raw socket are cut.
  bool needs_raw_socket;
};

std::vector<Case>& cases();
// Counts a failure of the case that runs.
void fail(const char* file, int line, const std::string& what);

struct Register {
  Register(const char* name, const char* file, void (*run)(), bool needs_raw_socket = false) {
    cases().push_back({name, file, run, needs_raw_socket});
  }
};

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    out << static_cast<int>(value);
  } else {
    out << value;
  }
  return out.str();
}

template <typename A, typename B>
void expectEqual(const A& got, const B& wanted, const char* what, const char* file, int line) {
  if (!(got == wanted))
    fail(file, line,
         std::string(what) + "\n    got    " + show(got) + "\n    wanted " + show(wanted));
}

}  // namespace fairlead::test

#define FL_CONCAT2(a, b) a##b
#define FL_CONCAT(a, b) FL_CONCAT2(a, b)
#define FL_TEST_AS(id, name, needs_raw_socket)                      \
  static void FL_CONCAT(testBody, id)();                            \
  static const ::fairlead::test::Register FL_CONCAT(testEntry, id)( \
      name, __FILE__, &FL_CONCAT(testBody, id), needs_raw_socket);  \
  static void FL_CONCAT(testBody, id)()
#define FL_TEST(name, needs_raw_socket) FL_TEST_AS(__COUNTER__, name, needs_raw_socket)
#define TEST(name) FL_TEST(name, false)
#define RAW_TEST(name) FL_TEST(name, true)
#define EXPECT_EQ(got, wanted) \
  ::fairlead::test::expectEqual((got), (wanted), #got, __FILE__, __LINE__)
#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) ::fairlead::test::fail(__FILE__, __LINE__, "not true: " #condition); \
  } while (false)
