import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { Fault } from "#core/fault.ts";
import { PublishResultsResponse_End_Kind } from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import { freshDirectory, silentLogger } from "../store/granary-store.fixture.ts";
import { type FakeFarm, fakeFarm } from "./fake-farm.fixture.ts";
import { type OpenOutbox, type OutboxOptions, openOutbox } from "./open-outbox.ts";
import type { IndexToPublish } from "./outbox.ts";

async function withOutbox(options: Partial<OutboxOptions> = {}) {
  const directory = await freshDirectory();
  const farm = fakeFarm();
  const local = memoryBlobStore();
  const open = async () => {
    const opened = await openOutbox({
      directory,
      farm,
      blobs: local,
      logger: silentLogger,
      ...options,
    });
    onTestFinished(() => opened.stop());
    return opened;
  };
  const outbox = await open();
  const result = async (key: string, sizes: readonly number[] = [10, 20]) => {
    const all = sizes.map((size) => randomBytes(size));
    for (const bytes of all) await local.put(digestOf(bytes), bytes);
    const [value, ...blobs] = all.map((bytes) => digestOf(bytes));
    return {
      project: "p",
      namespace: "ccache",
      key,
      value,
      blobs,
      attributes: { a: "b" },
      costMs: 3,
    } as GranaryResult;
  };
  return { directory, farm, local, outbox, open, result, spool: join(directory, "outbox") };
}

const index: IndexToPublish = {
  project: "p",
  repository: "",
  commits: ["0".repeat(40)],
  tree: "",
  branch: "main",
  environment: "linux",
  entries: [
    {
      namespace: "ccache",
      key: "k",
      blobs: [digestOf(Buffer.from("x"))],
      firstMs: 5,
      savedMs: undefined,
      inputs: ["src/"],
    },
  ],
  complete: true,
  targets: ["all"],
};

const report: GranaryBuildReport = {
  id: "7b0d6c0e-6f0b-4c7e-9f33-0b7f3f9d0f11",
  project: "p",
  repository: "",
  commit: null,
  branch: "main",
  dirty: false,
  environment: "linux",
  machine: "m",
  command: "make",
  startedAt: "2026-11-22T00:00:00Z",
  endedAt: "2026-11-22T00:00:01Z",
  exitCode: 0,
  indexes: [],
  counts: { local: 0, prefetched: 0, fetched: 0, missed: 0, unreachable: 0 },
  bytes: { local: 0, prefetched: 0, fetched: 0, transferred: 0, wasted: 0, uploaded: 0 },
  lead: null,
  waitedMs: 0,
  savedMs: 0,
  truncated: [],
  asked: [],
};

const divergence: Divergence = {
  namespace: "sccache",
  key: "k",
  kept: `${"0".repeat(64)}/1`,
  madeNow: `${"1".repeat(64)}/1`,
  differs: ["the bytes"],
  machine: "m",
  build: null,
  at: "2026-11-22T00:00:00.000Z",
};

const nothing = {
  results: 0,
  indexes: 0,
  reports: 0,
  bytes: 0,
  trouble: undefined,
  setAside: undefined,
};

function keysAt(farm: FakeFarm): string[] {
  return [...farm.kept.values()].map(({ key }) => key).toSorted();
}

test("the data of a build arrive in this order: blobs, results, index, report", async () => {
  const { farm, outbox, result, spool } = await withOutbox();
  const release = outbox.hold();
  const large = await result("b", [10, 3_000_000]);
  await Promise.all([
    outbox.addResult(await result("a")),
    outbox.addResult(large),
    outbox.addIndex(index),
    outbox.addReport(report),
  ]);
  release();

  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a", "b"]);
  expect(farm.kept.get("p ccache b")).toEqual(large);
  expect(farm.indexes.map((sent) => sent.index)).toEqual([index]);
  expect(await farm.store.findMissing(farm.indexes.map(({ entries }) => entries))).toEqual([]);
  expect(farm.reports).toEqual([report]);
  const order = farm.calls.map(({ step }) => step).filter((step) => step !== "put");
  expect(order).toEqual(["findMissing", "write", "publishResults", "publishIndex", "reportBuild"]);
  expect(outbox.sentBytes).toBe(10 + 20 + 10 + 3_000_000);
  expect(readdirSync(spool)).toEqual([]);
});

