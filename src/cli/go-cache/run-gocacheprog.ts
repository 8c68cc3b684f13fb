import { messageOf } from "#core/fault.ts";
import { type GoCacheConfig, readGoCacheConfig } from "#go-cache/config.ts";
import { localOutputs } from "#go-cache/local-outputs.ts";
import { type RemoteAddress, remoteOutputs } from "#go-cache/remote-outputs.ts";
import { serveGo } from "#go-cache/serve-go.ts";
import { trimOutputs } from "#go-cache/trim-outputs.ts";
import { withUsualAuthorities } from "#grpc/authorities.ts";
import { readCliConfig } from "../config.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tokenFor } from "../token-file.ts";
import { ownerTokenFor } from "../up/owner-token.ts";

export interface GoCacheProgOptions {
  readonly project: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly data?: string;
  readonly local?: boolean;
}

/** Of a damaged cache each output would be one warning. */
const mostWarnings = 5;
/** How long the process removes unused outputs after the go command has gone, in ms. */
const trimMs = 10_000;

/** Serves the go command that started this process. No problem of a cache ends the build. */
export async function runGoCacheProg(options: GoCacheProgOptions): Promise<ExitCode> {
  const warn = warnings();
  if (process.stdin.isTTY) {
    warn('the go command starts this program: export GOCACHEPROG="grange gocacheprog"');
    return exitCodes.usage;
  }
  const config = readGoCacheConfig(options.data);
  const { directory, granaryUrl } = config;
  const address = await addressOf(options, config).catch((reason: unknown) => {
    warn(`only the cache of this machine is used: ${messageOf(reason)}`);
    return undefined;
  });
  const remote = address && remoteOutputs(address, warn);
  try {
    await serveGo({
      input: process.stdin,
      answer: (value) => void process.stdout.write(`${JSON.stringify(value)}\n`),
      local: localOutputs(directory),
      remote,
      remoteIsGranary: granaryUrl !== undefined,
      warn,
    });
  } catch (reason) {
    warn(messageOf(reason));
    return exitCodes.failed;
  } finally {
    remote?.close();
    // The go command waits for the end of this stream.
    process.stdin.destroy();
    process.stdout.end();
  }
  await trimOutputs(directory, Date.now(), AbortSignal.timeout(trimMs)).catch(() => {});
  return exitCodes.ok;
}

/** Returns the address of the cache over the network; undefined for none. */
async function addressOf(
  options: GoCacheProgOptions,
  { granaryUrl, jobCaches }: GoCacheConfig,
): Promise<RemoteAddress | undefined> {
  if (options.local === true) return undefined;
  if (granaryUrl !== undefined) return { url: granaryUrl, token: undefined, tls: {} };
  const config = readCliConfig();
  const { ca, clientCertificate } = config;
  const trusted = ca === undefined ? {} : { ca: withUsualAuthorities(ca) };
  const tls = { ...trusted, ...clientCertificate };
  if (jobCaches !== undefined && options.server === undefined) {
    return { url: `${jobCaches.url}/gocache`, token: jobCaches.token, tls };
  }
  const server = new URL(options.server ?? config.serverUrl).origin;
  const token =
    (await tokenFor(options.tokenFile, config.token)) ??
    (await ownerTokenFor(server, config.dataDir, process.cwd()));
  const project = options.project.split("/").map(encodeURIComponent).join("%2F");
  return { url: `${server}/cache/${project}/gocache`, token, tls };
}

/** Go passes the error stream of this process on to the user. Each warning is printed once. */
function warnings(): (line: string) => void {
  const printed = new Set<string>();
  return (line) => {
    if (printed.has(line) || printed.size >= mostWarnings) return;
    printed.add(line);
    process.stderr.write(`grange gocacheprog: ${printableLine(line)}\n`);
  };
}
