// What Python does while tandem waits: other threads run, and Ctrl-C ends the wait.
#pragma once

namespace tandem::python {

/// Tells the library what to do around its waits. Once.
void hook_waits();

}  // namespace tandem::python