test("results of a build are sent together, and existing ones are not sent", async () => {
  const { farm, local, outbox, result } = await withOutbox();
  const release = outbox.hold();
  const all = await Promise.all(Array.from({ length: 900 }, (_, i) => result(`k${i}`)));
  for (const { value } of all) await farm.store.put(value, (await local.get(value)) ?? Buffer.of());
  await Promise.all(all.map((each) => outbox.addResult(each)));
  release();
  await outbox.drained();

  const count = (step: string) => farm.calls.filter((call) => call.step === step).length;
  expect(farm.kept.size).toBe(900);
  expect([count("findMissing"), count("publishResults"), count("put")]).toEqual([1, 1, 900]);
});

test("while it is held nothing is sent, until the last holder releases it", async () => {
  const { farm, outbox, result } = await withOutbox();
  const [first, second] = [outbox.hold(), outbox.hold()];
  await outbox.addResult(await result("a"));
  first();
  first();

  expect(await outbox.drained()).toMatchObject({ results: 1, trouble: undefined });
  expect(farm.calls).toEqual([]);
  second();
  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a"]);
});

test("while it is held until data are due, due data and those that arrived meanwhile are sent", async () => {
  const { farm, outbox, result } = await withOutbox({ mostWaitMs: 50 });
  outbox.hold("due");
  await outbox.addResult(await result("a"));
  await outbox.addResult(await result("b"));
  await expect.poll(() => keysAt(farm)).toEqual(["a", "b"]);

  await outbox.addResult(await result("c"));
  await expect.poll(() => keysAt(farm)).toEqual(["a", "b", "c"]);
});

test("while it is held until data are due, only data that something waits for are sent", async () => {
  const { farm, outbox, result } = await withOutbox();
  const release = outbox.hold("due");
  await outbox.addResult(await result("a"));
  await outbox.addIndex(index);
  expect(farm.calls).toEqual([]);

  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a"]);

  await outbox.addResult(await result("b"));
  expect(outbox.state()).toMatchObject({ results: 1 });
  release();
  await expect.poll(() => keysAt(farm)).toEqual(["a", "b"]);
});

test("data that were held back until due are sent by the next process after a crash", async () => {
  const { farm, outbox, result, open } = await withOutbox();
  outbox.hold("due");
  await outbox.addResult(await result("a"));
  await outbox.stop();
  expect(farm.calls).toEqual([]);
  await open();
  await expect.poll(() => keysAt(farm)).toEqual(["a"]);
});

test("a holder until release also keeps back due data", async () => {
  const { farm, outbox, result } = await withOutbox();
  const release = outbox.hold("released");
  outbox.hold("due");
  await outbox.addResult(await result("a"));
  expect(await outbox.drained()).toMatchObject({ results: 1 });
  expect(farm.calls).toEqual([]);
  release();
  expect(await outbox.drained()).toEqual(nothing);
});

test("a hold during a batch stops it, and waiting callers are informed", async () => {
  const { farm, outbox, result } = await withOutbox();
  let release = () => {};
  farm.after = (step) => {
    if (step === "findMissing") release = outbox.hold();
  };
  await outbox.addResult(await result("a"));

  expect(await outbox.drained()).toMatchObject({ results: 1 });
  expect(farm.kept.size).toBe(0);
  farm.after = () => {};
  release();
  expect(await outbox.drained()).toEqual(nothing);
});

test("an unreachable farm causes only delay", async () => {
  const { farm, outbox, result, open } = await withOutbox();
  farm.away = true;
  await outbox.addResult(await result("a"));

  expect((await outbox.drained()).trouble).toContain("cannot be reached");
  expect(farm.calls).toEqual([]);
  await outbox.stop();
  const next = await open();
  expect(next.state()).toMatchObject({ results: 1 });
  farm.away = false;

  expect(await next.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a"]);
});

test("a differing result is reported to the farm when it is back, also after a restart", async () => {
  const { farm, outbox, open } = await withOutbox();
  farm.away = true;
  await outbox.addDivergence("p", divergence);
  await outbox.addReport(report);
  await outbox.stop();
  const next = await open();
  expect(next.state()).toMatchObject({ reports: 2 });
  farm.away = false;

  expect(await next.drained()).toEqual(nothing);
  expect(farm.divergences).toEqual([divergence]);
  expect(farm.reports).toEqual([report]);
});

test("an index above the hourly limit of a project does not block results", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.before = (step) => {
    if (step !== "publishIndex" && step !== "reportBuild") return;
    throw new Fault("resource_exhausted", "others have used it up");
  };
  await outbox.addIndex(index);
  await outbox.addReport(report);
  await outbox.addResult(await result("a"));

  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a"]);
});

