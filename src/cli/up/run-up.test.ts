import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outputOf } from "../run-program.ts";

/** A process that `up` started, by its own report. */
interface Started {
  readonly role: string;
  readonly pid: number;
  readonly ended: Promise<unknown>;
}

const undo: (() => unknown)[] = [];
afterAll(async () => {
  for (const each of undo.toReversed()) await each();
});

let repository = "";
let commitless = "";
beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), "grange-up-"));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  repository = join(dir, "repository");
  commitless = join(dir, "commitless");
  const git = (...args: string[]) =>
    outputOf("git", ["-C", repository, "-c", "user.name=A", "-c", "user.email=a@b", ...args]);
  await outputOf("git", ["init", "--quiet", repository]);
  await outputOf("git", ["init", "--quiet", commitless]);
  await writeFile(join(repository, "README"), "");
  await git("add", "-A");
  await git("commit", "--quiet", "-m", "nothing to run");
  await git("tag", "bare");
  await outputOf("mkdir", [join(repository, ".grange")]);
  await writeFile(join(repository, ".grange/farm.yml"), "version: 1\n");
  await git("add", "-A");
  await git("commit", "--quiet", "-m", "begin");
});

/** Receives reports of every process that `up` starts. */
class Reports {
  readonly #arrived: Started[] = [];
  readonly #awaited: (() => void)[] = [];
  #printedByEnd: string | undefined;
  readonly server: Server;

  constructor() {
    this.server = createServer((socket) => this.#hear(socket));
  }

  #hear(socket: Socket): void {
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.once("data", (chunk) => {
      const [role = "", pid = "0"] = chunk.toString().trim().split(" ");
      this.#arrived.push({ role, pid: Number(pid), ended });
      for (const ring of this.#awaited.splice(0)) ring();
    });
    socket.resume();
  }

  /** Resolves with the nth process of a role; rejects when `up` ends before. */
  async nth(role: string, n: number): Promise<Started> {
    for (;;) {
      const found = this.#arrived.filter((each) => each.role === role)[n - 1];
      if (found !== undefined) return found;
      if (this.#printedByEnd !== undefined)
        throw new Error(`up ended without ${role} ${n}: ${this.#printedByEnd}`);
      await new Promise<void>((resolve) => this.#awaited.push(resolve));
    }
  }

  /** `up` has ended, so there will be no more reports. */
  end(printed: string): void {
    this.#printedByEnd = printed;
    for (const ring of this.#awaited.splice(0)) ring();
  }

  all(): readonly Started[] {
    return this.#arrived;
  }
}

interface Up {
  readonly process: ChildProcess;
  readonly reports: Reports;
  readonly ended: Promise<{ exitCode: number | null; stdout: string; stderr: string }>;
  /** Resolves when stderr contains this text; rejects when it ends before. */
  readonly noted: (text: string) => Promise<void>;
}

async function up(options: object, env: Record<string, string> = {}): Promise<Up> {
  const reports = new Reports();
  reports.server.listen(0, "127.0.0.1");
  await once(reports.server, "listening");
  undo.push(() => reports.server.close());
  const data = await mkdtemp(join(tmpdir(), "grange-up-data-"));
  undo.push(() => rm(data, { recursive: true, force: true }));
  const { port } = reports.server.address() as AddressInfo;
  const script = join(import.meta.dirname, "../../../test/support/run-up-with-fakes.ts");
  const given = { repo: repository, port: 0, data, workers: 2, ...options };
  const fakes = { ...env, FAKE_REPORT_PORT: String(port) };
  const words = ["--import", import.meta.resolve("tsx"), script];
  const child = spawn(process.execPath, [...words, JSON.stringify(given), JSON.stringify(fakes)]);
  undo.push(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  const noted: (() => void)[] = [];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    for (const ring of noted.splice(0)) ring();
  });
  let isOver = false;
  const ended = once(child, "close").then(([exitCode]) => {
    isOver = true;
    for (const ring of noted.splice(0)) ring();
    reports.end(stderr);
    return { exitCode: exitCode as number | null, stdout, stderr };
  });
  return {
    process: child,
    reports,
    ended,
    async noted(text) {
      while (!stderr.includes(text)) {
        if (isOver) throw new Error(`up ended without "${text}": ${stderr}`);
        await new Promise<void>((resolve) => noted.push(resolve));
      }
    },
  };
}

test("with --once it ends as the graph ends, and its last line is the result", async () => {
  const { ended, reports } = await up({ once: true, json: true });

  const { exitCode, stdout, stderr } = await ended;

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    state: "succeeded",
    jobs: 2,
    executed: 1,
    hits: 1,
    failed: 0,
    seconds: expect.any(Number),
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/graphs\/0f0f/),
  });
  expect(stderr).toContain("lint hit");
  await Promise.all(reports.all().map((each) => each.ended));
});

