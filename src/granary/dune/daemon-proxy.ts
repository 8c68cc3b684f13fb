import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { daemonProxyScript } from "./daemon-proxy-script.ts";

/** A connected dune that read an endpoint file, with its bytes as they arrive. */
export interface DuneClient {
  readonly endpointFile: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /**
   * Lets dune start. Without this call, dune starts when the gate time of its endpoint file has
   * expired.
   */
  greet(): void;
  /**
   * Delays dune for this time from now on, less than ten seconds, regardless of its gate time. It has no effect after
   * dune has started.
   */
  hold(ms: number): void;
  send(bytes: Uint8Array): void;
}

export interface DaemonProxy extends Service {
  /** Acts as dune's daemon for all dunes that read this file, under a name without blanks; returns the port. */
  hold(name: string, file: string, gateMs: number): Promise<number>;
  /** Later dunes start their own daemon. */
  drop(name: string): void;
  /** Resolves when the daemon proxy ends without `stop`. Its endpoint files are then released. */
  readonly lost: Promise<void>;
}

/** The limit for a gate time, because a waiting dune can be stopped only by SIGKILL. */
const longestGateMs = 10_000;
/** Perl starts in ten milliseconds; on a machine that is out of memory it may never start. */
const answersWithinMs = 5_000;
/**
 * The limit of Linux's sockaddr_un, including its final NUL. Node truncates a longer path and then listens at another
 * path.
 */
const longestSocketPath = 107;

export async function startDaemonProxy(parts: {
  /** The directory of its socket; no other user can enter it. */
  readonly directory: string;
  readonly onClient: (client: DuneClient) => void;
  readonly perl?: string;
}): Promise<DaemonProxy> {
  const path = join(parts.directory, "dune.sock");
  if (Buffer.byteLength(path) > longestSocketPath) {
    throw new Fault(
      "invalid_argument",
      `${path} is too long for a socket (${longestSocketPath} bytes); choose a shorter data directory`,
    );
  }
  await mkdir(parts.directory, { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    void acceptDune(socket, parts.onClient);
  });
  server.listen(path);
  await once(server, "listening");
  const waiting = new Map<string, (line: readonly string[]) => void>();
  const child = spawn(parts.perl ?? "perl", ["-e", daemonProxyScript, path], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    // Ctrl-C in a terminal must reach only the granary; the daemon proxy ends after it.
    detached: true,
  });
  let stopped = false;
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  child.stdin.on("error", () => {});
  onLines(child, (line) => {
    const [verb = "", name = "", ...rest] = line.split("\t");
    waiting.get(name)?.([verb, ...rest]);
  });

  return {
    lost: ended,

    async hold(name, file, gateMs) {
      if (/[\t\n\s]/.test(name) || /[\t\n]/.test(file)) {
        throw new Fault(
          "invalid_argument",
          `an endpoint file's name or path has blanks in it: ${file}`,
        );
      }
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const answer = new Promise<readonly string[]>((resolve) => waiting.set(name, resolve));
      const gate = Math.min(Math.max(0, Math.round(gateMs)), longestGateMs);
      child.stdin.write(`hold\t${name}\t${file}\t${gate}\n`);
      const late = new AbortController();
      try {
        const [verb, word] = await Promise.race([
          answer,
          ended.then(() => ["failed", "perl is missing, or has ended"]),
          timeout(answersWithinMs, late.signal),
        ]);
        if (verb === "held") return Number(word);
        throw new Fault("unavailable", `cannot take the place of dune's cache daemon: ${word}`);
      } finally {
        late.abort();
        waiting.delete(name);
      }
    },

    drop(name) {
      if (child.stdin.writable) child.stdin.write(`drop\t${name}\n`);
    },

    async stop() {
      if (stopped) return;
      stopped = true;
      child.stdin.end();
      // The daemon proxy serves its dunes to their end, which may be long after this process has
      // ended.
      child.unref();
      child.stdout.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function acceptDune(socket: Socket, onClient: (client: DuneClient) => void): Promise<void> {
  const bytes = socket.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  let head = Buffer.alloc(0);
  try {
    while (!head.includes(0x0a)) {
      const next = await bytes.next();
      if (next.done === true || head.length > 1_024) return void socket.destroy();
      head = Buffer.concat([head, next.value]);
    }
  } catch {
    return;
  }
  const end = head.indexOf(0x0a);
  const rest = head.subarray(end + 1);
  let greeted = false;
  const greet = () => {
    if (!greeted && socket.writable) socket.write("go\n");
    greeted = true;
  };
  onClient({
    endpointFile: head.toString("utf8", 0, end),
    bytes: (async function* () {
      try {
        if (rest.length > 0) yield rest;
        yield* bytes;
      } catch {
        // A lost connection counts as the end of the client's bytes.
      } finally {
        socket.destroy();
      }
    })(),
    greet,
    hold(ms) {
      if (!greeted && socket.writable) socket.write(`wait ${Math.min(9_999, Math.round(ms))}\n`);
    },
    send(message) {
      greet();
      if (socket.writable) socket.write(message);
    },
  });
}

function onLines(child: ChildProcess, take: (line: string) => void): void {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

function timeout(ms: number, signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(["failed", "perl does not answer"]), ms);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}
