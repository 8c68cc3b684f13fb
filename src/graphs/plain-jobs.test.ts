import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { type Answer, farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import type { GraphId } from "./graph-id.ts";
import { jobDetail } from "./job-detail.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let library: TestRepository;
const elsewhere = mkdtempSync(join(tmpdir(), "grange-library-"));
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  library = testRepository(elsewhere);
  library.write({ "lib/a.c": "int a;\n", "docs/a.md": "A\n" });
  library.commit("Begin");
});
afterAll(async () => {
  await farm.stop();
  await db.close();
  await rm(elsewhere, { recursive: true });
});

async function submit(jobs: string): Promise<GraphId> {
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}` });
  farm.repository.commit("Change");
  return (await farm.submit()).id;
}

async function runsOf(id: GraphId, job: string) {
  return (await jobDetail(db, id, job))?.runList.toReversed() ?? [];
}

const failing = (failureClass: string): Answer => ({ exitCode: 1, findings: { failureClass } });

describe("a failed run", () => {
  const jobs = `
  test:
    commands: ./test
    inputs: []
    retries: 3
    environment: { RUN: "${randomUUID()}" }
    failure:
      crash: { patterns: Segmentation fault }
      network: { patterns: ECONNRESET, retry: true }`;

  test("is retried for a class that is retried, and not for others", async () => {
    const id = await submit(jobs);
    const classes = ["network", "network", "crash"];

    const scripts = await farm.work(() => failing(classes.shift() ?? ""));

    expect(scripts).toHaveLength(3);
    expect(
      (await runsOf(id, "test")).map(({ cause, failureClass }) => [cause, failureClass]),
    ).toEqual([
      ["first", "network"],
      ["auto-retry", "network"],
      ["auto-retry", "crash"],
    ]);
  });

  test("lets jobs start that wait for its class, and no others", async () => {
    const id = await submit(`
  build:
    commands: make
    environment: { RUN: "${randomUUID()}" }
    failure: { crash: { patterns: Segmentation fault }, disk: { exit-codes: [28] } }
  on-crash: { commands: ./symbols, needs: { build: { on: crash, outputs: [] } } }
  on-disk: { commands: ./clean, needs: { build: { on: disk, outputs: [] } } }
  on-timeout: { commands: ./wait, needs: { build: { on: timed_out, outputs: [] } } }`);

    await farm.work((script) => (script.includes("make") ? failing("crash") : {}));

    expect(await farm.states(id)).toEqual({
      build: "failed",
      "on-crash": "succeeded",
      "on-disk": "unreachable",
      "on-timeout": "unreachable",
    });
  });
});

describe("the findings of rules", () => {
  const jobs = `
  test:
    commands: ./test ${randomUUID()}
    inputs: []
    success: { numbers: { coverage: { pattern: 'coverage ([0-9.]+)', min: 80 } } }`;
  const findings = {
    errorLines: [{ line: 12n, text: "error: no\u0000t \ud800good" }],
    numbers: [{ name: "coverage", value: 91.5, min: 80 }],
  };
  const kept = {
    errorLines: [{ line: 12, text: "error: no\ufffdt \ufffdgood" }],
    numbers: { coverage: { value: 91.5, min: 80, max: null } },
    failureClass: null,
  };

  test("are stored with the run, and are the same for a cache hit", async () => {
    const first = await submit(jobs);
    await farm.work(() => ({ findings }));
    const second = await submit(jobs);
    const scripts = await farm.work();

    expect(await runsOf(first, "test")).toMatchObject([{ cachedFrom: null, ...kept }]);
    expect(scripts).toEqual([]);
    expect(await runsOf(second, "test")).toMatchObject([{ cachedFrom: { job: "test" }, ...kept }]);
  });

  test("are stored only as far as they are valid, whatever a worker sends", async () => {
    const id = await submit("  test: { commands: ./test, retries: 0 }");
    await farm.work(() => ({
      exitCode: 1,
      findings: {
        failureClass: "NOT a name'",
        errorLines: Array.from({ length: 90 }, (_, i) => ({
          line: BigInt(i - 10),
          text: "\u{1f600}".repeat(9_000),
        })),
        numbers: [
          ...Array.from({ length: 90 }, (_, i) => ({ name: `n${i}`, value: i, min: Number.NaN })),
          { name: "__proto__", value: 1 },
          { name: "endless", value: Number.POSITIVE_INFINITY },
        ],
      },
    }));

    const [run] = await runsOf(id, "test");

    expect(run?.failureClass).toBeNull();
    expect(run?.errorLines).toHaveLength(50);
    expect(run?.errorLines[0]).toEqual({ line: 1, text: "\u{1f600}".repeat(250) });
    expect(Object.keys(run?.numbers ?? {})).toHaveLength(50);
    expect(run?.numbers["n0"]).toEqual({ value: 0, min: null, max: null });
  });
});

describe("a source", () => {
  const jobs = (source: string) => `
  test:
    commands: cat vendor/lib/lib/a.c
    inputs: []
    sources:
      - ${source}`;

  test("is fixed to the commit that its revision has when the graph is made", async () => {
    const before = library.git("rev-parse", "HEAD");
    const written = jobs(
      `{ repository: ${library.path}, rev: main, at: vendor/lib, inputs: [lib] }`,
    );
    const inputRoots: string[] = [];
    const look = (_: string, root: string): Answer => {
      inputRoots.push(root);
      return {};
    };
    const first = await submit(written);
    library.write({ "lib/a.c": "int b;\n" });
    const after = library.commit("Change");
    await farm.work(look);
    const second = await submit(written);
    await farm.work(look);
    library.write({ "docs/a.md": "B\n" });
    library.commit("Only what the job does not read");
    await submit(written);
    await farm.work(look);

    const commitOf = async (id: GraphId) => (await jobDetail(db, id, "test"))?.definition;
    expect(await commitOf(first)).toMatchObject({ sources: [{ commit: before, rev: "main" }] });
    expect(await commitOf(second)).toMatchObject({ sources: [{ commit: after }] });
    // The third graph has other definitions, but the same action: it is a hit.
    expect(new Set(inputRoots).size).toBe(2);
    expect(inputRoots).toHaveLength(2);
  });

  test.each([
    {
      source: () => `{ repository: ${library.path}, rev: mian, at: vendor/lib }`,
      says: /^\.grange\/jobs\.yml:8:\d+: job "test" cannot read its source: .* has no revision "mian"; did you mean main\?$/,
    },
    {
      source: () => "{ repository: /nowhere/at/all, at: vendor/lib }",
      says: /^\.grange\/jobs\.yml:8:\d+: job "test" cannot read its source: .*\/nowhere\/at\/all/,
    },
    {
      source: () => "{ repository: 'ext::sh -c true', at: vendor/lib }",
      says: /:8:\d+: .*helpers of that kind run programs/,
    },
    {
      source: () => "{ repository: 'https://me:secret@example.org/a.git', at: vendor/lib }",
      says: /:8:\d+: .*must not contain a password/,
    },
    {
      source: () => `{ repository: ${library.path}, at: ../out }`,
      says: /:8:\d+: .*must be a path inside the repository/,
    },
  ])("that cannot be had is a problem of the definitions: $says", async ({ source, says }) => {
    const reason: unknown = await submit(jobs(source())).catch((thrown: unknown) => thrown);

    expect(reason).toBeInstanceOf(DefinitionProblems);
    expect((reason as Error).message).toMatch(says);
    expect((reason as Error).message).not.toContain("secret");
  });
});