test("a graph that failed is exit code 1, also when its logs cannot be read", async () => {
  const { exitCode, stderr } = await (await up({ once: true }, { FAKE_GRAPH: "failed" })).ended;

  expect(exitCode).toBe(1);
  expect(stderr).toContain("--- end of the log of tests ---\nThe log could not be read: ");
  expect(stderr).toContain("run this again without --once");
});

test("Ctrl-C ends all, also what does not want to", async () => {
  const {
    process: child,
    reports,
    ended,
    noted,
  } = await up({}, { FAKE_GRAPH: "running", FAKE_STUBBORN: "1" });
  const all = [await reports.nth("server", 1), await reports.nth("worker", 2)];
  await noted("tests running");

  // The second signal within half a second is npm's copy of the first.
  child.kill("SIGINT");
  child.kill("SIGINT");

  const { exitCode } = await ended;
  await Promise.all(all.map((each) => each.ended));
  expect(exitCode).toBe(1);
});

test("a worker and a server that are killed are started again, the server where it was", async () => {
  const { process: child, reports, ended, noted } = await up({}, { FAKE_GRAPH: "running" });
  const worker = await reports.nth("worker", 2);
  const server = await reports.nth("server", 1);
  await noted("tests running");

  process.kill(worker.pid, "SIGKILL");
  process.kill(server.pid, "SIGKILL");

  await Promise.all([reports.nth("worker", 3), reports.nth("server", 2)]);
  child.kill("SIGTERM");
  const { stderr } = await ended;
  expect(stderr).toMatch(/The server ended \(SIGKILL\); restarting it .* Its log: .*server\.log/);
  expect(stderr).toMatch(/The worker .*-[12] ended \(SIGKILL\)/);
});

test("children end when up itself is killed", async () => {
  const { process: child, reports, noted } = await up({}, { FAKE_GRAPH: "running" });
  const all = [
    await reports.nth("server", 1),
    await reports.nth("worker", 1),
    await reports.nth("worker", 2),
  ];
  await noted("tests running");

  child.kill("SIGKILL");

  // This does not wait forever: a child that lives on would keep its connection open.
  await expect(Promise.all(all.map((each) => each.ended))).resolves.toHaveLength(3);
});

test("a second up on the same data directory is told where the first one is", async () => {
  const first = await up({}, { FAKE_GRAPH: "running" });
  await first.noted("tests running");
  const data = JSON.parse(first.process.spawnargs.at(-2) ?? "").data as string;

  const { exitCode, stderr } = await (await up({ data })).ended;

  const { url } = JSON.parse(await readFile(join(data, "up.json"), "utf8"));
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`(process ${first.process.pid}) serves ${url}`);
  first.process.kill("SIGTERM");
  await first.ended;
  await expect(readFile(join(data, "up.json"))).rejects.toThrow(/ENOENT/);
});

test("a port that is taken is told with its holder and a way out", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  undo.push(() => holder.close());
  const { port } = holder.address() as AddressInfo;

  const { exitCode, stderr } = await (await up({ port })).ended;

  expect(exitCode).toBe(1);
  expect(stderr).toContain(`port ${port} is in use`);
  expect(stderr).toContain(`--port ${port + 1}`);
  // Only Linux shows the process.
  expect(stderr).toContain(process.platform === "linux" ? `process ${process.pid}` : "is in use");
});

test.each([
  { what: "no definitions", options: { rev: "bare" }, message: /no \.grange.*grange init/ },
  { what: "no such revision", options: { rev: "gone" }, message: /no commit "gone"/ },
  { what: "no repository", options: { repo: tmpdir() }, message: /not a Git repository/ },
  {
    what: "a data directory under a file",
    options: { data: "/dev/null/x" },
    message: /GRANGE_DATA/,
  },
])("$what: it says so before anything is started", async ({ options, message }) => {
  const { reports, ended } = await up(options);

  const { exitCode, stderr } = await ended;

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(message);
  expect(reports.all()).toEqual([]);
});

test("a repository without any commit is no repository to run", async () => {
  const { exitCode, stderr } = await (await up({ repo: commitless })).ended;

  expect(exitCode).toBe(1);
  expect(stderr).toContain("there is no commit");
});
