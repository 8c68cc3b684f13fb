import { inspectedCalls, refusedCalls } from "#worker/sandbox/system-calls/refused-calls.ts";
import {
  type Call,
  callScript,
} from "../../../src/worker/sandbox/system-calls/call-program.fixture.ts";
import type { ScriptTrial } from "./trial.ts";

const succeeds = (script: string): ScriptTrial => ({ script, withoutSandbox: "succeeds" });
const untried = (script: string): ScriptTrial => ({ script, withoutSandbox: "untried" });

const table = process.arch === "arm64" ? "arm64" : "x64";

/** Succeeds unless the call is refused: with EPERM, as unknown (ENOSYS), or with EAFNOSUPPORT. */
function reaches(call: Call): string {
  return `case $(${callScript([call]) ?? "echo -38"}) in -1|-38|-97) exit 1 ;; *) exit 0 ;; esac`;
}

/**
 * Without a filter, the arguments are invalid, or change nothing. Calls that need a privilege fail with EPERM for jobs
 * without a filter, too; root without a sandbox proves that the filter is not always the one that refuses.
 */
const call = (name: keyof typeof refusedCalls, ...args: [number?, number?, number?]) => {
  const numbers: { x64?: number; arm64?: number; i386?: number } = refusedCalls[name];
  return reaches({ number: numbers[table] ?? 1_000, arguments: args });
};
const socket = (family: number, type: number) =>
  reaches({ number: inspectedCalls.socket[table], arguments: [family, type] });

export const kernelTrials = {
  "changes settings of the kernel": succeeds(
    'v=$(cat /proc/sys/kernel/panic); echo "$v" > /proc/sys/kernel/panic',
  ),
  "writes to sysrq-trigger": untried("[ -w /proc/sysrq-trigger ]"),
  "changes the machine's name": succeeds('hostname "$(hostname)"'),
  "reads addresses of the kernel": succeeds("grep -qv '^0000000000000000' /proc/kallsyms"),
  "reads the memory of the kernel": untried("head -c 1 /proc/kcore | grep -q ."),
  "reads the log of the kernel": untried("timeout 1 head -c 1 /dev/kmsg | grep -q ."),
  "loads a BPF program": succeeds(call("bpf")),
  "uses io_uring": untried(call("io_uring_setup")),
  "opens performance events": succeeds(call("perf_event_open")),
  "handles page faults of the kernel": untried(call("userfaultfd", 3)),
  "adds a key to a keyring": succeeds(call("add_key")),
  "requests a key": succeeds(call("request_key")),
  // KEYCTL_GET_KEYRING_ID of the user's keyring.
  "joins a keyring of the user": succeeds(call("keyctl", 0, -4, 1)),
  "opens a file by its handle": succeeds(call("open_by_handle_at", -1)),
  "watches a file system": untried(call("fanotify_init")),
  "loads another kernel": untried(call("kexec_load", 0, 0, 0)),
  "loads a kernel module": untried(call("init_module")),
  "removes a kernel module": untried(call("delete_module")),
  // SYSLOG_ACTION_SIZE_BUFFER.
  "reads the log of the kernel by a call": succeeds(call("syslog", 10)),
  "adds a swap file": succeeds(call("swapon")),
  "sets the clock": succeeds(call("settimeofday")),
  "turns process accounting off": untried(call("acct", -1)),
  "changes disk quotas": untried(call("quotactl")),
  "reads the kernel's debug cookies": untried(call("lookup_dcookie")),
  "makes a system call that the filter does not know": untried(reaches({ number: 500 })),
  // AF_VSOCK, AF_ALG, AF_PACKET.
  "opens a socket to the hypervisor": untried(socket(40, 1)),
  "opens a socket to the kernel's ciphers": untried(socket(38, 5)),
  "opens a packet socket": succeeds(socket(17, 3)),
  "makes a user namespace, with more of the kernel in reach": succeeds("unshare -U true"),
} satisfies Record<string, ScriptTrial>;
