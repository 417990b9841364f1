// The end of the program: threads of the library stop before what they use is destroyed.
#pragma once

namespace tandem::runtime {

/// `stop` is called once when the program ends, in the process that asked for it: before static objects are destroyed where the main thread
/// ends the program and has called watch_exit, else as std::atexit's functions are. One such function a process; a later call replaces it.
void stop_at_exit(void (*stop)());
/// Told by a thread that begins to use GPUs.
void watch_exit();

}  // namespace tandem::runtime
