import type { RefusedCall } from "../sandbox/system-calls/refused-calls.ts";

/**
 * A part of a worker that stops attacks of jobs. Which parts a worker has depends on its machine and its settings, except
 * `worker`, which is always there.
 */
export type Defence =
  /** Checks and limits of the worker itself: outputs, logs, time. */
  | "worker"
  | "sandbox"
  | "own /proc"
  | "system-call filter"
  | "abstract-socket scope"
  | "no user namespaces"
  | "process limit"
  | "memory limit"
  | "disk quota"
  /** No worker has it: the attack is listed for everybody. */
  | "private network";

export type Area = "files" | "processes" | "sockets and IPC" | "kernel" | "outputs" | "resources";

interface Attack {
  readonly area: Area;
  readonly stoppedBy: Defence;
  /** The system call that the filter refuses; `--allow-calls` may allow it. */
  readonly call?: RefusedCall;
}

const by =
  (area: Area, stoppedBy: Defence) =>
  <Name extends string>(...names: readonly Name[]): Record<Name, Attack> =>
    Object.fromEntries(names.map((name) => [name, { area, stoppedBy }])) as Record<Name, Attack>;

const calls = <Name extends string>(named: Record<Name, RefusedCall>): Record<Name, Attack> =>
  Object.fromEntries(
    Object.entries<RefusedCall>(named).map(([name, call]) => [
      name,
      { area: "kernel", stoppedBy: "system-call filter", call },
    ]),
  ) as Record<Name, Attack>;

/**
 * What a hostile job may try, by name, and the part of the worker that stops it.
 *
 * `test/isolation/sandbox-attacks/` tries each one; `attacks-not-stopped.ts` lists what a worker does not stop.
 */
const attackList = {
  ...by("files", "sandbox")(
    "reads the home directory of the worker's user",
    "reads the worker's data directory",
    "reads the machine's /tmp",
    "reads the machine's /var/tmp",
    "reads the machine's /dev/shm",
    "reads a file that only root may read",
    "reads files of a job that runs at the same time",
    "lists the directory of its log pipes",
    "reads through the root directory of another process",
    "unmounts what hides a directory",
    "leaves its root directory by chroot",
    "writes to directories of programs",
    "writes to /etc",
    "writes to /sys",
    "writes to a directory that the worker shows",
    "makes a read-only mount writable again",
    "makes a device node",
    "opens a device of the machine",
    "makes a hard link to a file of the machine",
    "has an open file of the worker",
    "finds a mount of an earlier job",
  ),
  ...by("processes", "own /proc")("lists processes of the machine"),
  ...by("processes", "sandbox")(
    "reads the environment of another process",
    "reads the environment of the worker",
    "reads the memory map of another process",
    "sends a signal to another process",
    "traces another process",
    "sends SIGKILL to all processes",
    "ends the first process of its sandbox",
    "gains rights by a setuid bit",
    "holds a capability of the machine",
    "raises its priority",
    "takes a real-time priority",
    "raises a hard resource limit",
    "exempts itself from the out-of-memory killer",
    "leaves its control group",
    "changes the limits of its control group",
    "mounts control groups to change them",
  ),
  ...by("processes", "worker")(
    "stops its sandbox with SIGSTOP",
    "ignores the signal at its timeout",
    "leaves a process behind",
    "leaves a core dump",
  ),
  ...by("sockets and IPC", "sandbox")(
    "connects to the farm's port on 127.0.0.1",
    "connects to a port on ::1",
    "connects to a port of a job that runs at the same time",
    "connects to the metadata address of clouds",
    "opens a raw socket",
    "connects to a Unix socket of the machine",
    "connects to an abstract socket of the machine",
    "sees System V shared memory of the machine",
    "sees a System V message queue of the machine",
    "sees a System V semaphore of the machine",
    "changes the machine's network (network: true)",
  ),
  ...by(
    "sockets and IPC",
    "abstract-socket scope",
  )("connects to an abstract socket of the machine (network: true)"),
  ...by(
    "sockets and IPC",
    "private network",
  )("connects to services on the machine's loopback (network: true)"),
  ...by("kernel", "sandbox")(
    "changes settings of the kernel",
    "writes to sysrq-trigger",
    "changes the machine's name",
    "reads addresses of the kernel",
    "reads the memory of the kernel",
    "reads the log of the kernel",
  ),
  ...calls({
    "loads a BPF program": "bpf",
    "uses io_uring": "io_uring_setup",
    "opens performance events": "perf_event_open",
    "handles page faults of the kernel": "userfaultfd",
    "adds a key to a keyring": "add_key",
    "requests a key": "request_key",
    "joins a keyring of the user": "keyctl",
    "opens a file by its handle": "open_by_handle_at",
    "watches a file system": "fanotify_init",
    "loads another kernel": "kexec_load",
    "loads a kernel module": "init_module",
    "removes a kernel module": "delete_module",
    "reads the log of the kernel by a call": "syslog",
    "adds a swap file": "swapon",
    "sets the clock": "settimeofday",
    "turns process accounting off": "acct",
    "changes disk quotas": "quotactl",
    "reads the kernel's debug cookies": "lookup_dcookie",
  }),
  ...by("kernel", "system-call filter")(
    "makes a system call that the filter does not know",
    "opens a socket to the hypervisor",
    "opens a socket to the kernel's ciphers",
    "opens a packet socket",
  ),
  ...by("kernel", "no user namespaces")("makes a user namespace, with more of the kernel in reach"),
  ...by("outputs", "worker")(
    "declares an output that links to a file of the machine",
    "declares an output that links out of its tree",
    "declares a fifo as an output",
    "declares a socket as an output",
    "declares a link as the directory of its outputs",
    "exchanges an output for a link while it ends",
    "declares a sparse file of 20 GiB",
    "changes an input of the next job",
  ),
  ...by("resources", "worker")("writes a log without end", "opens files without end"),
  ...by("resources", "process limit")("starts processes without end"),
  ...by("resources", "memory limit")("uses all memory", "uses all memory as files in /dev/shm"),
  ...by("resources", "disk quota")("fills the disk", "fills the disk with empty files"),
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attackList;

export const attackNames = Object.keys(attackList) as AttackName[];

/** Returns the attack with its name's type forgotten, so that optional fields can be read. */
export const attackNamed = (name: AttackName): Attack => attackList[name];
