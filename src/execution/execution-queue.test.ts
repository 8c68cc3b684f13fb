import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import {
  actionDigest,
  aRequest,
  aWorker,
  executionId,
  movableClock,
  never,
} from "./execution.fixture.ts";
import { openTestQueues } from "./execution-queue.fixture.ts";
import { readExecutions } from "./read-executions.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
const { finished } = queues;
const open: typeof queues.open = (parts) => queues.open(parts);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

describe("submit", () => {
  test("has an effect once, however often an id is submitted", async () => {
    const queue = await open();
    const request = aRequest();

    const first = await queue.submit(request);
    const second = await queue.submit(request);

    expect(first).toMatchObject({ executionId: request.id, isNew: true });
    expect(second).toMatchObject({ executionId: request.id, isNew: false, isFinished: false });
  });

  test("joins an equal action in progress, also when two servers receive both at the same time", async () => {
    const [one, two] = [await open(), await open()];
    const digest = actionDigest("same");

    const served = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? one : two).submit(aRequest({ actionDigest: digest })),
      ),
    );

    expect(served.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(served.map(({ executionId: id }) => id)).size).toBe(1);
  });

  test("does not join an action of another domain, one that must not be cached, or one that is being cancelled", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    const digest = actionDigest("apart");
    const first = await queue.submit(aRequest({ actionDigest: digest }));
    await queue.claim(worker, 1, 1_000, never);
    await db.transaction((tx) => queue.cancel(tx, [first.executionId]));

    const served = await Promise.all([
      queue.submit(aRequest({ actionDigest: digest })),
      queue.submit(aRequest({ actionDigest: digest, doNotCache: true })),
      queue.submit(aRequest({ actionDigest: digest, project: "other" })),
    ]);

    expect(served.map(({ isNew }) => isNew)).toEqual([true, true, true]);
  });

  test("refuses an execution that cannot be stored, and stores the others of the same request", async () => {
    const queue = await open();

    const all = await Promise.allSettled([
      queue.submit(aRequest()),
      queue.submit(aRequest({ platform: { OSFamily: "a\0b" } })),
      queue.submit(aRequest({ platform: { OSFamily: "\uD800" } })),
      queue.submit(
        aRequest({ platform: { x: "y".repeat(900), z: "y".repeat(900), q: "y".repeat(900) } }),
      ),
      queue.submit(aRequest()),
    ]);

    expect(all.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
  });
});

