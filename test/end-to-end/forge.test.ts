import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Requests } from "#api/benchmark-request.ts";
import { ClaimAnswer } from "#api/collector.ts";
import { ForgeRepositoryDetail } from "#api/forge.ts";
import { GraphSummary } from "#api/graph.ts";
import { sql } from "#db/sql.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { Suite } from "#suites/suite.ts";
import type { FakeGitHub, FakeRepository } from "../support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../support/fake-github/start-fake-github.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { toySuite } from "../support/toy-suite.ts";

/* A pull request from its first push to its last comment, with a fake GitHub and a real farm. */

const databaseUrl = await freshDatabase();
const slug = "octo/demo";
const target = "linux-x64";
const definitions = `
version: 1
jobs:
  check:
    commands: |
      echo "src/tool.ts:12:5: error: this is not a number"
      grep -q good src/tool.ts
    errors: ["error:"]
    inputs: [src]
`;

const incarnation = randomUUID();
let dataDir: string;
/** Runs until the test ends it. */
const waiting = `
version: 1
jobs:
  waits: {commands: sleep 600}
`;

let github: FakeGitHub;
let repository: FakeRepository;
let farm: FarmHere;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-forge-"));
  github = await startFakeGitHub();
  const keyFile = join(dataDir, "app.pem");
  const webhookSecretFile = join(dataDir, "webhook-secret");
  const secret = randomUUID();
  await writeFile(keyFile, github.privateKey);
  await writeFile(webhookSecretFile, secret);
  farm = await startFarmHere({
    databaseUrl,
    forges: {
      github: { appId: github.appId, keyFile, webhookSecretFile, api: github.url, paceMs: 0 },
    },
  });
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, secret);
  repository = await github.repository(slug, {
    private: true,
    files: { ".grange/jobs.yml": definitions, "src/tool.ts": "0", "lib/tool.mjs": "0" },
  });
  repository.setPermission("maintainer", "write");
  await post("/benchmarks/suites/toy", { definition: suite() }, "PUT");
  await post("/benchmarks/collectors", { name: "barn", target, set: null });
  await post("/benchmarks/collectors/barn/hello", { incarnation, version: "1", environment: {} });
  await post("/forge/repositories", { kind: "github", slug, policy: { suite: "toy" } });
});
afterAll(async () => {
  await farm?.stop();
  await github?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** One exact figure and no noisy ones: the report is always the same. */
const suite = () => ({
  ...toySuite(repository.path, { name: "toy", target, sets: [["add"]] }),
  metrics: {
    work: { take: { from: "json", pointer: "/work" }, nature: "exact", unit: "count" },
  },
});

async function post(path: string, body: unknown, method = "POST"): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const request = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${farm.url}/api/v1${path}`, request);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

const detail = async () => {
  const named = new URLSearchParams({ repository: slug }).toString();
  return ForgeRepositoryDetail.parse(await (await farm.ask(`/forge/repository?${named}`)).json());
};

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>) {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > giveUpAt) throw new Error(`${what}: it did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

test("a failing job of a pull request is one check run, with the file and line from its log", async () => {
  const number = await repository.openPull({ files: { "src/tool.ts": "1" } });
  const { head } = repository.pullState(number);

  const check = await until("the check's end", () =>
    repository.checks(head).find(({ status }) => status === "completed"),
  );

  expect(repository.checks(head)).toHaveLength(1);
  expect(check).toMatchObject({
    name: "grange",
    conclusion: "failure",
    title: "1 of 1 job failed",
  });
  expect(check.annotations).toMatchObject([
    { path: "src/tool.ts", start_line: 12, message: expect.stringContaining("not a number") },
  ]);
  expect(repository.comments(number)).toEqual([]);
});

test("a job that fails without output is annotated where the commit defines it", async () => {
  const number = await repository.openPull({
    files: {
      ".grange/jobs.yml": `${definitions}  # Says nothing.\n  silent: {commands: exit 3}\n`,
      "src/tool.ts": "good",
    },
  });
  const { head } = repository.pullState(number);

  const check = await until("the check's end", () =>
    repository.checks(head).find(({ status }) => status === "completed"),
  );

  expect(check.annotations).toMatchObject([
    { path: ".grange/jobs.yml", start_line: 11, message: "silent: failed, exit code 3" },
  ]);
  await repository.closePull(number);
});

/** Runs all pending measurements: each commit with the given amount of work, or with the default. */
async function measure(works: Readonly<Record<string, number>>): Promise<void> {
  for (;;) {
    const claimed = await post("/benchmarks/collectors/barn/claim", { incarnation, waitMs: 0 });
    const { job } = ClaimAnswer.parse(claimed);
    if (job === null) return;
    const holder = { collector: "barn", incarnation, epoch: job.epoch };
    const work = works[job.artifact.tag] ?? 1_000;
    for (const each of job.cases) {
      const { after, count } = each.iterations ?? { after: 0, count: 1 };
      await post(`/benchmarks/jobs/${job.id}/test`, {
        holder,
        case: each.case,
        metrics: metricsOf(Suite.parse(job.definition)),
        iterations: Array.from({ length: count }, (_, i) => ({
          iteration: after + i + 1,
          values: { work },
        })),
      });
    }
    await post(`/benchmarks/jobs/${job.id}/end`, { holder, end: { outcome: "success" } });
  }
}

const tagOf = (sha: string) => sha.slice(0, 12);

/** Waits until a commit's request is completed. */
const measured = (sha: string, works: Readonly<Record<string, number>> = {}) =>
  until(`what ${tagOf(sha)} costs`, async () => {
    await measure(works);
    const { requests } = Requests.parse(await (await farm.ask("/benchmarks/requests")).json());
    const ended = requests.find(({ artifact, endedAt }) => artifact === tagOf(sha) && endedAt);
    return ended;
  });

test("heads of the default branch are measured as the main line", async () => {
  const head = repository.head("refs/heads/main") ?? "";

  expect(await measured(head)).toMatchObject({ kind: "master", state: "completed" });
  const { heads } = await detail();
  const main = heads.find(({ ref }) => ref === "refs/heads/main");
  expect(main).toMatchObject({ head, problem: null });
});

test("a user who may submit builds a private repository to which the farm has access", async () => {
  const { rev, repository: named } = GraphSummary.parse(
    (
      (await post("/graphs", { repository: repository.cloneUrl, branch: "main" })) as {
        graph: unknown;
      }
    ).graph,
  );

  expect([rev, named]).toEqual(["HEAD", (await detail()).name]);
});

test("the results of requested measurements are in one comment, which is edited", async () => {
  const number = await repository.openPull({ files: { "src/tool.ts": "good" } });
  const first = repository.pullState(number).head;
  const ours = () => repository.comments(number).filter(({ author }) => author === github.bot);
  const reports = () => ours().filter(({ body }) => body.includes("Benchmarks"));

  const asked = await repository.comment(number, "maintainer", "@grange bench");
  await measured(first, { [tagOf(first)]: 1_200 });
  const report = await until("the report", () => reports()[0]);
  await until("the label", () => (repository.labels(number).length > 0 ? true : undefined));
  await until("that the answer is folded away", () =>
    ours().some(({ isMinimised }) => isMinimised) ? true : undefined,
  );
  const reaction = repository.comments(number).find(({ id }) => id === asked)?.reactions;

  expect(report.body).toContain("20");
  expect(reaction).toMatchObject([{ content: "rocket", by: github.bot }]);
  expect(repository.labels(number)).toEqual(["perf-regression"]);

  const second = await repository.movePull(number, { "src/tool.ts": "good again" });
  await repository.comment(number, "maintainer", "@grange bench");
  await measured(second, { [tagOf(second)]: 1_000 });
  await until("the next report", () => reports().find(({ body }) => body.includes(tagOf(second))));
  await until("that the label goes", () =>
    repository.labels(number).length === 0 ? true : undefined,
  );
  await until("that both answers are folded away", () =>
    ours().filter(({ isMinimised }) => isMinimised).length === 2 ? true : undefined,
  );

  expect(reports().map(({ id }) => id)).toEqual([report.id]);
  expect(ours()).toHaveLength(3);
  await until("that the check ends well", () =>
    repository.checks(second).find(({ conclusion }) => conclusion === "success"),
  );
});

test("a comment sets the number of runs of each case, and earlier measurements are extended", async () => {
  const number = await repository.openPull({ files: { "src/tool.ts": "good, and often" } });
  const { head } = repository.pullState(number);
  const replies = () => repository.comments(number).map(({ body }) => body);
  const runsOf = async () => {
    const { requests } = Requests.parse(await (await farm.ask("/benchmarks/requests")).json());
    return requests.filter(({ artifact }) => artifact === tagOf(head)).map(({ runs }) => runs);
  };

  await repository.comment(number, "maintainer", "@grange bench");
  await measured(head);
  await repository.comment(number, "maintainer", "@grange bench runs=4");
  await until("the second request", async () => ((await runsOf()).length === 2 ? true : undefined));
  await until("its end", async () => {
    await measure({});
    return (await detail()).unsent.length === 0 ? true : undefined;
  });
  await repository.comment(number, "maintainer", "@grange bench runs=1");
  await until("the refusal", () =>
    replies().find((body) => body.includes("request 2 to 50 runs")) === undefined
      ? undefined
      : true,
  );

  expect(new Set(await runsOf())).toEqual(new Set([4, null]));
  const iterations = await farm.services.db.many(
    z.object({ iterations: z.number() }),
    sql`
      select result.iterations from benchmark_result as result
      join benchmark_artifact as artifact on artifact.id = result.artifact_id
      where artifact.tag = ${tagOf(head)}
    `,
  );
  expect(iterations).toEqual([{ iterations: 4 }]);
});

test("without changes, nothing is written", async () => {
  await until("that all is sent", async () =>
    (await detail()).unsent.length === 0 ? true : undefined,
  );
  const before = github.ledger.length;
  const { reconciledAt } = await detail();

  await post("/forge/repositories/look", { repository: slug });
  await until("another look", async () =>
    (await detail()).reconciledAt === reconciledAt ? undefined : true,
  );

  expect((await detail()).unsent).toEqual([]);
  expect(github.ledger.slice(before)).toEqual([]);
});

test("the approval of a fork's commit ends with the next push", async () => {
  const number = await repository.openPull({
    files: { ".grange/jobs.yml": waiting },
    by: "stranger",
    fork: "stranger",
  });
  const pull = async () => (await detail()).pulls.find((each) => each.number === number);
  await until("that it is held", async () => ((await pull())?.isHeld ? true : undefined));
  const { head } = repository.pullState(number);
  await until("the check that says so", () =>
    repository.checks(head).find(({ conclusion }) => conclusion === "action_required"),
  );

  await repository.comment(number, "maintainer", `@grange approve ${head}`);
  const graph = await until("its graph", async () => (await pull())?.graph ?? undefined);
  const moved = await repository.movePull(number, { "src/tool.ts": "evil" }, { force: true });

  expect((await farm.over(graph).catch(() => undefined))?.state).toBe("cancelled");
  await until("that the next one is held", async () => {
    const now = await pull();
    return now?.head === moved && now.isHeld && now.graph === null ? true : undefined;
  });
  await until("the check of the one before", () =>
    repository.checks(head).find(({ conclusion }) => conclusion === "cancelled"),
  );
  expect(repository.checks(head)).toHaveLength(1);
  expect(repository.checks(moved)).toHaveLength(1);
});
