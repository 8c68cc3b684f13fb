import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget, type Target } from "../build-tools/hostile-target.ts";
import { grange } from "../support/farm.ts";
import { linkCluster, removeWithCluster } from "../support/prepared-cluster.ts";
import { startProgram } from "../support/process.ts";

/** A server in a separate process, so that its memory and its end can be measured. */
export interface HostileFarm extends Target {
  readonly dataDir: string;
  readonly pid: number;
  readonly full: boolean;
  /** Returns the complete log of the server. */
  readonly logged: () => string;
  /** Sends a request below /api/v1; the body is sent as JSON. */
  readonly ask: (path: string, body?: unknown, init?: RequestInit) => Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The message of the error, if it is one. */
  readonly said: string;
  json(): unknown;
}

/** Returns the headers for a token. */
export function as(token: string | undefined): RequestInit {
  return token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
}

export async function startHostileFarm(options: {
  readonly full: boolean;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<HostileFarm> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-hostile-"));
  await linkCluster(dataDir);
  const server = startProgram(
    process.execPath,
    [grange, "server", "--data", dataDir, "--port", "0"],
    { env: options.env ?? {} },
  );
  const log: string[] = [];
  server.note((line) => log.push(line) < 0).catch(() => {});
  try {
    const line = await server.line((each) => each.startsWith('{"ready":true'));
    const url = (JSON.parse(line) as { url: string }).url.replace(/\/$/, "");
    const target = await openTarget({ url, dataDir });
    return {
      ...target,
      dataDir,
      pid: server.pid,
      full: options.full,
      logged: () => log.join("\n"),
      ask: (path, body, init) => ask(`${url}/api/v1${path}`, body, init),
      async stop() {
        await target.stop();
        server.signal("SIGTERM");
        await server.finished;
        await removeWithCluster(dataDir);
      },
    };
  } catch (cause) {
    server.signal("SIGKILL");
    await removeWithCluster(dataDir);
    throw cause;
  }
}

async function ask(url: string, body: unknown, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    ...init,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(init.headers as Record<string, string>),
    },
  });
  const text = await answer.text();
  const json = () => JSON.parse(text) as unknown;
  return { status: answer.status, headers: answer.headers, text, said: errorIn(text), json };
}

function errorIn(text: string): string {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? "";
  } catch {
    return "";
  }
}

/** Returns the MiB of memory that only this process uses, and its share of shared memory. */
export async function residentMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}
