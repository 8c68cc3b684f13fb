import { messageOf } from "#core/fault.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";
import { OtherMachine, type Place } from "./other-machine.ts";
import type { SshAccess } from "./ssh-arguments.ts";
import { isLoopback, type SshHost } from "./ssh-host.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";
import type { WorkerBundle } from "./worker-bundle.ts";
import { Pointed, Started, Status, Stopped, type WorkerSettings } from "./worker-settings.ts";

/** A worker on another machine: the machine, the connection, and the worker's name. */
export interface SshWorker {
  readonly host: SshHost;
  readonly access: SshAccess;
  readonly place: Place;
  readonly bundle: WorkerBundle;
  readonly settings: WorkerSettings;
}

/** The completed actions, for people and for programs. */
export interface Done {
  readonly host: string;
  readonly name: string;
  readonly lines: readonly string[];
  readonly data: object;
}

/** An open tunnel, and a function that informs the worker of the next one. */
export interface HeldTunnel {
  readonly tunnel: Tunnel;
  /** Returns whether the worker still exists. */
  readonly moved: (server: string) => Promise<boolean>;
}

/** Starts the worker, unless it already runs there. The caller must keep the tunnel, if there is one. */
export async function startSshWorker(
  worker: SshWorker,
): Promise<Done & { readonly held: HeldTunnel | undefined }> {
  const { host, access, settings } = worker;
  const { name, server } = settings;
  if (settings.tunnel) refuseTls(server);
  else refuseOwnLoopback(host, server);
  const machine = await reach(worker);
  const { directory } = machine;
  const tunnel = settings.tunnel ? await openTunnel({ host, access, server }) : undefined;
  try {
    const sent = { ...settings, server: tunnel?.server ?? server };
    const started = await machine.call(Started, ["start", directory], sent);
    const moved = async (to: string) => {
      const { kind } = await machine.call(Pointed, ["point", directory, name, to]);
      return kind === "pointed";
    };
    const held = tunnel && { tunnel, moved };
    return { ...saidOfStart(worker, machine, started, sent.server), held };
  } catch (reason) {
    tunnel?.close();
    throw reason;
  }
}

export async function stopSshWorker(worker: SshWorker): Promise<Done> {
  const { host, settings } = worker;
  const machine = await reach(worker);
  const stopped = await machine.call(Stopped, ["stop", machine.directory, settings.name]);
  const line = {
    stopped: `stopped the worker ${settings.name}`,
    killed: `killed the worker ${settings.name}`,
    absent: `there is no worker ${settings.name} on that machine`,
  }[stopped.kind];
  return done(worker, [`${host.text}: ${line}`], stopped);
}

export async function statusOfSshWorker(worker: SshWorker): Promise<Done> {
  const { host, settings } = worker;
  const machine = await reach(worker);
  const status = await machine.call(Status, ["status", machine.directory, settings.name]);
  const head = status.running
    ? `the worker ${settings.name} runs for ${status.server} (process ${status.pid}, since ${status.since})`
    : `there is no worker ${settings.name} on that machine`;
  const log = status.lastLines.map((line) => `  ${printableLine(line)}`);
  return done(
    worker,
    [
      `${host.text}: ${printableLine(head)}`,
      ...(log.length === 0 ? [] : [`  ${printableLine(status.log)}:`, ...log]),
    ],
    status,
  );
}

function reach({ host, access, place, bundle }: SshWorker): Promise<OtherMachine> {
  return OtherMachine.reach(host, access, place, bundle);
}

/** On the other machine, the address would mean that machine itself. */
function refuseOwnLoopback(host: SshHost, server: string): void {
  const { hostname } = new URL(server);
  if (!isLoopback(hostname) || isLoopback(host.host)) return;
  throw new UsageError(
    `${host.text} cannot reach the farm at ${server}, because this address means the machine itself. ` +
      "Give an address that it can reach with --server URL, or use --tunnel",
  );
}

function refuseTls(server: string): void {
  if (new URL(server).protocol === "http:") return;
  throw new UsageError(
    `--tunnel does not work with the TLS of ${server}, because the certificate is for another name`,
  );
}

function saidOfStart(
  worker: SshWorker,
  machine: OtherMachine,
  { kind, pid, unreachable }: Started,
  server: string,
): Done {
  const { host, settings } = worker;
  const verb = kind === "started" ? "started the worker" : "the worker is already running:";
  const once = settings.once ? ", for one job" : "";
  return done(
    worker,
    [
      `${host.text}: ${verb} ${settings.name} (process ${pid}${once})`,
      ...(unreachable === null
        ? []
        : [
            `  it cannot reach the farm at ${server}: ${printableLine(unreachable)}`,
            "  It keeps trying. Give another address with --server, or use --tunnel.",
          ]),
    ],
    { kind, pid, copied: machine.copied, unreachable },
  );
}

function done({ host, settings }: SshWorker, lines: readonly string[], data: object): Done {
  return { host: host.text, name: settings.name, lines, data };
}

/** Returns the result of a failure, which does not prevent the start of the other workers. */
export function failed({ host, settings }: SshWorker, reason: unknown): Done {
  const error = messageOf(reason);
  const line = error.includes(host.text) ? error : `${host.text}: ${error}`;
  return { host: host.text, name: settings.name, lines: [line], data: { error } };
}
