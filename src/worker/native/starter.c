/*
 * Starts programs for the worker, and reports their ends.
 *
 * A fork of Node copies the page tables of some hundred megabytes, which takes milliseconds of Node's one thread. This
 * program has a few pages. It is already in the mount namespace of the worker's helper shell, and joins control groups
 * itself, so that neither `nsenter` nor a shell is executed for each job.
 *
 * It ends when its standard input ends, also after `kill -9` of the worker. A sandbox that ends with its parent then
 * ends, too.
 *
 * A request on standard input: struct request, then strings, each with a final 0: the paths of the pipes for stdin
 * (empty: /dev/null), stdout and stderr; the files of control groups to which "0" is written; for a program in a copy of
 * a sandbox, the file of the sandbox's mount namespace and struct copy's places; the arguments, of which the first is an
 * absolute path; the environment.
 *
 * A report on standard output: struct report.
 */
#include "freestanding.h"

#include "sandbox-copy.h"

ENTRY;

struct request {
  u32 size; /* of the whole request, in bytes */
  u32 id;
  u32 groups;
  u32 copied; /* 0 for a program that is not in a copy of a sandbox */
  u32 arguments;
  u32 variables;
};

enum kind { STARTED = 1, FAILED = 2, EXITED = 3 };

struct report {
  u32 kind;
  u32 subject; /* the id of the request; with EXITED, the process */
  u32 value;   /* the process, the number of the error, or the status as wait(2) gives it */
};

enum { most_bytes = 64 << 20 };

static void tell(u32 kind, u32 subject, u32 value) {
  struct report report = {kind, subject, value};
  const byte *at = (const byte *)&report;
  for (u64 left = sizeof report; left > 0;) {
    long written = call(__NR_write, 1, at, left);
    if (written == -EINTR) continue;
    if (written <= 0) leave(1);
    at += written;
    left -= written;
  }
}

