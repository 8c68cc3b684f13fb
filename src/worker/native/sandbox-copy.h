/*
 * Copies of a sandbox that bubblewrap has made.
 *
 * bubblewrap needs some forty mounts for the view of a job, and reads the table of all mounts for each. A copy of its
 * mount namespace has them all with one system call. A copy gets new namespaces of processes, network, host name and
 * IPC, its own /proc, /dev/shm and /dev/pts, and its own directories. Nothing else in the view of the original is
 * writable for the user of jobs.
 *
 * The first process of a copy is this program: it waits for the command, and ends with its status, as bubblewrap does.
 * Root only, on Linux 5.12 or later.
 */

enum {
  MS_RDONLY = 1, MS_NOSUID = 2, MS_NODEV = 4, MS_NOEXEC = 8, MS_REMOUNT = 32, MS_BIND = 4096, MS_SLAVE = 1 << 19,
  CLONE_NEWNS = 0x20000, CLONE_NEWUTS = 0x4000000, CLONE_NEWIPC = 0x8000000, CLONE_NEWPID = 0x20000000,
  CLONE_NEWNET = 0x40000000,
  AT_EMPTY_PATH = 0x1000, AT_RECURSIVE = 0x8000,
  most_binds = 4,
};

/* What a copy needs of the machine; the strings belong to a request. */
struct copy {
  /* The file of the original's mount namespace. */
  const char *namespace;
  /* 0 to make the original ready for copies. */
  u32 binds;
  /* For each: the directory of the machine, and where it is mounted in the copy. */
  char **places;
};

static long must(long result, const char *what) {
  if (result >= 0) return result;
  print("grange: the sandbox of a job cannot be copied: ");
  print(what);
  char number[12] = ": error ";
  number[8] = '0' + -result / 100 % 10;
  number[9] = '0' + -result / 10 % 10;
  number[10] = '0' + -result % 10;
  number[11] = 0;
  print(number);
  print("\n");
  leave(1);
}

/* The directory as a mount that belongs to no namespace yet. Later mounts of the machine on it will appear in it. */
static long detached_mount(const char *path) {
  enum { OPEN_TREE_CLONE = 1, MOUNT_ATTR_NOSUID = 2, MOUNT_ATTR_NODEV = 4 };
  struct {
    u64 set, clear, propagation, user_namespace;
  } attributes = {MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, MS_SLAVE, 0};
  long tree = must(call(__NR_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | O_CLOEXEC | AT_RECURSIVE), path);
  long set = call(__NR_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes);
  must(set, "the attributes of a mount");
  return tree;
}

/* Only root could write them, but a job may be root in a user namespace of its own. */
static void seal_settings(void) {
  static const char names[][20] = {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger"};
  u64 flags = MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  for (u64 i = 0; i < sizeof names / sizeof *names; i++) {
    long bound = call(__NR_mount, names[i], names[i], 0, flags, 0);
    if (bound == -ENOENT) continue;
    must(bound, names[i]);
    must(call(__NR_mount, 0, names[i], 0, flags | MS_REMOUNT | MS_RDONLY, 0), names[i]);
  }
}

static void activate_loopback(void) {
  enum { AF_INET = 2, SOCK_DGRAM = 2, SIOCSIFFLAGS = 0x8914, IFF_UP = 1 };
  struct {
    char name[16];
    short flags;
    char rest[22];
  } interface = {"lo", IFF_UP, ""};
  long file = must(call(__NR_socket, AF_INET, SOCK_DGRAM | O_CLOEXEC, 0), "its network");
  must(call(__NR_ioctl, file, SIOCSIFFLAGS, &interface), "its network");
  call(__NR_close, file);
}

struct capabilities {
  u32 effective, permitted, inheritable;
};

/* Keeps only these rights, of the first 32. */
static void keep_rights(u32 rights) {
  struct {
    u32 version;
    int process;
  } head = {0x20080522, 0};
  struct capabilities sets[2] = {{rights, rights, rights}, {0, 0, 0}};
  must(call(__NR_capset, &head, sets), "its rights");
}

static void drop_rights_for_good(u32 kept) {
  enum { PR_CAPBSET_READ = 23, PR_CAPBSET_DROP = 24, PR_SET_NO_NEW_PRIVS = 38, PR_CAP_AMBIENT = 47, CLEAR_ALL = 4 };
  for (int right = 0; call(__NR_prctl, PR_CAPBSET_READ, right, 0, 0, 0) >= 0; right++)
    if (right >= 32 || (kept >> right & 1) == 0)
      must(call(__NR_prctl, PR_CAPBSET_DROP, right, 0, 0, 0), "its rights");
  must(call(__NR_prctl, PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0), "its rights");
  must(call(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "its rights");
}

/* As the first process of a namespace: waits for all its processes, and ends with the command. */
__attribute__((noreturn)) static void wait_for(long command) {
  enum { PR_SET_DUMPABLE = 4 };
  call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  /* Nothing of the worker is open in a process that a job can see. */
  must(call(__NR_close_range, 0, ~0U, 0), "its files");
  for (;;) {
    u32 status = 0;
    long ended = call(__NR_wait4, -1, &status, 0, 0);
    if (ended == -EINTR) continue;
    if (ended < 0) leave(1);
    if (ended == command) leave((status & 0x7f) == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f));
  }
}

/* Removes what each copy has for itself from the original, so that a copy has no mounts below others. */
__attribute__((noreturn)) static void prepare_original(void) {
  enum { MNT_DETACH = 2 };
  static const char places[][16] = {"/tmp", "/grange/home", "/grange/work", "/proc", "/dev/shm", "/dev/pts"};
  for (u64 i = 0; i < sizeof places / sizeof *places; i++)
    must(call(__NR_umount2, places[i], MNT_DETACH), places[i]);
  leave(0);
}

/*
 * Makes the calling process, the first one of a new namespace of processes, the first one of a copy. Returns in its
 * child, which has the rights to become another user.
 */
static void enter_copy(struct copy copy) {
  enum { PR_SET_PDEATHSIG = 1, SIGKILL = 9, SIGCHLD = 17, MOVE_MOUNT_F_EMPTY_PATH = 4 };
  enum { CAP_SETGID = 6, CAP_SETUID = 7, user_rights = 1 << CAP_SETGID | 1 << CAP_SETUID };
  must(call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "its end");
  long trees[most_binds];
  for (u32 i = 0; i < copy.binds; i++) trees[i] = detached_mount(copy.places[2 * i]);
  long original = must(call(__NR_openat, AT_FDCWD, copy.namespace, O_RDONLY | O_CLOEXEC, 0), "its mounts");
  must(call(__NR_setns, original, CLONE_NEWNS), "its mounts");
  if (copy.binds == 0) prepare_original();
  must(call(__NR_unshare, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET), "its namespaces");
  for (u32 i = 0; i < copy.binds; i++) {
    const char *at = copy.places[2 * i + 1];
    must(call(__NR_move_mount, trees[i], "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH), at);
  }
  must(call(__NR_mount, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0), "/proc");
  seal_settings();
  must(call(__NR_mount, "tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), "/dev/shm");
  must(call(__NR_mount, "devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=620"),
       "/dev/pts");
  must(call(__NR_sethostname, "grange", 6), "its host name");
  activate_loopback();
  drop_rights_for_good(user_rights);
  long command = must(call(__NR_clone, SIGCHLD, 0, 0, 0, 0), "a process");
  if (command != 0) {
    keep_rights(0);
    wait_for(command);
  }
  keep_rights(user_rights);
}
