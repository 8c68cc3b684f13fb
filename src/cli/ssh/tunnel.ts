import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, messageOf } from "#core/fault.ts";
import { retryDelayMs } from "../api/retry-delay.ts";
import { explainSshFailure } from "./explain-ssh-failure.ts";
import { cannotStart } from "./run-ssh.ts";
import { type SshAccess, sshArguments } from "./ssh-arguments.ts";
import type { SshHost } from "./ssh-host.ts";

/** A tunnel from a port of the other machine's loopback to the farm. */
export interface Tunnel {
  /** The farm's address on the other machine. */
  readonly server: string;
  /** Resolves with the reason when the tunnel is lost. */
  readonly lost: Promise<string>;
  close(): void;
}

interface TunnelWay {
  readonly host: SshHost;
  readonly access: SshAccess;
  /** The farm's address on this machine. */
  readonly server: string;
}

/**
 * Opens a tunnel on any free port of the other machine. Throws with a message for people when ssh fails.
 *
 * The port differs each time. After a silent network failure, the other sshd keeps the old port until it detects the
 * failure, which takes a quarter of an hour.
 */
export function openTunnel(
  { host, access, server }: TunnelWay,
  signal?: AbortSignal,
): Promise<Tunnel> {
  const { hostname, port } = new URL(server);
  const forward = `127.0.0.1:0:${hostname}:${port === "" ? 80 : port}`;
  const args = sshArguments(host, access, undefined, [
    "-N",
    "-o",
    "ExitOnForwardFailure=yes",
    // Otherwise ssh would not print the chosen port.
    "-o",
    "LogLevel=INFO",
    "-R",
    forward,
  ]);
  const child = spawn("ssh", args, {
    stdio: ["ignore", "ignore", "pipe"],
    ...(signal === undefined ? {} : { signal }),
  });
  let stderr = "";
  return new Promise((resolve, reject) => {
    const lost = new Promise<string>((tell) => {
      child.once("error", (cause) => reject(cannotStart(cause)));
      child.once("close", () => {
        const why = explainTunnelFailure(host, stderr);
        reject(new Fault("unavailable", why));
        tell(why);
      });
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      // The text is limited, because a connection may last forever.
      stderr = `${stderr}${text}`.slice(-16_384);
      const open = /^Allocated port (\d+) for remote forward/m.exec(stderr)?.[1];
      if (open === undefined) return;
      resolve({ server: `http://127.0.0.1:${open}`, lost, close: () => child.kill("SIGTERM") });
    });
  });
}

function explainTunnelFailure(host: SshHost, stderr: string): string {
  if (!/remote port forwarding failed/i.test(stderr))
    return explainSshFailure(host, stderr.replaceAll(/^Allocated port .*$\n?/gm, ""));
  return (
    `${host.text} refuses the tunnel: its sshd forbids it (AllowTcpForwarding). ` +
    "Give the worker an address of the farm that it can reach, with --server URL"
  );
}

/**
 * Keeps a tunnel open until it is stopped, or until the worker there has ended; reports when it is lost and when it is
 * restored. `moved` informs the worker of the tunnel's new port, and returns whether the worker still exists.
 */
export async function keepTunnel(
  first: Tunnel,
  way: TunnelWay,
  moved: (server: string) => Promise<boolean>,
  stop: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const { text } = way.host;
  const stopped = new Promise<undefined>((resolve) => {
    stop.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  let tunnel: Tunnel | undefined = first;
  let failures = 0;
  while (!stop.aborted) {
    try {
      if (tunnel === undefined) {
        tunnel = await openTunnel(way, stop);
        const isThere = await Promise.race([moved(tunnel.server), stopped]);
        if (isThere === undefined) break;
        if (!isThere) {
          say(`${text}: the worker has ended, and its tunnel is closed`);
          break;
        }
        say(`${text}: the tunnel is open again`);
      }
      failures = 0;
      const why = await Promise.race([tunnel.lost, stopped]);
      if (why === undefined) break;
      say(`${text}: ${why}. The worker continues, and the tunnel will be opened again`);
    } catch (reason) {
      if (stop.aborted) break;
      if (failures === 0) say(`${text}: ${messageOf(reason)}. Trying again`);
    }
    tunnel?.close();
    tunnel = undefined;
    const pauseMs = retryDelayMs(++failures, Math.random());
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => {});
  }
  tunnel?.close();
}
