// open LIBTANDEM PLUGIN: a C program, which has neither this library nor C++'s, opens both as plug-ins and calls them: from its main
// thread, and from a thread that was there before they were opened.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*num_gpus)(void);
static double (*computing)(void);
static double results[2];
static pthread_barrier_t opened;

static void* compute(void* result) {
  pthread_barrier_wait(&opened);
  if (computing) *(double*)result = computing();
  return NULL;
}

static void* open_or_say(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  return library;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  pthread_t thread;
  pthread_barrier_init(&opened, NULL, 2);
  if (pthread_create(&thread, NULL, compute, &results[1]) != 0) return 2;
  void* library = open_or_say(argv[1]);
  void* plugin = library ? open_or_say(argv[2]) : NULL;
  if (plugin) {
    *(void**)&num_gpus = dlsym(library, "_ZN6tandem8num_gpusEv");
    *(void**)&computing = dlsym(plugin, "computing_gradient");
  }
  pthread_barrier_wait(&opened);
  if (computing) results[0] = computing();
  pthread_join(thread, NULL);
  if (!num_gpus || num_gpus() != 2) {
    fprintf(stderr, "no library that knows of two virtual GPUs\n");
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    if (results[i] == 2 * 64 * 64 * 64) continue;
    fprintf(stderr, "thread %d computed %g\n", i, results[i]);
    return 1;
  }
  return 0;
}
