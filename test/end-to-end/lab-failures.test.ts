import { execFile } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request as requestHttp, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { RequestDetail, Requests, SubmittedRequest } from "#api/benchmark-request.ts";
import { CollectorView } from "#api/collector.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { breakableProxy } from "../support/breakable-proxy.ts";
import type { FakeGitHub, FakeRepository } from "../support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../support/fake-github/start-fake-github.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";
import type { Program } from "../support/process.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";
import { toySuite } from "../support/toy-suite.ts";

/*
 * Faults in a lab with real processes: a server with its PostgreSQL, collectors, measured programs, and a fake GitHub.
 * One farm for all tests, which run one after the other.
 */

const target = `${process.platform}-${process.arch}`;
const slug = "octo/lab";
/** Long enough for a heartbeat on a busy machine; after a temporary failure the retry starts after half of it. */
const leaseMs = 6_000;
const collectorName = "lab-1";
const secret = randomBytes(16).toString("hex");

/**
 * A "compiler" whose two profiles are two jobs; it prints a figure, records its run in a file, and may have to wait.
 */
const tiny = {
  suite: "tiny",
  artifacts: { from: "nowhere" },
  backends: { sh: { tool: ["{artifact}/compile"] } },
  targets: { [target]: {} },
  metrics: {
    nodes: { take: { from: "output", pattern: "^nodes: (\\d+)" }, nature: "exact", unit: "count" },
  },
  headline: "nodes",
  compile: {
    command: ["{tool}"],
    profiles: { one: { args: ["one"] }, two: { args: ["two"], default: false } },
    benchmarks: { bench: {} },
  },
  iterations: { timed: 1 },
};

let farm: Farm;
let home: string;
let github: FakeGitHub;
let repository: FakeRepository;
/** The webhook that receives the server's notifications, and the received ones. */
let pager: Server;
const told: { readonly signature: unknown; readonly body: string }[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "grange-lab-failures-"));
  github = await startFakeGitHub();
  const keyFile = join(home, "app.pem");
  const secretFile = join(home, "webhook-secret");
  await writeFile(keyFile, github.privateKey);
  await writeFile(secretFile, secret);
  pager = createServer((from, to) => {
    const parts: Buffer[] = [];
    from.on("data", (part: Buffer) => parts.push(part));
    from.on("end", () => {
      const body = Buffer.concat(parts).toString();
      // Each is accepted at the second attempt.
      const isKnown = told.some((each) => each.body === body);
      told.push({ signature: from.headers["grange-signature"], body });
      to.writeHead(isKnown ? 204 : 503).end();
    });
  });
  await new Promise<void>((resolve) => pager.listen(0, "127.0.0.1", resolve));
  const { port } = pager.address() as AddressInfo;
  farm = await startFarm({
    workers: 0,
    env: {
      GRANGE_BENCHMARK_LEASE_MS: String(leaseMs),
      GRANGE_GITHUB_APP_ID: github.appId,
      GRANGE_GITHUB_APP_KEY: keyFile,
      GRANGE_GITHUB_WEBHOOK_SECRET: secretFile,
      GRANGE_GITHUB_API: github.url,
      GRANGE_GITHUB_PACE_MS: "0",
      GRANGE_FORGE_LEASE_MS: "1000",
      GRANGE_ALARM_WEBHOOK: `http://127.0.0.1:${port}/lab`,
      GRANGE_ALARM_SECRET: secretFile,
    },
  });
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, secret);
  repository = await github.repository(slug, {
    files: { "lib/tool.mjs": tool(1_000), "src/tool.ts": "0" },
  });
  repository.setPermission("maintainer", "write");
  await push("tiny", tiny);
  await push("toy", {
    ...toySuite(repository.path, { name: "toy", target, sets: [["add"]] }),
    metrics: {
      work: { take: { from: "json", pointer: "/work" }, nature: "exact", unit: "count" },
    },
  });
  await grangeJson(["collector", "add", collectorName, "--target", target, ...at()]);
});
afterAll(async () => {
  await farm?.stop();
  await github?.stop();
  pager?.closeAllConnections();
  pager?.close();
  await rm(home, { recursive: true, force: true });
});

