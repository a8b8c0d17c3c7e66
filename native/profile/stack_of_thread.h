// The stack of another thread, while that is at work: a signal interrupts it, and its handler says
// where. One caller at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::profile {

// On the thread that may be asked: nothing of it is interrupted otherwise.
void answerWithStack();

// Its frames, inner first, each as "function+0x1f (library)" as far as symbols are known. Empty: it
// did not answer within a tenth of a second, be it that it is in the kernel or that it does not
// answer such questions.
std::vector<std::string> stackOfThread(pid_t thread);
// The same as walkStack() has it.
std::vector<uintptr_t> addressesOfThread(pid_t thread);

}  // namespace fairlead::profile
