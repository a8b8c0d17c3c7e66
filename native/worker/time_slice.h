// How the scheduler shares a processor between a worker and other threads.
#pragma once

namespace fairlead::worker {

// Asks for short turns of the processor for the calling thread: one that wakes goes before others
// whose turn ends later, so that a request does not wait until the control thread has had all of
// its own. Its share stays the same. Kernels before 6.12 do not know such turns, and take no
// notice.
void askForShortTurns();

}  // namespace fairlead::worker