const at = () => ["--server", farm.url];
const tool = (work: number) => `console.log(JSON.stringify({ work: ${work} }));\n`;

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${farm.url}/api/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

const push = (name: string, definition: unknown) =>
  call("PUT", `/benchmarks/suites/${name}`, { definition });

async function until<T>(look: () => Promise<T>, reached: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (reached(value)) return value;
    await wait(50);
  }
}

const detail = async (id: string) =>
  RequestDetail.parse(await call("GET", `/benchmarks/requests/${id}`));
const ended = (id: string) =>
  until(
    () => detail(id),
    ({ endedAt }) => endedAt !== null,
  );

const runsFile = () => join(home, "runs");
const runsOf = async (artifact: string) =>
  (await readFile(runsFile(), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line.startsWith(`${artifact} `));
const begun = (artifact: string, runs: number) =>
  until(
    () => runsOf(artifact),
    ({ length }) => length >= runs,
  );

/** Returns a version of the compiler as a tarball; `waitsFor` is a file that must exist before the program ends. */
async function compiler(
  artifact: string,
  options: { readonly waitsFor?: string; readonly ballast?: number } = {},
): Promise<string> {
  const folder = join(home, artifact);
  await mkdir(join(folder, "package"), { recursive: true });
  const { waitsFor, ballast = 0 } = options;
  const waits = waitsFor === undefined ? "" : `until [ -e ${waitsFor} ]; do sleep 0.02; done`;
  const script = `#!/bin/sh\necho ${artifact} $1 >> ${runsFile()}\n${waits}\necho nodes: 7\n`;
  await writeFile(join(folder, "package", "compile"), script);
  if (ballast > 0) await writeFile(join(folder, "package", "ballast"), randomBytes(ballast));
  await chmod(join(folder, "package", "compile"), 0o755);
  const tarball = join(home, `${artifact}.tgz`);
  await promisify(execFile)("tar", ["-czf", tarball, "-C", folder, "package"]);
  return tarball;
}

/** Requests a version whose tarball does not exist yet. */
const waitingRequest = (artifact: string) => {
  const words = ["bench", "request", artifact, "--suite", "tiny", "--kind", "release", "--alone"];
  return [...words, "--wait-for-artifacts"];
};

async function ask(
  artifact: string,
  tarball: string,
  more: readonly string[] = [],
): Promise<string> {
  const words = ["bench", "request", artifact, "--suite", "tiny", "--kind", "release", "--alone"];
  const asked = await grangeJson([...words, "--tarball", `sh=${tarball}`, ...more, ...at()]);
  return SubmittedRequest.parse(asked).request.id;
}

function collect(more: readonly string[] = [], server: string = farm.url): Program {
  const options = ["--data-dir", join(home, "lab-1"), "--flag-load", "--no-self-test"];
  const words = ["collector", "run", collectorName, ...options, "--sandbox", "none", ...more];
  const program = startGrange([...words, "--server", server], {
    env: { GRANGE_MEASURING_LOCK: join(home, "measuring.lock") },
  });
  onTestFinished(async () => {
    program.signal("SIGKILL");
    await program.finished;
  });
  return program;
}

const collector = async () =>
  CollectorView.parse(
    z
      .object({ collectors: z.array(z.unknown()) })
      .parse(await call("GET", "/benchmarks/collectors")).collectors[0],
  );

test("a request that waits for its artifact does not delay others, and is measured when the artifact is marked as ready", async () => {
  const waiting = SubmittedRequest.parse(
    await grangeJson([...waitingRequest("later"), ...at()]),
  ).request;
  expect(waiting.state).toBe("waiting-for-artifacts");
  collect();
  const other = await ask("sooner", await compiler("sooner"));

  expect(await ended(other)).toMatchObject({ state: "completed" });
  expect(await detail(waiting.id)).toMatchObject({ state: "waiting-for-artifacts", jobList: [] });
  const tarball = await compiler("later");
  await grangeJson(["bench", "ready", waiting.id, "--tarball", `sh=${tarball}`, ...at()]);

  expect(await ended(waiting.id)).toMatchObject({ state: "completed", errors: 0 });
  expect(await runsOf("later")).toEqual(["later one"]);
});

test("an impossible job fails at once: its request fails with the reason, and can be retried", async () => {
  collect();
  const broken = join(home, "broken.tgz");
  await writeFile(broken, "no tarball");

  const id = await ask("broken", broken);

  const over = await ended(id);
  expect(over).toMatchObject({ state: "failed", jobList: [{ state: "failure", attempts: 1 }] });
  const shown = await runGrange(["bench", "show", id, ...at()]);
  expect(shown.stdout).toContain("failed");
  expect(shown.stdout).toContain("broken");
  const again = await grangeJson(["bench", "retry", id, ...at()]);
  expect(await ended(SubmittedRequest.parse(again).request.id)).toMatchObject({ state: "failed" });
});

test("a temporary failure is retried, and the request succeeds when the cause is gone", async () => {
  const commit = await repository.push("main", { "lib/tool.mjs": tool(1_100) });
  const address = new URL(repository.cloneUrl);
  const line = await breakableProxy(address.href);
  onTestFinished(() => line.close());
  const remote = `${line.url}${address.pathname}`;
  await push("remote", toySuite(remote, { name: "remote", target, sets: [["add"]], timed: 1 }));
  const words = ["bench", "request", commit, "--suite", "remote", "--alone"];
  const { id } = SubmittedRequest.parse(await grangeJson([...words, ...at()])).request;
  line.break("refusing");
  collect();
  const failed = await until(
    () => detail(id),
    ({ jobList }) => (jobList[0]?.error ?? null) !== null,
  );
  line.mend();

  expect(failed).toMatchObject({ state: "in-progress" });
  expect(failed.jobList).toMatchObject([{ state: "queued", attempts: 1 }]);
  const over = await ended(id);
  expect(over).toMatchObject({ state: "completed", errors: 0 });
  expect(over.jobList).toMatchObject([{ state: "success", attempts: 2 }]);
});

test("a job whose collector is killed in each attempt is given up after the last one, and its request fails", async () => {
  const id = await ask("deadly", await compiler("deadly", { waitsFor: join(home, "never") }));
  for (let attempt = 1; attempt <= 3; attempt++) {
    const program = collect();
    await begun("deadly", attempt);
    program.signal("SIGKILL");
    await program.finished;
  }
  expect(await detail(id)).toMatchObject({ state: "in-progress", jobList: [{ attempts: 3 }] });

  collect();

  const over = await ended(id);
  expect(over.state).toBe("failed");
  expect(over.jobList).toMatchObject([
    { state: "failure", attempts: 3, error: expect.stringContaining("3") },
  ]);
  expect(await runsOf("deadly")).toHaveLength(3);
});

test("a collector keeps artifacts within its limit, and fetches deleted ones again", async () => {
  const mebibyte = 2 ** 20;
  collect(["--artifact-limit", "3MiB"]);
  const kept = async () => {
    const folder = join(home, "lab-1", "artifacts", "kept");
    return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith("/ballast"));
  };
  const tarballs: string[] = [];
  for (const artifact of ["large-1", "large-2", "large-3", "large-4"]) {
    const tarball = await compiler(artifact, { ballast: mebibyte });
    tarballs.push(tarball);
    expect(await ended(await ask(artifact, tarball))).toMatchObject({ state: "completed" });
    // Artifacts in use are not deleted, even above the limit.
    await until(kept, ({ length }) => length <= 2);
  }

  // The first of them was deleted.
  const again = await ask("large-1", tarballs[0] ?? "", ["--runs", "2"]);

  expect(await ended(again)).toMatchObject({ state: "completed", errors: 0 });
  expect(await runsOf("large-1")).toHaveLength(2);
});

