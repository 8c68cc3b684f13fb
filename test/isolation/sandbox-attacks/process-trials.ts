import type { ScriptTrial } from "./trial.ts";

const succeeds = (script: string): ScriptTrial => ({ script, withoutSandbox: "succeeds" });
const untried = (script: string): ScriptTrial => ({ script, withoutSandbox: "untried" });

/** Its number may belong to another process in a process namespace. */
const victimIsThere = 'tr "\\0" " " < "/proc/$A_PID/cmdline" | grep -q grange-victim';

/** `ptrace(PTRACE_SEIZE, pid)`, which does not stop the process. */
const seize = `perl -e 'exit(syscall(${process.arch === "arm64" ? 117 : 101}, 0x4206, $ENV{A_PID} + 0, 0, 0) == 0 ? 0 : 1)'`;

const mountedControlGroups = `
mkdir -p cg
for options in '-t cgroup2' '-t cgroup -o memory' '-t cgroup -o pids' '-t cgroup -o none,name=grange'; do
  mount $options cg cg || continue
  for f in cg/cgroup.procs cg/tasks cg/release_agent cg/memory.limit_in_bytes; do [ -w $f ] && exit 0; done
  umount cg
done
exit 1`;

export const processTrials = {
  "lists processes of the machine": succeeds(victimIsThere),
  "reads the environment of another process": succeeds(
    'tr "\\0" "\\n" < "/proc/$A_PID/environ" | grep -q GRANGE_VICTIM_SECRET',
  ),
  "reads the environment of the worker": succeeds(
    'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; done 2>/dev/null | grep -q GRANGE_WORKER_SECRET',
  ),
  "reads the memory map of another process": succeeds(
    `${victimIsThere} && grep -q . "/proc/$A_PID/maps"`,
  ),
  "sends a signal to another process": succeeds(`${victimIsThere} && kill -CONT "$A_PID"`),
  "traces another process": succeeds(`${victimIsThere} && ${seize}`),
  "gains rights by a setuid bit": succeeds("grep -q '^NoNewPrivs:.0' /proc/self/status"),
  "holds a capability of the machine": succeeds("! grep -q '^CapEff:.0*$' /proc/self/status"),
  "raises its priority": succeeds('[ "$(nice -n -5 nice)" -lt "$(nice)" ]'),
  "takes a real-time priority": untried("chrt -f 1 true"),
  // Root of some machines has no CAP_SYS_RESOURCE.
  "raises a hard resource limit": untried(
    'most=$(ulimit -Hc); ulimit -Hc 0 && ulimit -Hc 1 && [ "$(ulimit -Hc)" = 1 ]',
  ),
  "exempts itself from the out-of-memory killer": untried("echo -500 > /proc/self/oom_score_adj"),
  "leaves its control group": succeeds(
    "left=1; for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do { echo $$ > $f; } 2>/dev/null && left=0; done; exit $left",
  ),
  "changes the limits of its control group": succeeds(
    "find /sys/fs/cgroup -maxdepth 3 '(' -name memory.limit_in_bytes -o -name memory.max -o -name pids.max ')' -writable | grep -q .",
  ),
  "mounts control groups to change them": untried(
    `unshare -rmC sh -c '${mountedControlGroups.replaceAll("'", `'"'"'`)}'`,
  ),
} satisfies Record<string, ScriptTrial>;