static long open_file(const char *path, long flags) {
  return call(__NR_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

/*
 * Opens a pipe by its name without waiting for its other end, which the worker has open: if it has not, an open that
 * waits could wait forever. The job gets it as a pipe that waits.
 */
static long open_pipe(const char *path, long flags) {
  enum { F_SETFL = 4 };
  if (path[0] == 0) return open_file("/dev/null", O_RDWR);
  long file = open_file(path, flags | O_NONBLOCK);
  if (file >= 0) call(__NR_fcntl, file, F_SETFL, flags);
  return file;
}

static int write_to(const char *path, const char *text) {
  long file = open_file(path, O_WRONLY);
  if (file < 0) return 0;
  long written = call(__NR_write, file, text, length_of(text));
  call(__NR_close, file);
  return written == (long)length_of(text);
}

/* In the new process. */
__attribute__((noreturn)) static void become(long files[3], char **groups, struct copy copy, char **argv,
                                              char **envp) {
  enum { SIG_SETMASK = 2 };
  u64 no_signals = 0;
  call(__NR_setsid);
  for (int i = 0; i < 3; i++) call(__NR_dup3, files[i], i, 0);
  for (; *groups != 0; groups++) {
    if (write_to(*groups, "0")) continue;
    print("grange: the job cannot join its control group ");
    print(*groups);
    print("\n");
    leave(1);
  }
  /* If the machine runs out of memory, the kernel ends jobs before the farm's processes. */
  write_to("/proc/self/oom_score_adj", "1000");
  if (copy.namespace != 0) enter_copy(copy);
  call(__NR_rt_sigprocmask, SIG_SETMASK, &no_signals, 0, 8);
  call(__NR_execve, argv[0], argv, envp);
  print("grange: ");
  print(argv[0]);
  print(" cannot be started\n");
  leave(127);
}

static void start_one(struct request *request) {
  struct strings from = {(char *)(request + 1), (char *)request + request->size};
  u64 count = (u64)request->groups + request->copied + request->arguments + request->variables;
  /* Each string has a final 0, so there are fewer than bytes. */
  if (count > request->size || request->arguments == 0) leave(1);
  if (request->copied > 2 * most_binds + 1 || (request->copied > 0 && request->copied % 2 == 0)) leave(1);
  u64 size = (count + 4) * sizeof(char *);
  char **groups = (char **)pages(size);
  if (groups == 0) return tell(FAILED, request->id, 12);
  char **copied = groups + request->groups + 1;
  char **argv = copied + request->copied + 1;
  char **envp = argv + request->arguments + 1;
  char *paths[4];
  if (!next_strings(&from, 3, paths) || !next_strings(&from, request->groups, groups) ||
      !next_strings(&from, request->copied, copied) || !next_strings(&from, request->arguments, argv) ||
      !next_strings(&from, request->variables, envp))
    leave(1);
  enum { SIGCHLD = 17 };
  long files[3], failure = 0;
  for (int i = 0; i < 3; i++) {
    files[i] = open_pipe(paths[i], i == 0 ? O_RDONLY : O_WRONLY);
    if (files[i] < 0 && failure == 0) failure = files[i];
  }
  struct copy copy = {copied[0], request->copied / 2, copied + 1};
  u64 flags = SIGCHLD | (copy.namespace == 0 ? 0 : CLONE_NEWPID);
  long process = failure == 0 ? call(__NR_clone, flags, 0, 0, 0, 0) : failure;
  if (process == 0) become(files, groups, copy, argv, envp);
  for (int i = 0; i < 3; i++)
    if (files[i] >= 0) call(__NR_close, files[i]);
  call(__NR_munmap, groups, size);
  if (process < 0) tell(FAILED, request->id, -process);
  else tell(STARTED, request->id, process);
}

static void report_ends(void) {
  enum { WNOHANG = 1 };
  for (;;) {
    u32 status = 0;
    long process = call(__NR_wait4, -1, &status, WNOHANG, 0);
    if (process <= 0) return;
    tell(EXITED, process, status);
  }
}

void run(void) {
  enum { SIG_BLOCK = 0, SIGCHLD = 17, POLLIN = 1 };
  u64 children = 1UL << (SIGCHLD - 1);
  call(__NR_rt_sigprocmask, SIG_BLOCK, &children, 0, 8);
  long signals = call(__NR_signalfd4, -1, &children, 8, O_CLOEXEC | O_NONBLOCK);
  u64 capacity = 1 << 16, held = 0;
  byte *buffer = pages(capacity);
  if (signals < 0 || buffer == 0) leave(1);
  for (;;) {
    struct {
      int file;
      short events, found;
    } polled[2] = {{0, POLLIN, 0}, {signals, POLLIN, 0}};
    if (call(__NR_ppoll, polled, 2, 0, 0, 8) < 0) continue;
    if (polled[1].found != 0) {
      byte ignored[128 * 4];
      while (call(__NR_read, signals, ignored, sizeof ignored) > 0);
      report_ends();
    }
    if (polled[0].found == 0) continue;
    long got = call(__NR_read, 0, buffer + held, capacity - held);
    if (got == -EINTR || got == -EAGAIN) continue;
    if (got <= 0) leave(got < 0);
    held += got;
    u64 done = 0;
    while (held - done >= sizeof(struct request)) {
      struct request *request = (struct request *)(buffer + done);
      if (request->size < sizeof(struct request) || request->size > most_bytes) leave(1);
      if (request->size > held - done) break;
      start_one(request);
      done += request->size;
      /* Requests begin at multiples of 4, so that their numbers can be read. */
    }
    for (u64 i = done; i < held; i++) buffer[i - done] = buffer[i];
    held -= done;
    if (held >= sizeof(struct request) && ((struct request *)buffer)->size > capacity) {
      u64 wanted = (((struct request *)buffer)->size + 0xffffUL) & ~0xffffUL;
      buffer = resized(buffer, capacity, wanted);
      if (buffer == 0) leave(1);
      capacity = wanted;
    }
  }
}