test("a lost collector is reported to the webhook, signed, until the webhook accepts it", async () => {
  const program = collect();
  await until(collector, ({ state }) => state === "waiting");
  const killedAt = new Date().toISOString();
  program.signal("SIGKILL");
  await program.finished;

  const later = () =>
    told.filter(({ body }) => z.object({ at: z.string() }).parse(JSON.parse(body)).at > killedAt);
  const [first, second] = await until(
    async () => later(),
    ({ length }) => length === 2,
  );
  expect(second).toEqual(first);
  expect(JSON.parse(first?.body ?? "")).toMatchObject({
    kind: "collector-silent",
    collector: collectorName,
    sentence: expect.stringContaining("went silent"),
  });
  const hex = createHmac("sha256", secret)
    .update(first?.body ?? "")
    .digest("hex");
  expect(first?.signature).toBe(`sha256=${hex}`);
});

test("an inactive collector completes its job and takes no other; waiting requests are reported until it is active again", async () => {
  const go = join(home, "go-inactive");
  const first = await ask("held", await compiler("held", { waitsFor: go }));
  const second = await ask("next", await compiler("next"));
  collect();
  await begun("held", 1);

  await grangeJson(["collector", "set", collectorName, "--inactive", ...at()]);
  await writeFile(go, "");

  expect(await ended(first)).toMatchObject({ state: "completed" });
  await until(collector, ({ job, state }) => job === null && state === "inactive");
  await until(
    async () => (await runGrange(["bench", "status", ...at()])).stdout,
    (status) => status.includes(`1 job waits for ${target}, set 0`),
  );
  const shown = await runGrange(["bench", "show", second, ...at()]);
  expect(shown.stdout).toContain("no active collector serves it");
  const metrics = await (await fetch(`${farm.url}/metrics`)).text();
  expect(metrics).toMatch(/^grange_benchmark_jobs_unserved\{.*\} 1$/m);
  expect(await detail(second)).toMatchObject({ jobList: [{ state: "queued", attempts: 0 }] });

  await grangeJson(["collector", "set", collectorName, "--active", ...at()]);
  expect(await ended(second)).toMatchObject({ state: "completed" });
});

