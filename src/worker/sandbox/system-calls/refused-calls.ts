/** Instruction sets whose programs can run on a machine that the filter supports. */
export type CallTable = "x64" | "arm64" | "i386";

/** The numbers of one system call; absent: the table has no such call. */
type CallNumbers = Readonly<Partial<Record<CallTable, number>>>;

/**
 * System calls that no job may make, with their numbers.
 *
 * The choice follows the default profiles of container runtimes, except for two groups of calls that the job's
 * namespaces confine: those with which a job creates its own sandbox (`mount`, `unshare`, `setns`, `pivot_root`), and
 * those with which it debugs its own processes (`ptrace`, `process_vm_readv`, `kcmp`). See
 * `docs/decisions/0094-system-calls-of-jobs.md`.
 *
 * The numbers are from `asm/unistd_64.h`, `asm-generic/unistd.h` and `asm/unistd_32.h` of Linux. From 424 on they are
 * the same everywhere.
 */
export const refusedCalls = {
  // The kernel itself: loading another kernel, modules and programs, and reading its log.
  kexec_load: { x64: 246, arm64: 104, i386: 283 },
  kexec_file_load: { x64: 320, arm64: 294 },
  init_module: { x64: 175, arm64: 105, i386: 128 },
  finit_module: { x64: 313, arm64: 273, i386: 350 },
  delete_module: { x64: 176, arm64: 106, i386: 129 },
  create_module: { x64: 174, i386: 127 },
  query_module: { x64: 178, i386: 167 },
  get_kernel_syms: { x64: 177, i386: 130 },
  bpf: { x64: 321, arm64: 280, i386: 357 },
  syslog: { x64: 103, arm64: 116, i386: 103 },
  lookup_dcookie: { x64: 212, arm64: 18, i386: 253 },
  // Large parts of the kernel with frequent security bugs, which builds do not need.
  io_uring_setup: { x64: 425, arm64: 425, i386: 425 },
  io_uring_enter: { x64: 426, arm64: 426, i386: 426 },
  io_uring_register: { x64: 427, arm64: 427, i386: 427 },
  perf_event_open: { x64: 298, arm64: 241, i386: 336 },
  userfaultfd: { x64: 323, arm64: 282, i386: 374 },
  // Keyrings have no namespace: two jobs of one user share theirs.
  add_key: { x64: 248, arm64: 217, i386: 286 },
  request_key: { x64: 249, arm64: 218, i386: 287 },
  keyctl: { x64: 250, arm64: 219, i386: 288 },
  // Opens files by number, bypassing all mounts.
  open_by_handle_at: { x64: 304, arm64: 265, i386: 342 },
  fanotify_init: { x64: 300, arm64: 262, i386: 338 },
  // The machine: swap, clock, accounts, quotas, hardware.
  swapon: { x64: 167, arm64: 224, i386: 87 },
  swapoff: { x64: 168, arm64: 225, i386: 115 },
  reboot: { x64: 169, arm64: 142, i386: 88 },
  settimeofday: { x64: 164, arm64: 170, i386: 79 },
  clock_settime: { x64: 227, arm64: 112, i386: 264 },
  clock_settime64: { i386: 404 },
  stime: { i386: 25 },
  acct: { x64: 163, arm64: 89, i386: 51 },
  quotactl: { x64: 179, arm64: 60, i386: 131 },
  quotactl_fd: { x64: 443, arm64: 443, i386: 443 },
  iopl: { x64: 172, i386: 110 },
  ioperm: { x64: 173, i386: 101 },
  vhangup: { x64: 153, arm64: 58, i386: 111 },
  // Calls from earlier decades.
  vm86: { i386: 166 },
  vm86old: { i386: 113 },
  uselib: { x64: 134, i386: 86 },
  ustat: { x64: 136, i386: 62 },
  sysfs: { x64: 139, i386: 135 },
  _sysctl: { x64: 156, i386: 149 },
  nfsservctl: { x64: 180, arm64: 42, i386: 169 },
} as const satisfies Record<string, CallNumbers>;

export type RefusedCall = keyof typeof refusedCalls;

/** `file_setattr` of Linux 6.17: later calls are unknown to this filter and therefore refused. */
export const newestCall = 469;

/** Calls that are allowed or refused by their arguments. */
export const inspectedCalls = {
  socket: { x64: 41, arm64: 198, i386: 359 },
  /** The first argument is the actual call. The arguments of that call are in memory, which no filter can read. */
  socketcall: { i386: 102 },
  clone: { x64: 56, arm64: 220, i386: 120 },
  clone3: { x64: 435, arm64: 435, i386: 435 },
  unshare: { x64: 272, arm64: 97, i386: 310 },
  setns: { x64: 308, arm64: 268, i386: 346 },
} as const satisfies Record<string, CallNumbers>;

/**
 * Families of sockets that jobs may create: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Of the others, AF_VSOCK reaches the
 * machine's hypervisor from every network namespace; most are rarely used drivers.
 */
export const socketFamilies = [1, 2, 10, 16] as const;
