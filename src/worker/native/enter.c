/*
 * Runs a command with restrictions that neither the command nor its children can remove: a filter of system calls, and
 * no abstract Unix sockets of other processes where Landlock can refuse them.
 *
 *     enter [-ow] [COMMAND [ARGUMENT]...]
 *
 * With `o`, root first becomes the user of jobs, in a user namespace without any other user: as `setpriv` and `unshare`
 * of util-linux do, without the two programs. With `w`, the command is read from standard input; see struct command.
 *
 * bubblewrap's `--seccomp` is not used, because it does not pass SECCOMP_FILTER_FLAG_SPEC_ALLOW: before Linux 5.16 a
 * filter without this flag makes every program slower, by the mitigation of Speculative Store Bypass.
 */
#include "freestanding.h"

ENTRY;

struct filter {
  unsigned short code;
  byte yes, no;
  u32 value;
};

/* What follows the program. */
struct settings {
  u64 landlock[3]; /* struct landlock_ruleset_attr */
  u32 scoped;      /* whether the ruleset is used */
  u32 uid, gid;    /* of the user of jobs, outside */
  u32 map_uid, map_gid;
  u32 length; /* of the filter */
  struct filter filter[];
};

extern const struct settings settings __attribute__((visibility("hidden")));

/* A command: this, then strings: the directory, the paths to try, the arguments, the environment. */
struct command {
  u32 paths;
  u32 arguments;
  u32 variables;
};

__attribute__((noreturn)) static void fail(const char *what, long error) {
  print("grange: ");
  print(what);
  print("\n");
  leave(error < 0 && error > -126 ? -error : 1);
}

static char *decimal(char *end, u32 number) {
  do *--end = '0' + number % 10;
  while ((number /= 10) > 0);
  return end;
}

