// Settings of the sanitizers for every program of a sanitizer build, so that a test run by hand behaves as under ctest.
// The sanitizers look for these functions by name. Environment variables (ASAN_OPTIONS, ...) still override them.

// Our own handler may take over SIGSEGV (TANDEM_EXPLAIN_FAULTS), on a stack of its own.
extern "C" const char* __asan_default_options() {
  return "allow_user_segv_handler=1:use_sigaltstack=0:detect_stack_use_after_return=1:strict_init_order=1";
}

extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

extern "C" const char* __tsan_default_options() { return "second_deadlock_stack=1:history_size=4"; }

// libgomp and the libraries on top of it are not instrumented: the sanitizer can't see their barriers.
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libgomp.so\nrace:libgomp.so\nrace:libdnnl.so\n"; }

// What these libraries keep until the program ends is theirs.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl.so\nleak:libgomp.so\nleak:libopenblas\nleak:libcudnn\nleak:libcublas\n";
}