test("an update during a request is applied after the request, and the next request loses no attempt", async () => {
  const updated = await newerServer(farm.url);
  onTestFinished(() => updated.stop());
  const go = join(home, "go-update");
  const both = ["--profile", "one", "--profile", "two"];
  const first = await ask("old", await compiler("old", { waitsFor: go }), both);
  const program = collect(["--update-command", `touch ${join(home, "updated")}`], updated.url);
  await begun("old", 1);

  updated.isNewer = true;
  const next = await ask("new", await compiler("new"));
  await writeFile(go, "");

  expect(await ended(first)).toMatchObject({ state: "completed", jobs: { total: 2, failed: 0 } });
  expect((await program.finished).code).toBe(75);
  expect(await readdir(home)).toContain("updated");
  expect(await runsOf("new")).toEqual([]);
  expect(await detail(next)).toMatchObject({ jobList: [{ state: "queued", attempts: 0 }] });
  collect();
  expect(await ended(next)).toMatchObject({ state: "completed", jobList: [{ attempts: 1 }] });
});

/** Simulates an updated server for a collector of an older version. */
async function newerServer(url: string) {
  const own = { isNewer: false };
  const server = createServer((from, to) => {
    const { hostname, port } = new URL(url);
    const headers = { ...from.headers, "accept-encoding": "identity" };
    const onward = requestHttp(
      { hostname, port, path: from.url, method: from.method, headers },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const said = Buffer.concat(parts);
          const bytes = own.isNewer
            ? Buffer.from(
                said
                  .toString("latin1")
                  .replace(/"serverVersion":"[^"]*"/, '"serverVersion":"999.0.0"'),
                "latin1",
              )
            : said;
          const { "transfer-encoding": _, ...rest } = answer.headers;
          to.writeHead(answer.statusCode ?? 502, { ...rest, "content-length": bytes.length });
          to.end(bytes);
        });
      },
    );
    onward.on("error", () => to.destroy());
    to.on("close", () => onward.destroy());
    from.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(own, {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

test("a server that is killed while it inserts a request's jobs has started nothing, and the next one starts it once", async () => {
  const tarball = await compiler("torn");
  const waiting = SubmittedRequest.parse(
    await grangeJson([...waitingRequest("torn"), ...at()]),
  ).request;
  const db = openPostgres({ url: await farmDatabaseUrl(farm), poolSize: 2 });
  onTestFinished(() => db.close());
  const blocked = () =>
    db.many(
      z.object({ pid: z.number() }),
      sql`select pid from pg_locks where not granted and relation = 'benchmark_job'::regclass`,
    );
  let killedAt = "";
  const torn = db.transaction(async (tx) => {
    // At that time the request is marked as started, in the transaction that waits here for its
    // first job.
    await tx.run(sql`lock table benchmark_job in share row exclusive mode`);
    await grangeJson(["bench", "ready", waiting.id, "--tarball", `sh=${tarball}`, ...at()]);
    await until(blocked, ({ length }) => length > 0);
    killedAt = new Date().toISOString();
    farm.server.signal("SIGKILL");
    await farm.server.finished;
  });
  // The database ends with its server.
  await torn.catch(() => {});

  await farm.restartServer();
  const begunAgain = await until(
    () => detail(waiting.id),
    ({ state }) => state === "in-progress",
  );
  collect();

  expect(killedAt).not.toBe("");
  expect((begunAgain.startedAt ?? "") > killedAt).toBe(true);
  const over = await ended(waiting.id);
  expect(over).toMatchObject({ state: "completed", jobs: { total: 1, failed: 0 } });
  expect(over.jobList).toMatchObject([{ attempts: 1, state: "success" }]);
  expect(await runsOf("torn")).toEqual(["torn one"]);
});

test("a comment requests a measurement of a commit; its report is one comment, even if the server is killed before it is sent", async () => {
  await call("POST", "/forge/repositories", { kind: "github", slug, policy: { suite: "toy" } });
  const number = await repository.openPull({ files: { "lib/tool.mjs": tool(1_320) } });
  const { head } = repository.pullState(number);
  const artifact = head.slice(0, 12);
  const ours = () => repository.comments(number).filter(({ author }) => author === github.bot);
  const reports = () => ours().filter(({ body }) => body.includes("Benchmarks"));

  const asked = await repository.comment(number, "maintainer", "@grange bench");
  const { requests } = await until(
    async () => Requests.parse(await call("GET", "/benchmarks/requests?suite=toy")),
    (found) => found.requests.some((each) => each.artifact === artifact && each.pr === number),
  );
  const id = requests.find((each) => each.artifact === artifact)?.id ?? "";
  await until(
    async () => repository.comments(number).find((each) => each.id === asked)?.reactions ?? [],
    ({ length }) => length > 0,
  );
  // The response to the command: the report minimises it.
  await until(
    async () => ours(),
    ({ length }) => length > 0,
  );
  // GitHub refuses all requests from now on: comments wait.
  github.setFaults({ serverError: 1 });
  const program = collect();
  expect(await ended(id)).toMatchObject({ state: "completed", pr: number, errors: 0 });
  farm.server.signal("SIGKILL");
  await farm.server.finished;
  github.clearFaults();
  await farm.restartServer();

  await until(
    async () => reports(),
    ({ length }) => length > 0,
  );
  await until(
    async () => ours(),
    (comments) => comments.some(({ isMinimised }) => isMinimised),
  );
  expect(reports()).toHaveLength(1);
  expect(reports()[0]?.body).toContain("20");
  expect(repository.labels(number)).toEqual(["perf-regression"]);

  // A cancel command also reaches the lab: no collector runs, so the request still exists.
  program.signal("SIGTERM");
  await program.finished;
  const moved = await repository.movePull(number, { "lib/tool.mjs": tool(1_000) });
  await repository.comment(number, "maintainer", "@grange bench");
  const isOfMoved = (each: { artifact: string }) => each.artifact === moved.slice(0, 12);
  await until(
    async () => Requests.parse(await call("GET", "/benchmarks/requests?suite=toy")),
    (found) => found.requests.some(isOfMoved),
  );
  await repository.comment(number, "maintainer", "@grange cancel");
  const over = await until(
    async () => Requests.parse(await call("GET", "/benchmarks/requests?suite=toy")),
    (found) => found.requests.some((each) => isOfMoved(each) && each.state === "cancelled"),
  );
  expect(over.requests.filter(isOfMoved)).toHaveLength(1);
});
