import { setpriv } from "#machine/job-owner.ts";
import { quoteForShell as q } from "../quote-for-shell.ts";
import { networkOfServices, type OwnNetwork } from "./networks-of-services.ts";

/** A service as the script starts it. */
export interface ServiceToStart {
  readonly name: string;
  /** Runs it in its sandbox. */
  readonly commandLine: readonly string[];
  readonly ready: ReadyCheck;
  readonly timeoutMs: number;
  /** Absent in the network namespace of the job. */
  readonly network: OwnNetwork | undefined;
  /** Follows the message that it failed. */
  readonly note: string;
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
 * Returns a script that makes a network namespace, and others for services that need their own, starts services in
 * them, waits until they are ready, and runs its arguments as a command beside them. Its exit code is that of the command, or 125 when the command could not start.
 *
 * Each process that it starts gets SIGKILL when the shell dies, and the shell when its parent does: services end with
 * the job, and with the worker. The sandboxes themselves make no network namespace; the first process of a namespace
 * only keeps it.
 */
export function servicesScript({ directory, services, loopback, network }: ServicesToRun): string {
  const own = services.filter((service) => service.network !== undefined);
  return [
    `dir=${q(directory)}; die="${setpriv} --pdeathsig KILL --"; started=; keepers=; connections=`,
    helpers,
    keepScript(loopback),
    // The messages that a shell prints about signals do not belong into the job's log.
    "exec 9>&2 2>/dev/null",
    "keep network; network=$kept",
    ...(network ? [`connect $network network`] : []),
    'in="nsenter --net=/proc/$network/ns/net --"',
    ...own.map((service, at) => ownNetworkScript(service, at, network)),
    ...services.map(startScript),
    ...services.map(waitScript),
    '$die $in "$@" 2>&9 9>&-',
    "code=$?",
    "finish",
    "exit $code",
  ].join("\n");
}

/**
 * Services are no root of their network namespace, but many listen on port 80. Nobody else is in it. The namespace of
 * the job forwards between services.
 */
const settingsOfNetwork =
  "cd /proc/sys/net/ipv4 && { echo 0 >ip_unprivileged_port_start; echo 1 >ip_forward; } || :";

function keepScript(loopback: string): string {
  return `
keep() {
  $die unshare --net sh -c ${q(`${loopback} || :; ${settingsOfNetwork}; : >"$0"; exec sleep 2147483647`)} "$dir/$1.up" </dev/null >/dev/null 9>&- &
  kept=$!; keepers="$keepers $kept"
  while [ ! -e "$dir/$1.up" ]; do
    lives $kept || fail "the network namespace of its services cannot be made on this machine"
    sleep 0.01
  done
}`;
}

const helpers = `
lives() { read -r _ _ state _ <"/proc/$1/stat" && [ "$state" != Z ]; }
seconds() { read -r up _ </proc/uptime; up=\${up%%.*}; }
listens() {
  for table in tcp tcp6; do
    while read -r _ local _ state _; do
      case "$state:$local" in 0A:*:"$1") return 0 ;; esac
    done <"/proc/$2/net/$table"
  done
  return 1
}
finish() {
  for leader in $started; do kill -s KILL -- "-$leader" "$leader"; done
  kill -s KILL $keepers $connections
  wait
}
fail() { echo "grange: $1"; finish; exit 125; }
fail_service() {
  finish
  echo "grange: service $1 $2$3; the end of its log:"
  tail -n ${shownLines} "$dir/$1.log"
  exit 125
}
connect() {
  slirp4netns --configure --mtu=65520 --disable-host-loopback --ready-fd=8 $1 tap0 8>"$dir/$2.connected" </dev/null >/dev/null 9>&- &
  connection=$!; connections="$connections $connection"
  while [ ! -s "$dir/$2.connected" ]; do
    lives $connection || fail "a job with network and services needs slirp4netns on the worker, and /dev/net/tun: install slirp4netns"
    sleep 0.01
  done
}
link() {
  in_own="nsenter --net=/proc/$2/ns/net --"
  $die $in ip link add "$1" type veth peer name eth0 netns "$2" &&
    $die $in ip address add "$3/30" dev "$1" && $die $in ip link set "$1" up &&
    $die $in_own ip address add "$4/30" dev eth0 && $die $in_own ip link set eth0 up &&
    $die $in_own ip route add ${networkOfServices} via "$3"
}`;

/** A namespace for one service, with the addresses of a network of four. */
function ownNetworkScript(
  { name, network }: ServiceToStart,
  at: number,
  connected: boolean,
): string {
  if (network === undefined) return "";
  const { address, jobAddress } = network;
  return `
keep own-${name}; network_${variable(name)}=$kept
${connected ? `connect $kept own-${name}` : ""}
link service${at} $kept ${jobAddress} ${address} 9>&- ||
  fail "service ${name} listens on the same port as another one, and so needs the program ip (iproute2) and virtual Ethernet pairs (veth) on the worker"`;
}

/** The variable with the process that keeps the network namespace of a service. */
function keeperOf({ name, network }: ServiceToStart): string {
  return network === undefined ? "$network" : `$network_${variable(name)}`;
}

/** A session of its own: its processes are ended together, also those that no longer get the signal of their parent. */
function startScript(service: ServiceToStart): string {
  const { name, commandLine } = service;
  // A service may open /dev/stdout as any user.
  return `
mkfifo -m 666 "$dir/${name}.pipe"
{ head -c ${mostLogBytes}; cat >/dev/null; } <"$dir/${name}.pipe" >"$dir/${name}.log" 9>&- &
$die setsid nsenter --net=/proc/${keeperOf(service)}/ns/net -- ${commandLine.map(q).join(" ")} >"$dir/${name}.pipe" 2>&1 </dev/null 9>&- &
service_${variable(name)}=$!; started="$started $!"`;
}

function waitScript(service: ServiceToStart): string {
  const { name, ready, timeoutMs } = service;
  const note = q(service.note);
  if (ready.kind === "started") return "";
  const seconds = Math.ceil(timeoutMs / 1_000);
  return `
seconds; end=$((up + ${seconds}))
until ${checkOf(ready, keeperOf(service))}; do
  lives $service_${variable(name)} || fail_service ${name} "ended before it was ready" ${note}
  seconds; [ $up -le $end ] || fail_service ${name} "was not ready after ${seconds} s" ${note}
  sleep 0.05
done`;
}

function checkOf(ready: Exclude<ReadyCheck, { kind: "started" }>, keeper: string): string {
  switch (ready.kind) {
    case "port":
      return `listens ${ready.port.toString(16).toUpperCase().padStart(4, "0")} ${keeper}`;
    case "command":
      return `$die timeout -s KILL 30 $die nsenter --net=/proc/${keeper}/ns/net -- ${ready.commandLine.map(q).join(" ")} >/dev/null 2>&1 </dev/null 9>&-`;
  }
}

/** Names of services have dashes, names of variables of a shell do not. */
function variable(name: string): string {
  return name.replaceAll("-", "_");
}
