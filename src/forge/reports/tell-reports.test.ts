import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { OutboxContent } from "../outbox/outbox-content.ts";
import { forgeEpoch, watch } from "../outbox/watched.fixture.ts";
import type { PullRequestToTell } from "./pull-comment.ts";
import type { GraphToTell, ReportSource } from "./report-source.ts";
import { type ToldSubject, tellOf, tellReports } from "./tell-reports.ts";
import { aGraph, aReport, aRequest } from "./told.fixture.ts";

const db = await freshDb();
const sha = "a".repeat(40);
const [one, two] = ["11111111-1111-8111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

let now: Date;
let graphs: Map<string, GraphToTell>;
let requests: Map<string, PullRequestToTell>;
let reads: string[];

beforeEach(async () => {
  await db.script("truncate forge_repository cascade");
  await watch(db);
  now = forgeEpoch;
  graphs = new Map();
  requests = new Map();
  reads = [];
});

const source: ReportSource = {
  async graph(_, id) {
    reads.push(id);
    return graphs.get(id);
  },
  async request(_, id) {
    reads.push(id);
    return requests.get(id);
  },
  async versions(_, subjects) {
    return new Map(
      subjects.flatMap(({ kind, id }) => {
        const graph = graphs.get(id);
        const request = requests.get(id);
        if (kind === "graph") return graph === undefined ? [] : [[id, String(graph.graph.version)]];
        return request === undefined
          ? []
          : [[id, `${request.state} ${request.report !== undefined}`]];
      }),
    );
  },
};
const tell = () => tellReports({ db, clock: { now: () => now }, source });
const note = (more: Partial<ToldSubject> = {}) =>
  tellOf(
    db,
    {
      repository: "demo",
      kind: "graph",
      subject: one,
      sha,
      pull: 7,
      name: "grange",
      wasRequested: false,
      ...more,
    },
    now,
  );
const setGraph = (id: string, more: Parameters<typeof aGraph>[0]) =>
  graphs.set(id, {
    graph: aGraph({ id, ...more }),
    failed: [],
    others: [],
    url: `https://farm.test/graphs/${id}`,
  });
const outbox = () =>
  db.many(
    z.object({ key: z.string(), revision: z.number(), content: OutboxContent }),
    sql`select key, revision, content from forge_outbox order by turn`,
  );

describe("a graph", () => {
  test("is reported when it begins, when something fails, and when it ends; and not between", async () => {
    await note();
    setGraph(one, { version: 1, state: "running", counts: { queued: 3 } });
    await tell();
    setGraph(one, { version: 2, state: "running", counts: { running: 3 } });
    await tell();
    setGraph(one, { version: 3, state: "running", counts: { running: 2, failed: 1 } });
    await tell();
    setGraph(one, { version: 4, state: "failed", counts: { succeeded: 2, failed: 1 } });
    await tell();
    expect(await tell()).toBe(0);

    expect(await outbox()).toMatchObject([
      {
        key: `check/${sha}/grange`,
        revision: 3,
        content: {
          kind: "check",
          check: { title: "1 of 3 jobs failed", state: { conclusion: "failure" } },
        },
      },
    ]);
  });

  test("that runs again after its end is reported again, for two weeks", async () => {
    await note();
    setGraph(one, { version: 1, state: "failed" });
    await tell();
    setGraph(one, { version: 2, state: "running" });
    now = new Date(now.getTime() + 13 * 24 * 3_600_000);
    expect(await tell()).toBe(1);
    setGraph(one, { version: 3, state: "failed" });
    await tell();
    now = new Date(now.getTime() + 15 * 24 * 3_600_000);
    setGraph(one, { version: 4, state: "running" });

    expect(await tell()).toBe(0);
  });

  test("of a commit that has a newer graph is not shown in its check run", async () => {
    await note();
    setGraph(one, { version: 1, state: "cancelled" });
    await tell();
    now = new Date(now.getTime() + 1_000);
    await note({ subject: two });
    setGraph(two, { version: 1, state: "running", counts: {} });
    await tell();
    setGraph(one, { version: 2, state: "cancelled" });
    await tell();

    expect(await outbox()).toMatchObject([
      { content: { check: { title: "Running", detailsUrl: `https://farm.test/graphs/${two}` } } },
    ]);
  });

  test("that another pull request with this head has is shown, rather than a cancelled one", async () => {
    await note();
    setGraph(one, { version: 1, state: "succeeded" });
    now = new Date(now.getTime() + 1_000);
    await note({ subject: two, pull: 8 });
    setGraph(two, { version: 1, state: "cancelled" });
    await tell();

    expect(await outbox()).toMatchObject([
      { key: `check/${sha}/grange`, content: { check: { state: { conclusion: "success" } } } },
    ]);
    expect(await tell()).toBe(0);
  });

  test("that never appears is dropped after a day", async () => {
    await note();
    expect(await tell()).toBe(0);
    now = new Date(now.getTime() + 25 * 3_600_000);
    expect(await tell()).toBe(1);
    expect(await tell()).toBe(0);
    expect(await outbox()).toEqual([]);
  });
});

describe("a request to measure", () => {
  const request = { kind: "request", subject: two, name: "" } as const;

  test("with a regression gets a comment and a label, and the label is removed with the regression", async () => {
    await note(request);
    requests.set(two, aRequest({ state: "in-progress", report: undefined, endedAt: undefined }));
    await tell();
    expect(await outbox()).toEqual([]);

    requests.set(two, aRequest({ id: two }));
    await tell();
    now = new Date(now.getTime() + 1_000);
    await note({ ...request, subject: one });
    requests.set(
      one,
      aRequest({ id: one, createdAt: new Date("2031-01-01"), report: aReport(1_000) }),
    );
    await tell();

    expect(await outbox()).toMatchObject([
      {
        key: "comment/7",
        revision: 2,
        content: { body: expect.stringContaining("**No relevant change.**") },
      },
      { key: "label/7/perf-regression", revision: 2, content: { isThere: false } },
    ]);
  });

  test("without changes is not reported until a comment requests it", async () => {
    await note(request);
    requests.set(two, aRequest({ id: two, report: aReport(1_000) }));
    await tell();
    expect(await outbox()).toEqual([]);

    await note({ ...request, wasRequested: true });
    requests.set(two, aRequest({ id: two, report: aReport(1_000) }));
    await tell();

    expect((await outbox()).map(({ key }) => key)).toEqual([
      "comment/7",
      "label/7/perf-regression",
    ]);
  });

  test("that two pull requests with one head share is reported on each of them, once", async () => {
    await note(request);
    await note({ ...request, pull: 8 });
    await note({ ...request, pull: 8 });
    requests.set(two, aRequest({ id: two }));

    await Promise.all([tell(), tell()]);
    const afterwards = await tell();

    expect((await outbox()).map(({ key, revision }) => `${key} ${revision}`).toSorted()).toEqual([
      "comment/7 1",
      "comment/8 1",
      "label/7/perf-regression 1",
      "label/8/perf-regression 1",
    ]);
    expect(afterwards).toBe(0);
  });

  test("of a branch has no comment", async () => {
    await note({ ...request, pull: undefined });
    requests.set(two, aRequest({ id: two }));
    await tell();

    expect(await outbox()).toEqual([]);
    expect(await tell()).toBe(0);
  });
});

test("two servers report the same once, and the newest stays", async () => {
  await note();
  for (let version = 1; version <= 8; version += 1) {
    setGraph(one, { version, state: "running", counts: { failed: version }, jobs: 9 });
    await Promise.all([tell(), tell(), tell()]);
  }

  const [row] = await outbox();
  expect(row).toMatchObject({
    revision: 8,
    content: { check: { title: "8 of 9 jobs failed so far" } },
  });
});

test("unchanged subjects are not read", async () => {
  await note();
  setGraph(one, { version: 1, state: "running" });
  await tell();
  reads = [];

  await tell();

  expect(reads).toEqual([]);
});
