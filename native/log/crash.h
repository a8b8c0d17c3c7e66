// What the log still says when the process breaks.
#pragma once

namespace fairlead::log {

// A fatal signal (a fault, an abort) first lets the sink write what it holds, says which signal it
// is, and then goes its way as before. For processes that are all ours: handlers are the process's.
void installCrashHandlers();

}  // namespace fairlead::log
