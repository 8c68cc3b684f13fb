import { Fault } from "#core/fault.ts";
import { readAuthorities } from "#grpc/authorities.ts";
import { givenSettings } from "../given-settings.ts";
import { UsageError } from "../usage-error.ts";
import type { WorkOptions } from "../work-here.ts";
import type { Place } from "./other-machine.ts";
import type { SshAccess } from "./ssh-arguments.ts";
import { parseSshHost, type SshHost, workerNameFor } from "./ssh-host.ts";
import { WorkerSettings } from "./worker-settings.ts";

export interface SshOptions extends WorkOptions {
  readonly ssh: readonly string[];
  readonly sshOption?: readonly string[];
  readonly sshKey?: string;
  readonly remoteDirectory: string;
  readonly remoteNode: string;
  readonly tunnel?: boolean;
  readonly stop?: boolean;
  readonly status?: boolean;
  readonly json?: boolean;
}

/** A worker that is connected over ssh is unreachable at times. */
const defaultLeaseMs = 20 * 60_000;

interface Wanted {
  readonly host: SshHost;
  readonly settings: WorkerSettings;
}

export function accessOf({ sshKey, sshOption = [] }: SshOptions): SshAccess {
  return { key: sshKey, options: sshOption };
}

export function placeOf({ remoteDirectory, remoteNode }: SshOptions): Place {
  for (const word of [remoteDirectory, remoteNode]) {
    if (/\p{Cc}/u.test(word) || word === "" || word.startsWith("-"))
      throw new UsageError(`${JSON.stringify(word)} is not a path on another machine`);
  }
  return { directory: remoteDirectory, node: remoteNode };
}

/** Returns the workers to start on each machine. Throws a UsageError for contradictory options. */
export function wantedWorkers(options: SshOptions, defaults: Defaults): Wanted[] {
  const { name, stop, status, tunnel, data } = options;
  if (stop === true && status === true)
    throw new UsageError("--stop and --status exclude each other");
  if (data !== undefined)
    throw new UsageError(
      "--data is for a worker on this machine; for another machine use --remote-directory",
    );
  if (options.clientCert !== undefined || options.clientKey !== undefined)
    throw new UsageError(
      "--client-cert is for a worker on this machine; on another machine, a worker has a token (GRANGE_WORKER_TOKEN)",
    );
  if (name !== undefined && options.ssh.length > 1)
    throw new UsageError("--name needs a single host");
  if (tunnel === true && (stop === true || status === true))
    throw new UsageError("--tunnel can only be used to start a worker");
  const wanted = options.ssh.map((text) => {
    const host = parseSshHost(text);
    return { host, settings: settingsOf(options, name ?? workerNameFor(host), defaults) };
  });
  const names = new Set(wanted.map(({ settings }) => settings.name));
  if (names.size < wanted.length) throw new UsageError("a host is given twice");
  return wanted;
}

/** The settings of the environment for workers on other machines. */
interface Defaults {
  readonly server: string;
  readonly token: string | undefined;
  readonly ca: string | undefined;
}

function settingsOf(
  options: SshOptions,
  name: string,
  { server, token, ca }: Defaults,
): WorkerSettings {
  const parsed = WorkerSettings.safeParse({
    server: options.server ?? server,
    name,
    tunnel: options.tunnel === true,
    hiddenPaths: [],
    leaseMs: defaultLeaseMs,
    once: false,
    ...givenSettings(options),
    logLevel: options.logLevel,
    token,
    ca: options.ca === undefined ? ca : readAuthorities(options.ca),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault("invalid_argument", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