static void write_file(const char *path, const char *text, u64 length) {
  long file = call(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  long written = file < 0 ? file : call(__NR_write, file, text, length);
  if (written != (long)length) fail("the user of a job cannot be mapped", written);
  call(__NR_close, file);
}

/* Maps one user or group of the new namespace: "INSIDE OUTSIDE 1". */
static void map_one(const char *path, u32 inside, u32 outside) {
  char line[32];
  char *end = line + sizeof line;
  char *at = end;
  *--at = '1';
  *--at = ' ';
  at = decimal(at, outside);
  *--at = ' ';
  at = decimal(at, inside);
  write_file(path, at, end - at);
}

static void become_user_of_jobs(void) {
  enum { PR_SET_DUMPABLE = 4, CLONE_NEWUSER = 0x10000000 };
  u32 uid = settings.uid, gid = settings.gid;
  long failure = call(__NR_setgroups, 0, 0);
  if (failure == 0) failure = call(__NR_setresgid, gid, gid, gid);
  if (failure == 0) failure = call(__NR_setresuid, uid, uid, uid);
  if (failure != 0) fail("root cannot become the user of a job", failure);
  /* After a change of the user, files in /proc/self belong to root until this or an exec. */
  call(__NR_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  failure = call(__NR_unshare, CLONE_NEWUSER);
  if (failure != 0) fail("a job cannot get a user namespace", failure);
  map_one("/proc/self/uid_map", settings.map_uid, uid);
  write_file("/proc/self/setgroups", "deny", 4);
  map_one("/proc/self/gid_map", settings.map_gid, gid);
}

static void restrict_calls(void) {
  enum { SECCOMP_SET_MODE_FILTER = 1, SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4 };
  if (settings.scoped) {
    long ruleset = call(__NR_landlock_create_ruleset, settings.landlock, sizeof settings.landlock, 0);
    long failure = ruleset < 0 ? ruleset : call(__NR_landlock_restrict_self, ruleset, 0);
    if (failure != 0) fail("the system calls of a job cannot be restricted", failure);
    call(__NR_close, ruleset);
  }
  struct {
    unsigned short length;
    const struct filter *filter;
  } program = {settings.length, settings.filter};
  long failure =
      call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
  if (failure != 0) fail("the system calls of a job cannot be restricted", failure);
}

/* Executes a file as a shell does: one that the kernel does not know is a script. */
static long execute(const char *path, char **argv, char **envp) {
  long failure = call(__NR_execve, path, argv, envp);
  if (failure != -ENOEXEC) return failure;
  /* `argv[-1]` is free for this. */
  argv[-1] = "/bin/sh";
  argv[0] = (char *)path;
  return call(__NR_execve, "/bin/sh", argv - 1, envp);
}

__attribute__((noreturn)) static void execute_read(void) {
  u64 capacity = 1 << 16, held = 0;
  byte *buffer = pages(capacity);
  for (;;) {
    if (buffer == 0) fail("there is no memory for a command", 0);
    long got = call(__NR_read, 0, buffer + held, capacity - held);
    if (got == -EINTR) continue;
    if (got < 0) fail("a command cannot be read", got);
    if (got == 0) break;
    held += got;
    if (held < capacity) continue;
    buffer = resized(buffer, capacity, capacity * 2);
    capacity *= 2;
  }
  /* The worker needs this sandbox no more. */
  if (held == 0) leave(0);
  struct command *command = (struct command *)buffer;
  struct strings from = {(char *)(command + 1), (char *)buffer + held};
  u64 count = (u64)command->paths + command->arguments + command->variables;
  if (held < sizeof *command || count > held) fail("a command cannot be understood", 0);
  char **paths = (char **)pages((count + 4) * sizeof(char *));
  if (paths == 0) fail("there is no memory for a command", 0);
  char **argv = paths + command->paths + 2;
  char **envp = argv + command->arguments + 1;
  char *directory = next_string(&from);
  if (directory == 0 || command->arguments == 0 || !next_strings(&from, command->paths, paths) ||
      !next_strings(&from, command->arguments, argv) || !next_strings(&from, command->variables, envp))
    fail("a command cannot be understood", 0);

  long nothing = call(__NR_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
  if (nothing < 0) fail("/dev/null cannot be opened", nothing);
  call(__NR_dup3, nothing, 0, 0);
  call(__NR_close, nothing);
  if (call(__NR_chdir, directory) != 0) {
    print("grange: the directory ");
    print(directory);
    print(" cannot be entered\n");
    leave(126);
  }
  char *name = argv[0];
  long failure = -ENOENT;
  for (; *paths != 0; paths++) {
    long error = execute(*paths, argv, envp);
    argv[0] = name;
    if (error == -ENOENT || error == -ENOTDIR || error == -ENODEV) continue;
    failure = error;
    if (error != -EACCES) break;
  }
  print("grange: ");
  print(name);
  print(failure == -ENOENT   ? ": not found\n"
        : failure == -EACCES ? ": permission denied\n"
        : failure == -E2BIG  ? ": its arguments and environment are too long\n"
                             : ": cannot be executed\n");
  leave(failure == -ENOENT ? 127 : 126);
}

void run(u64 *stack) {
  enum { PR_SET_NO_NEW_PRIVS = 38 };
  u64 argc = stack[0];
  char **argv = (char **)(stack + 1);
  char **envp = argv + argc + 1;
  char **command = argv + 1;
  int changes_user = 0, waits = 0;
  if (argc > 1 && command[0][0] == '-') {
    for (char *option = command[0] + 1; *option != 0; option++) {
      if (*option == 'o') changes_user = 1;
      else if (*option == 'w') waits = 1;
      else fail("an option is unknown", 0);
    }
    command++;
  }
  if (changes_user) become_user_of_jobs();
  if (call(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    fail("the system calls of a job cannot be restricted", 0);
  restrict_calls();
  if (waits) execute_read();
  if (*command == 0) fail("there is no command", 0);
  long failure = call(__NR_execve, *command, command, envp);
  print("grange: ");
  print(*command);
  print(" cannot be started\n");
  leave(failure == -ENOENT ? 127 : 126);
}