describe("claim", () => {
  test("never assigns an execution twice, with twenty workers at two servers", async () => {
    const [one, two] = [await open(), await open()];
    const workers = Array.from({ length: 20 }, (_, i) => aWorker(`w${i}`));
    await Promise.all(workers.map((worker) => one.register(worker)));
    await one.transaction(async () => {});
    await Promise.all(Array.from({ length: 200 }, () => one.submit(aRequest())));

    const leasedPerClaim = await Promise.all(
      workers.map(async (worker, i) => {
        const queue = i % 2 ? one : two;
        const taken: string[] = [];
        while (taken.length < 10) {
          const leased = await queue.claim(worker, 10 - taken.length, 2_000, never);
          taken.push(...leased.map(({ lease }) => lease.executionId));
          if (leased.length === 0) break;
        }
        return taken;
      }),
    );

    expect(leasedPerClaim.flat()).toHaveLength(200);
    expect(new Set(leasedPerClaim.flat()).size).toBe(200);
  });

  test("waits until there is work, and ends when another server receives a submission", async () => {
    const [one, two] = [await open(), await open()];
    const worker = aWorker("w");
    await one.register(worker);

    const claim = one.claim(worker, 1, 20_000, never);
    const { executionId: id } = await two.submit(aRequest());

    expect((await claim).map(({ lease }) => lease)).toEqual([
      { executionId: id, attempt: 1, epoch: 1 },
    ]);
  });

  test("is answered by the commit that accepts the work", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);

    const claim = queue.claim(worker, 2, 20_000, never);
    await queue.submit(aRequest());
    const [view] = await readExecutions(db, [(await claim)[0]?.lease.executionId ?? executionId()]);

    expect(view?.state.kind).toBe("leased");
  });

  test("returns only executions that fit the worker: its platform and no larger size class, its own class first", async () => {
    const queue = await open();
    const worker = aWorker("w", { sizeClass: 2 });
    await queue.register(worker);
    const small = aRequest({ sizeClass: 1, platform: { ISA: "x86-64", cpus: "4" } });
    const own = aRequest({ sizeClass: 2, platform: {} });
    await Promise.all(
      [
        small,
        own,
        aRequest({ sizeClass: 3 }),
        aRequest({ platform: { OSFamily: "plan9" } }),
        aRequest({ platform: { gpu: "1" } }),
      ].map((request) => queue.submit(request)),
    );

    const first = await queue.claim(worker, 1, 1_000, never);
    const second = await queue.claim(worker, 9, 1_000, never);
    const third = await queue.claim(worker, 9, 10, never);

    expect(
      [first, second, third].map((each) => each.map(({ lease }) => lease.executionId)),
    ).toEqual([[own.id], [small.id], []]);
  });

  test("returns only executions that request the pool of a worker with a fence", async () => {
    const queue = await open();
    const platform = { OSFamily: "linux", pool: "hw", "grange-only-for": "pool" };
    const fenced = aWorker("fenced", { platform });
    await queue.register(fenced);
    const [plain, pooled, other] = [
      aRequest({ platform: { OSFamily: "linux" } }),
      aRequest({ platform: { pool: "hw" } }),
      aRequest({ platform: { pool: "other" } }),
    ];
    await Promise.all([plain, pooled, other].map((request) => queue.submit(request)));

    const taken = await queue.claim(fenced, 9, 1_000, never);
    const more = await queue.claim(fenced, 9, 10, never);

    expect([taken, more].map((each) => each.map(({ lease }) => lease.executionId))).toEqual([
      [pooled.id],
      [],
    ]);
    const unfenced = aWorker("open", { platform: { OSFamily: "linux" } });
    await queue.register(unfenced);
    expect(
      (await queue.claim(unfenced, 9, 1_000, never)).map(({ lease }) => lease.executionId),
    ).toEqual([plain.id]);
  });

  test("returns an execution to the queue when its worker has disconnected", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    const gone = new AbortController();

    const claim = queue.claim(worker, 1, 20_000, gone.signal);
    const submitted = queue.submit(aRequest());
    gone.abort();
    await submitted;
    expect(await claim).toEqual([]);
    const again = await queue.claim(worker, 1, 20_000, never);

    expect(again[0]?.lease.attempt).toBe(1);
  });

  test("refuses a worker that is unknown or was replaced", async () => {
    const queue = await open();
    const old = aWorker("w");
    await queue.register(old);
    await queue.register(aWorker("w"));

    await expect(queue.claim(old, 1, 1_000, never)).rejects.toMatchObject({ code: "not_found" });
    expect(await queue.heartbeat({ worker: old, leases: [], draining: false })).toMatchObject({
      isUnknown: true,
    });
  });
});

describe("cancel", () => {
  test("ends a waiting execution at once, tells the worker of a running one, and ends that after a grace period", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("w");
    await queue.register(worker);
    const [running, waiting] = [aRequest(), aRequest()];
    await queue.submit(running);
    const [held] = await queue.claim(worker, 1, 1_000, never);
    await queue.submit(waiting);
    const ends = [queue.waitForEnd(running.id, never), queue.waitForEnd(waiting.id, never)];

    const after = await db.transaction((tx) => queue.cancel(tx, [running.id, waiting.id]));
    after();

    expect(await ends[1]).toMatchObject({ outcome: "cancelled", worker: undefined });
    const leases = held === undefined ? [] : [held.lease];
    expect(await queue.heartbeat({ worker, leases, draining: false })).toMatchObject({
      cancelled: leases,
    });
    clock.pass(queue.times.cancelGraceMs);
    await queue.rescue();
    expect(await ends[0]).toMatchObject({ outcome: "cancelled", worker: "w" });
  });
});

describe("finish", () => {
  test("with missing inputs ends the execution at once, and names them", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());
    const [held] = await queue.claim(worker, 1, 1_000, never);

    await queue.finish({
      lease: held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 },
      outcome: "infrastructure_error",
      missingInputs: [actionDigest("gone")],
      message: "a\0b",
    });

    expect(finished).toMatchObject([
      { outcome: "failed", missingInputs: [actionDigest("gone")], message: "a\uFFFDb" },
    ]);
  });

  test("is sent to followers at another server, step by step", async () => {
    const [one, two] = [await open(), await open()];
    const worker = aWorker("w");
    await one.register(worker);
    const { executionId: id } = await one.submit(aRequest());
    const seen: string[] = [];

    for await (const view of two.follow(id, never)) {
      seen.push(view.state.kind === "leased" && view.state.startedAt ? "started" : view.state.kind);
      if (view.state.kind === "queued") {
        const [held] = await one.claim(worker, 1, 1_000, never);
        if (held) await one.started(held.lease, new Date());
      } else if (view.state.kind === "leased") {
        await one.finish({
          lease: { executionId: id, attempt: 1, epoch: 1 },
          outcome: "succeeded",
          exitCode: 0,
          result: new Uint8Array(),
        });
      }
    }

    expect(seen).toEqual(["queued", "started", "finished"]);
  });
});