test("data that the farm fails to accept block nothing else, and are reported until accepted", async () => {
  const { farm, outbox, result, spool } = await withOutbox();
  let isBroken = true;
  farm.endOf = ({ key }) => {
    if (isBroken && key === "bad") throw new Fault("internal", "a bug of the farm's");
    return undefined;
  };
  farm.before = (step) => {
    if (isBroken && step === "reportBuild") throw new Fault("internal", "a bug of the farm's");
  };
  const release = outbox.hold();
  for (const key of ["a", "bad", "b"]) await outbox.addResult(await result(key));
  await outbox.addReport(report);
  await outbox.addDivergence("p", divergence);
  await outbox.addResult(await result("c"));
  release();

  expect(await outbox.drained()).toMatchObject({
    results: 1,
    reports: 1,
    trouble: expect.stringContaining("a bug of the farm's") as string,
  });
  expect(keysAt(farm)).toEqual(["a", "b", "c"]);
  expect(farm.divergences).toEqual([divergence]);
  expect(readdirSync(spool)).toHaveLength(2);
  isBroken = false;
  await expect.poll(() => outbox.state()).toMatchObject(nothing);
  expect(keysAt(farm)).toEqual(["a", "b", "bad", "c"]);
  expect([outbox.droppedResults, farm.reports]).toEqual([0, [report]]);
});

test("an index waits for earlier results that are retried, and the rest is retried after a restart", async () => {
  const { farm, outbox, result, open } = await withOutbox();
  let isBroken = true;
  farm.endOf = ({ key }) => {
    if (isBroken && key === "bad") throw new Fault("internal", "a bug of the farm's");
    return undefined;
  };
  const release = outbox.hold();
  const bad = await result("bad");
  await outbox.addResult(bad);
  await outbox.addResult(await result("good"));
  await outbox.addIndex(index);
  release();

  expect(await outbox.drained()).toMatchObject({ results: 1, indexes: 1 });
  expect(outbox.isHeld(bad.value)).toBe(true);
  await outbox.stop();
  expect(farm.indexes).toEqual([]);
  isBroken = false;
  const next = await open();

  expect(await next.drained()).toMatchObject(nothing);
  expect(next.isHeld(bad.value)).toBe(false);
  const order = farm.calls.map(({ step }) => step).filter((step) => step.startsWith("publish"));
  expect(order.slice(-2)).toEqual(["publishResults", "publishIndex"]);
});

test("a farm that fails every call is not called for each item", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.endOf = () => {
    throw new Fault("internal", "its database is gone");
  };
  const release = outbox.hold();
  const all = await Promise.all(Array.from({ length: 300 }, (_, i) => result(`k${i}`, [5])));
  await Promise.all(all.map((each) => outbox.addResult(each)));
  release();

  expect(await outbox.drained()).toMatchObject({ results: 300 });
  const asked = farm.calls.filter(({ step }) => step === "publishResults");
  expect(asked.length).toBeLessThan(40);
  expect(outbox.droppedResults).toBe(0);
});

const steps = [
  "findMissing",
  "put",
  "write",
  "publishResults",
  "publishIndex",
  "reportBuild",
] as const;

test.each(steps.flatMap((step) => [[step, "before"] as const, [step, "after"] as const]))(
  "broken off at %s (%s it took effect) and opened again, all arrives",
  async (step, when) => {
    const { farm, outbox, result, open } = await withOutbox();
    let failures = 0;
    farm[when] = (at) => {
      if (at !== step || failures > 1) return;
      failures++;
      throw new Fault("unavailable", "the line is cut");
    };
    const release = outbox.hold();
    await outbox.addResult(await result("a", [10, 1_500_000]));
    await outbox.addIndex(index);
    await outbox.addReport(report);
    await outbox.addResult(await result("b"));
    release();
    expect((await outbox.drained()).trouble).toContain("the line is cut");
    await outbox.stop();

    const next = await open();
    while ((await next.drained()).trouble !== undefined);

    expect(next.state()).toEqual(nothing);
    expect(keysAt(farm)).toEqual(["a", "b"]);
    expect(new Set(farm.indexes.map((sent) => sent.index.tree)).size).toBe(1);
    expect(farm.reports.length).toBeGreaterThan(0);
  },
);

