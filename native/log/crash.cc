#include "log/crash.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

#include "log/sink.h"

namespace fairlead::log {

namespace {

struct Fatal {
  int signal;
  std::string_view name;
};
constexpr std::array<Fatal, 5> kFatal = {{{SIGSEGV, "Segmentation fault"},
                                          {SIGBUS, "Bus error"},
                                          {SIGILL, "Illegal instruction"},
                                          {SIGFPE, "Floating point exception"},
                                          {SIGABRT, "Aborted"}}};
constexpr int kWaitMs = 200;

std::array<struct sigaction, kFatal.size()> before;

// Appends to a text of fixed size; what does not fit is cut. Safe in a handler.
class ShortText {
 public:
  ShortText& operator<<(std::string_view text) {
    const size_t size = std::min(text.size(), bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  ShortText& operator<<(uintptr_t number) {
    std::array<char, 18> digits;
    size_t at = digits.size();
    do {
      digits[--at] = "0123456789abcdef"[number & 15];
    } while ((number >>= 4) != 0);
    return *this << "0x" << std::string_view(digits.data() + at, digits.size() - at);
  }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, 160> bytes_;
  size_t size_ = 0;
};

void onFatalSignal(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (!Sink::get().isOwnThread()) {
    constexpr timespec kMillisecond = {0, 1'000'000};
    for (int i = 0; i < kWaitMs && !Sink::get().isIdle(); ++i) ::nanosleep(&kMillisecond, nullptr);
  }
  for (size_t i = 0; i < kFatal.size(); ++i) {
    if (kFatal[i].signal != signal) continue;
    // Raised by the process itself, there is no address.
    const bool has_address = info->si_code > 0;
    ShortText text;
    text << "fairlead: caught " << kFatal[i].name;
    if (has_address) {
      text << ", suspect faulting address " << reinterpret_cast<uintptr_t>(info->si_addr);
    }
    text << "\n";
    static_cast<void>(!::write(STDERR_FILENO, text.view().data(), text.view().size()));
    ::sigaction(signal, &before[i], nullptr);
  }
  errno = error;
  // A fault happens again when this returns; what was sent by somebody is sent again.
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

void installCrashHandlers() {
  Sink::get();  // Made now: not in a handler.
  struct sigaction action = {};
  action.sa_sigaction = onFatalSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kFatal.size(); ++i) {
    ::sigaction(kFatal[i].signal, &action, &before[i]);
  }
}

}  // namespace fairlead::log
