import { setpriv } from "#machine/job-owner.ts";
import { quoteForShell as q } from "../quote-for-shell.ts";

/** A service as the script starts it. */
export interface ServiceToStart {
  readonly name: string;
  /** Runs it in its sandbox. */
  readonly commandLine: readonly string[];
  readonly ready: ReadyCheck;
  readonly timeoutMs: number;
}

/** When a service is ready. */
export type ReadyCheck =
  | { readonly kind: "started" }
  | { readonly kind: "port"; readonly port: number }
  /** A command line that succeeds. */
  | { readonly kind: "command"; readonly commandLine: readonly string[] };

interface ServicesToRun {
  /** An empty directory for its files; the log of a service is `NAME.log` in it. */
  readonly directory: string;
  readonly services: readonly ServiceToStart[];
  /** The command that activates the loopback interface. */
  readonly loopback: string;
  /** Whether the network namespace is connected to the network of the machine. */
  readonly network: boolean;
}

/** Of a longer log of a service, the beginning is kept. In bytes. */
const mostLogBytes = 16 * 1024 * 1024;

/** Lines of the log of a service that failed, in the log of the job. */
const shownLines = 20;

/**
 * Returns a script that makes a network namespace, starts services in it, waits until they are ready, and runs its
 * arguments as a command beside them. Its exit code is that of the command, or 125 when the command could not start.
 *
 * Each process that it starts gets SIGKILL when the shell dies, and the shell when its parent does: services end with
 * the job, and with the worker. The sandboxes themselves make no network namespace; the first process of the namespace
 * only keeps it.
 */
export function servicesScript({ directory, services, loopback, network }: ServicesToRun): string {
  return [
    `dir=${q(directory)}; die="${setpriv} --pdeathsig KILL --"; started=`,
    helpers,
    // The messages that a shell prints about signals do not belong into the job's log.
    "exec 9>&2 2>/dev/null",
    `$die unshare --net sh -c ${q(`${loopback} || :; ${allowLowPorts}; : >"$0"; exec sleep 2147483647`)} "$dir/network.up" </dev/null >/dev/null 9>&- &`,
    "network=$!",
    'while [ ! -e "$dir/network.up" ]; do lives $network || fail "the network namespace of its services cannot be made on this machine"; sleep 0.01; done',
    ...(network ? [connectScript] : []),
    'in="nsenter --net=/proc/$network/ns/net --"',
    ...services.map(startScript),
    ...services.map(waitScript),
    '$die $in "$@" 2>&9 9>&-',
    "code=$?",
    "finish",
    "exit $code",
  ].join("\n");
}

/** Services are no root, but many listen on port 80. Nobody else is in their network namespace. */
const allowLowPorts = "echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start || :";

const helpers = `
lives() { read -r _ _ state _ <"/proc/$1/stat" && [ "$state" != Z ]; }
seconds() { read -r up _ </proc/uptime; up=\${up%%.*}; }
listens() {
  for table in tcp tcp6; do
    while read -r _ local _ state _; do
      case "$state:$local" in 0A:*:"$1") return 0 ;; esac
    done <"/proc/$network/net/$table"
  done
  return 1
}
finish() {
  for leader in $started; do kill -s KILL -- "-$leader" "$leader"; done
  kill -s KILL $network $connection
  wait
}
fail() { echo "grange: $1"; finish; exit 125; }
fail_service() {
  finish
  echo "grange: service $1 $2; the end of its log:"
  tail -n ${shownLines} "$dir/$1.log"
  exit 125
}`;

const connectScript = `
slirp4netns --configure --mtu=65520 --disable-host-loopback --ready-fd=8 $network tap0 8>"$dir/connected.up" </dev/null >/dev/null 9>&- &
connection=$!
while [ ! -s "$dir/connected.up" ]; do
  lives $connection || fail "a job with network and services needs slirp4netns on the worker, and /dev/net/tun: install slirp4netns"
  sleep 0.01
done`;

/** A session of its own: its processes are ended together, also those that no longer get the signal of their parent. */
function startScript({ name, commandLine }: ServiceToStart): string {
  return `
mkfifo "$dir/${name}.pipe"
{ head -c ${mostLogBytes}; cat >/dev/null; } <"$dir/${name}.pipe" >"$dir/${name}.log" 9>&- &
$die setsid $in ${commandLine.map(q).join(" ")} >"$dir/${name}.pipe" 2>&1 </dev/null 9>&- &
service_${variable(name)}=$!; started="$started $!"`;
}

function waitScript({ name, ready, timeoutMs }: ServiceToStart): string {
  if (ready.kind === "started") return "";
  const seconds = Math.ceil(timeoutMs / 1_000);
  return `
seconds; end=$((up + ${seconds}))
until ${checkOf(ready)}; do
  lives $service_${variable(name)} || fail_service ${name} "ended before it was ready"
  seconds; [ $up -le $end ] || fail_service ${name} "was not ready after ${seconds} s"
  sleep 0.05
done`;
}

function checkOf(ready: Exclude<ReadyCheck, { kind: "started" }>): string {
  switch (ready.kind) {
    case "port":
      return `listens ${ready.port.toString(16).toUpperCase().padStart(4, "0")}`;
    case "command":
      return `$die timeout -s KILL 30 $die $in ${ready.commandLine.map(q).join(" ")} >/dev/null 2>&1 </dev/null 9>&-`;
  }
}

/** Names of services have dashes, names of variables of a shell do not. */
function variable(name: string): string {
  return name.replaceAll("-", "_");
}