test("blobs that the farm has lost since the check are sent again", async () => {
  const { farm, outbox, result } = await withOutbox();
  const one = await result("a");
  // The farm claims to have all blobs.
  const claim = vi.spyOn(farm.store, "findMissing").mockResolvedValueOnce([]);
  await outbox.addResult(one);

  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a"]);
  expect(claim).toHaveBeenCalledTimes(3);
});

test("a farm that always loses blobs does not block the rest", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.endOf = ({ key }) =>
    key === "bad" ? { kind: PublishResultsResponse_End_Kind.INCOMPLETE, missing: [] } : undefined;
  await outbox.addResult(await result("bad"));
  await outbox.addResult(await result("good"));

  expect(await outbox.drained()).toEqual(nothing);
  expect([keysAt(farm), outbox.droppedResults]).toEqual([["good"], 1]);
});

test("the farm cannot request blobs that the result does not name", async () => {
  const { farm, local, outbox, result } = await withOutbox();
  const secret = Buffer.from("secret");
  await local.put(digestOf(secret), secret);
  let told = false;
  farm.endOf = () => {
    if (told) return undefined;
    told = true;
    const { INCOMPLETE } = PublishResultsResponse_End_Kind;
    const { hash } = digestOf(secret);
    return { kind: INCOMPLETE, missing: [{ hash, sizeBytes: 6n } as never] };
  };
  await outbox.addResult(await result("a"));
  await outbox.drained();

  expect(await farm.store.get(digestOf(secret))).toBeUndefined();
  expect(keysAt(farm)).toEqual(["a"]);
});

test("rejected data are dropped, and the others arrive", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.endOf = ({ key }) =>
    key === "bad" ? { kind: PublishResultsResponse_End_Kind.REFUSED, message: "no" } : undefined;
  const release = outbox.hold();
  for (const key of ["a", "bad", "b"]) await outbox.addResult(await result(key));
  release();

  expect(await outbox.drained()).toEqual(nothing);
  expect([keysAt(farm), outbox.droppedResults]).toEqual([["a", "b"], 1]);
});

test("when one result makes the farm reject a whole request, only that one is dropped", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.endOf = ({ key }) => {
    if (key === "k7") throw new Fault("invalid_argument", "a key it does not like");
    return undefined;
  };
  const release = outbox.hold();
  for (let i = 0; i < 20; i++) await outbox.addResult(await result(`k${i}`));
  release();

  expect(await outbox.drained()).toEqual(nothing);
  expect([farm.kept.size, outbox.droppedResults]).toEqual([19, 1]);
});

test("a granary without the right to write calls the farm once, not for each item", async () => {
  const { farm, outbox, result } = await withOutbox();
  farm.before = (step) => {
    if (step === "publishResults") throw new Fault("permission_denied", "no right to cache");
  };
  const release = outbox.hold();
  for (let i = 0; i < 20; i++) await outbox.addResult(await result(`k${i}`));
  release();

  expect(await outbox.drained()).toEqual(nothing);
  expect(farm.calls.filter(({ step }) => step === "publishResults")).toHaveLength(1);
  expect(outbox.droppedResults).toBe(20);
});

test("only the result whose local blob is missing is dropped", async () => {
  const { farm, outbox, result } = await withOutbox();
  const gone = await result("gone");
  const ghost = digestOf(randomBytes(8));
  const large = { ...ghost, sizeBytes: 2_000_000 } as typeof ghost;
  const release = outbox.hold();
  await outbox.addResult({ ...gone, blobs: [ghost] });
  await outbox.addResult({ ...gone, key: "gone2", blobs: [large] });
  await outbox.addResult(await result("here"));
  release();

  expect(await outbox.drained()).toEqual(nothing);
  expect([keysAt(farm), outbox.droppedResults]).toEqual([["here"], 2]);
});

