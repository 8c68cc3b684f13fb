import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget, type Target } from "../build-tools/hostile-target.ts";
import { grange } from "../support/farm.ts";
import { copyCluster } from "../support/prepared-cluster.ts";
import { startProgram } from "../support/process.ts";

/** A server of its own process, so that what it takes and whether it lives are its own. */
export interface HostileFarm extends Target {
  readonly dataDir: string;
  readonly pid: number;
  readonly full: boolean;
  /** All that the server has written into its log. */
  readonly logged: () => string;
  /** Over HTTP, below /api/v1; the body goes as JSON. */
  readonly ask: (path: string, body?: unknown, init?: RequestInit) => Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What is in the error, if it is one. */
  readonly said: string;
  json(): unknown;
}

/** Headers of whoever holds that token. */
export function as(token: string | undefined): RequestInit {
  return token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
}

export async function startHostileFarm(options: {
  readonly full: boolean;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<HostileFarm> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-hostile-"));
  await copyCluster(dataDir);
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
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    server.signal("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
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

/** MiB that are this process's alone, and its share of what several have. */
export async function residentMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}
