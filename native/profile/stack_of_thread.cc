#include "profile/stack_of_thread.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <span>

#include "profile/stack_walk.h"

namespace fairlead::profile {

namespace {

// Beside the sampler's.
int stackSignal() { return SIGRTMAX - 3; }

// Lives as long as the process: an answer may come when nobody waits for it any more.
struct Answer {
  // Which question it is for; 0: none is asked.
  std::atomic<int> question = 0;
  std::array<uintptr_t, 64> addresses;
  size_t depth = 0;
  sem_t given;
};

Answer& answer() {
  static Answer* const one = [] {
    auto* made = new Answer;
    ::sem_init(&made->given, 0, 0);
    return made;
  }();
  return *one;
}

void onSignal(int, siginfo_t* info, void* context) {
  const int error = errno;
  Answer& to = answer();
  int question = info->si_value.sival_int;
  // Whoever asked does not read before it is given, and asks nothing else while one is being given.
  if (question != 0 && to.question.compare_exchange_strong(question, -question)) {
    to.depth = walkStack(context, to.addresses);
    ::sem_post(&to.given);
  }
  errno = error;
}

bool ask(pid_t thread, int question) {
  siginfo_t info = {};
  info.si_signo = stackSignal();
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = question;
  return ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, stackSignal(), &info) == 0;
}

bool isGiven(Answer& of, long wait_ns) {
  timespec until = {};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += wait_ns;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  while (::sem_timedwait(&of.given, &until) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

void appendHex(std::string* text, uintptr_t number) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number, 16).ptr;
  text->append("0x").append(digits.begin(), end);
}

std::string nameOf(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? plain.get() : symbol;
}

std::string describe(uintptr_t address) {
  Dl_info found = {};
  std::string text;
  if (::dladdr(reinterpret_cast<void*>(address), &found) == 0) {
    // Compiled while the process runs, as JavaScript is.
    appendHex(&text, address);
    return text;
  }
  const auto base =
      reinterpret_cast<uintptr_t>(found.dli_sname ? found.dli_saddr : found.dli_fbase);
  if (found.dli_sname) text.append(nameOf(found.dli_sname)).append("+");
  appendHex(&text, address - base);
  return text.append(" (").append(found.dli_fname).append(")");
}

}  // namespace

void answerWithStack() {
  prepareWalks();
  answer();
  struct sigaction action = {};
  action.sa_sigaction = &onSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(stackSignal(), &action, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, stackSignal());
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::vector<uintptr_t> addressesOfThread(pid_t thread) {
  static int questions = 0;
  constexpr long kWaitNs = 100'000'000;
  Answer& from = answer();
  int question = ++questions;
  from.question = question;
  const bool is_asked = ask(thread, question);
  // Taken back, unless it is just being given.
  if (!is_asked || !isGiven(from, kWaitNs)) {
    if (from.question.compare_exchange_strong(question, 0)) return {};
    while (!isGiven(from, kWaitNs)) {
    }
  }
  from.question = 0;
  const std::span<const uintptr_t> addresses = std::span(from.addresses).first(from.depth);
  return {addresses.begin(), addresses.end()};
}

std::vector<std::string> stackOfThread(pid_t thread) {
  std::vector<std::string> frames;
  for (const uintptr_t address : addressesOfThread(thread)) frames.push_back(describe(address));
  return frames;
}

}  // namespace fairlead::profile