test("above the limits, the oldest results are dropped and reported, but no index", async () => {
  const { farm, outbox, result } = await withOutbox({ mostResults: 10 });
  farm.away = true;
  await outbox.addIndex(index);
  for (let i = 10; i < 25; i++) await outbox.addResult(await result(`k${i}`));

  const state = await outbox.drained();
  expect(state).toMatchObject({ results: 9, indexes: 1 });
  expect(outbox.droppedResults).toBe(6);
  farm.away = false;
  const { trouble } = outbox.state();
  expect(trouble).toBeDefined();
  while (outbox.state().results > 0) await outbox.drained();
  expect(keysAt(farm)[0]).toBe("k16");
});

test("blobs of waiting results are held, up to a limit, until they are sent", async () => {
  const { farm, outbox, result, open } = await withOutbox({ mostHeldBytes: 100 });
  farm.away = true;
  const [small, large] = [await result("a", [10, 20]), await result("b", [90])];
  await outbox.addResult(small);
  await outbox.addResult({ ...small, key: "c" });
  await outbox.addResult(large);

  expect([small.value, ...small.blobs].map((digest) => outbox.isHeld(digest))).toEqual([
    true,
    true,
  ]);
  expect(outbox.isHeld(large.value)).toBe(false);
  await outbox.stop();
  const next: OpenOutbox = await open();
  expect(next.isHeld(small.value)).toBe(true);
  farm.away = false;
  await next.drained();
  expect(next.isHeld(small.value)).toBe(false);
});

test("in a corrupt spool, only the corrupt part is lost", async () => {
  const { farm, outbox, result, open, spool } = await withOutbox();
  outbox.hold();
  for (const key of ["a", "b", "c"]) await outbox.addResult(await result(key));
  await outbox.stop();
  const [first = ""] = readdirSync(spool).toSorted();
  const [a = "", , c = ""] = readFileSync(join(spool, first), "utf8").split("\n");
  writeFileSync(join(spool, first), `${a.slice(0, -9)}\n\0\0\0\n${c}\n{"cut o`);
  writeFileSync(join(spool, "000000000008-results.jsonl"), "");
  writeFileSync(join(spool, "000000000009-results.jsonl.part"), "half");
  mkdirSync(join(spool, "stray"));

  const next = await open();

  expect(await next.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["c"]);
  expect(readdirSync(spool)).toEqual(["stray"]);
});

test("results that arrive while others are sent are sent with the next batch", async () => {
  const { farm, outbox, result, spool } = await withOutbox();
  let more: Promise<void> | undefined;
  farm.before = (step) => {
    if (step !== "publishResults") return;
    more ??= Promise.all(["b", "c"].map(async (key) => outbox.addResult(await result(key)))).then(
      () => {},
    );
  };
  await outbox.addResult(await result("a"));
  await outbox.drained();
  await more;

  expect(await outbox.drained()).toEqual(nothing);
  expect(keysAt(farm)).toEqual(["a", "b", "c"]);
  expect(farm.calls.filter(({ step }) => step === "publishResults").map((c) => c.count)).toEqual([
    1, 2,
  ]);
  expect(readdirSync(spool)).toEqual([]);
});

test("uploads stay within their bandwidth", async () => {
  const { outbox, result } = await withOutbox({ bytesPerSecond: 1_000_000 });
  const release = outbox.hold();
  await outbox.addResult(await result("a", [150_000, 150_000]));
  await outbox.addResult(await result("b", [10]));
  release();
  const from = performance.now();
  await outbox.drained();

  expect(performance.now() - from).toBeGreaterThan(140);
});

test("stops in the middle of an upload", async () => {
  const { farm, outbox, result } = await withOutbox({ bytesPerSecond: 1_000 });
  const begun = new Promise<void>((resolve) => {
    farm.before = (step) => {
      if (step === "write") resolve();
    };
  });
  await outbox.addResult(await result("a", [2_000_000]));
  await begun;
  await outbox.stop();

  expect(outbox.state()).toMatchObject({ results: 1 });
  await expect(outbox.addReport(report)).rejects.toMatchObject({ code: "unavailable" });
});
