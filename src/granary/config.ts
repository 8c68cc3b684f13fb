import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { FarmAddress } from "./farm/farm-channel.ts";

/**
 * When a build's results are sent to the farm: at once (`during`); when no build runs (`after`); or when no build runs
 * or after half a minute (`soon`).
 */
export type UploadWhen = "during" | "soon" | "after";

export interface GranaryConfig {
  readonly dataDirectory: string;
  readonly socketPath: string;
  /** The port for tools; 0: any free port. */
  readonly port: number;
  readonly limitBytes: number;
  /** Undefined: the cache is only for this machine. */
  readonly farm: FarmAddress | undefined;
  readonly upload: UploadWhen;
  /** For prefetching and for uploads, each; undefined: no limit. */
  readonly bytesPerSecond: number | undefined;
  /** The share of hits that are made again and compared: from 0 to 1. */
  readonly crossCheckShare: number;
  /** Whether blobs are returned without hashing them first. */
  readonly trustDisk: boolean;
  /** The tools of plug-ins (`dune`) whose own daemon the granary replaces, even without an announced build. */
  readonly standsInFor: readonly string[];
  readonly version: string;
}

/** The paths of a granary, which its clients derive from the environment alone. */
export interface GranaryPlace {
  readonly dataDirectory: string;
  readonly socketPath: string;
}

/** Returns the variables that this process was started with: builds inherit them, and find their tools with them. */
export function ownVariables(): NodeJS.ProcessEnv {
  return process.env;
}

/** A path of a socket has at most 107 bytes in Linux, and 103 elsewhere. */
const longestSocketPath = 103;

export function granaryPlace(
  env: Readonly<Record<string, string | undefined>>,
  dataOption?: string,
): GranaryPlace {
  const own = dataOption ?? (env["GRANGE_GRANARY_DATA"] || undefined);
  const caches = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  const dataDirectory = own ?? join(caches, "grange", "granary");
  const runtime = env["XDG_RUNTIME_DIR"];
  const configured = env["GRANGE_GRANARY_SOCKET"];
  if (configured) return { dataDirectory, socketPath: configured };
  // A granary with a custom data directory is separate from the user's granary, and has its own socket.
  const beside = join(dataDirectory, "socket");
  const isBeside = own !== undefined || !runtime;
  const socketPath = isBeside ? beside : join(runtime, "grange-granary.sock");
  return { dataDirectory, socketPath: fitting(socketPath, env) };
}

function fitting(path: string, env: Readonly<Record<string, string | undefined>>): string {
  if (Buffer.byteLength(path) <= longestSocketPath) return path;
  // Only in the user's own directory: in a shared directory, another user could listen at this
  // path.
  const runtime = env["XDG_RUNTIME_DIR"];
  if (!runtime) {
    throw new Fault(
      "invalid_argument",
      `${path} is too long for a socket (${longestSocketPath} bytes); set XDG_RUNTIME_DIR, or choose a shorter data directory`,
    );
  }
  const name = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return join(runtime, `grange-granary-${name}.sock`);
}

/** The path of the lock that is held while a granary runs, until all its state is written. */
export function lockPath({ dataDirectory }: Pick<GranaryPlace, "dataDirectory">): string {
  return join(dataDirectory, "lock");
}

export function endpointPath({ dataDirectory }: Pick<GranaryPlace, "dataDirectory">): string {
  return join(dataDirectory, "endpoint");
}
