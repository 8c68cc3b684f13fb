import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import type { ClaimedBenchmarkJob, JobEnd } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aLab, emptyLab, figuresOf, labClock, storeJob } from "../perf.fixture.ts";
import {
  aCollector,
  aLabServer,
  aProcess,
  cancelInTable,
  type JobRow,
  jobRows,
  type LabServer,
} from "./lab-driver.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

/** Two with a set each, of which the first may take the second's over; the third takes what nobody serves. */
const names = ["a", "b", "spare"] as const;

type Process = Awaited<ReturnType<typeof aProcess>>;

/** What a process of a collector believes that it has. */
interface Hand {
  readonly process: Process;
  job: ClaimedBenchmarkJob | null;
  left: ClaimedBenchmarkJob["cases"];
}

interface World {
  readonly servers: readonly LabServer[];
  readonly hands: Map<string, Hand>;
  /** Processes that another one has replaced, with what they believe to have still. */
  readonly ghosts: Hand[];
  /** Collectors of which a process says hello at this moment. */
  readonly greeting: Set<string>;
  /** What must never be. */
  readonly wrong: string[];
  /** What was answered well: case and machine. */
  readonly acknowledged: Set<string>;
  /** By job, the epochs of what was answered well, in that order. */
  readonly epochs: Map<string, number[]>;
  seen: Map<string, JobRow>;
}

const collector = fc.constantFrom(...names);
const end = fc.constantFrom<JobEnd>(
  { outcome: "success" },
  { outcome: "success" },
  { outcome: "transient", error: "the network is away" },
  { outcome: "permanent", error: "it cannot be" },
  { outcome: "handed-back", why: "an update" },
);
const plainStep = fc.oneof(
  fc.record({ kind: fc.constant("claim" as const), name: collector }),
  fc.record({ kind: fc.constant("claim" as const), name: collector }),
  fc.record({ kind: fc.constant("report" as const), name: collector }),
  fc.record({ kind: fc.constant("report" as const), name: collector }),
  fc.record({ kind: fc.constant("beat" as const), name: collector }),
  fc.record({ kind: fc.constant("end" as const), name: collector, end }),
  fc.record({ kind: fc.constant("hello" as const), name: collector }),
  fc.record({ kind: fc.constant("ghost" as const), which: fc.nat() }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(10_000, 31_000, 60_000) }),
  fc.record({ kind: fc.constant("expire" as const) }),
  fc.record({ kind: fc.constant("cancel" as const), which: fc.nat() }),
);
type Step = typeof plainStep extends fc.Arbitrary<infer S> ? S : never;
/** Some of them at once. */
const someSteps = fc.array(plainStep, { minLength: 1, maxLength: 3 });

/** Refused is what names a hold that is over; anything else is a failure of the test. */
async function unlessRefused<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "aborted") return undefined;
    throw reason;
  }
}

/** Whether it was taken. */
async function report(world: World, server: LabServer, hand: Hand): Promise<boolean> {
  const [next] = hand.left;
  if (hand.job === null || next === undefined) return false;
  const { id, epoch } = hand.job;
  const iterations = figuresOf(next.case);
  const told = server.report(id, hand.process.holder(hand.job), next.case, { iterations });
  const accepted = await unlessRefused(told);
  if (accepted === undefined) return false;
  hand.left = hand.left.slice(1);
  world.acknowledged.add(`${id} ${next.case.benchmark} ${next.case.scenario} ${hand.process.name}`);
  world.epochs.set(id, [...(world.epochs.get(id) ?? []), epoch]);
  return true;
}

async function take(step: Step, server: LabServer, world: World): Promise<void> {
  const hand = "name" in step ? world.hands.get(step.name) : undefined;
  switch (step.kind) {
    case "claim": {
      if (hand === undefined || hand.job !== null) return;
      const { name, incarnation } = hand.process;
      const answer = await unlessRefused(server.claim(name, incarnation));
      if (hand.job !== null) return;
      hand.job = answer?.job ?? null;
      hand.left = hand.job?.cases ?? [];
      return;
    }
    case "report":
      if (hand !== undefined) await report(world, server, hand);
      return;
    case "beat": {
      if (hand === undefined || hand.job === null) return;
      const answer = await unlessRefused(server.beat(hand.job.id, hand.process.holder(hand.job)));
      if (answer === undefined || answer.cancelled) hand.job = null;
      return;
    }
    case "end": {
      if (hand === undefined || hand.job === null) return;
      const { job } = hand;
      // It says that all went well only when it did.
      if (step.end.outcome === "success" && hand.left.length > 0) return;
      const holder = hand.process.holder(job);
      await unlessRefused(server.end(job.id, holder, step.end));
      await unlessRefused(server.end(job.id, holder, step.end));
      hand.job = null;
      return;
    }
    case "hello": {
      // Of two at once nobody here knows which was the later one.
      if (world.greeting.has(step.name)) return;
      world.greeting.add(step.name);
      const process = await aProcess(server, step.name);
      world.greeting.delete(step.name);
      if (hand !== undefined) world.ghosts.push({ ...hand });
      world.hands.set(step.name, { process, job: null, left: [] });
      return;
    }
    case "ghost": {
      const ghost = world.ghosts[step.which % Math.max(1, world.ghosts.length)];
      if (ghost === undefined) return;
      if (await report(world, server, ghost)) world.wrong.push("a replaced process was heard");
      return;
    }
    case "pass":
      server.clock.pass(step.ms);
      return;
    case "expire":
      await server.endSilent();
      return;
    case "cancel": {
      const rows = await jobRows(db);
      const row = rows[step.which % rows.length];
      // Seldom: a history in which all is cancelled tells nothing.
      if (row !== undefined && step.which % 5 === 0)
        await cancelInTable(db, row.id, server.clock.now());
    }
  }
}

const isOver = ({ state }: JobRow) => state !== "queued" && state !== "in-progress";
const Stored = z.object({ key: z.string(), times: z.number() });

async function check(world: World): Promise<void> {
  const rows = await jobRows(db);
  const inHand = rows.filter(({ state }) => state === "in-progress").map((row) => row.collector);
  expect(new Set(inHand).size).toBe(inHand.length);
  for (const row of rows) {
    const before = world.seen.get(row.id);
    if (before === undefined) continue;
    if (row.epoch < before.epoch) world.wrong.push("an epoch came back");
    if (isOver(before) && !isDeepStrictEqual(row, before))
      world.wrong.push("a job changed after its end");
  }
  expect(world.wrong).toEqual([]);
  world.seen = new Map(rows.map((row) => [row.id, row]));
  // Who had it before never gets a word in after who has it now.
  for (const epochs of world.epochs.values())
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  const stored = await db.many(
    Stored,
    sql`
      select taken.job_id || ' ' || test.benchmark || ' ' || test.scenario || ' ' || taken.collector_name as key,
             count(*) as times
      from benchmark_collection as taken join benchmark_case as test on test.id = taken.case_id
      group by 1
    `,
  );
  expect(stored.map(({ key }) => key).toSorted()).toEqual([...world.acknowledged].toSorted());
  expect(stored.every(({ times }) => times === 2)).toBe(true);
}

test("whatever happens to collectors, nobody has two jobs, no job is in two hands, and no result is lost or doubled", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(someSteps, fc.nat(1)), { minLength: 5, maxLength: 40 }),
      async (steps) => {
        await emptyLab(db);
        const { request, child, digest } = await aLab(db);
        const more = { request, artifact: child, digest };
        await storeJob(db, { ...more, profile: "emit", set: 0 });
        await storeJob(db, { ...more, profile: "emit", set: 1, optional: true });
        await storeJob(db, { ...more, section: "runtime", set: 0 });
        const clock = labClock();
        const servers = [aLabServer(db, clock), aLabServer(db, clock)] as const;
        const started = [
          await aCollector(servers[0], { name: "a", set: 0, mayTakeOver: [1] }),
          await aCollector(servers[0], { name: "b", set: 1 }),
          await aCollector(servers[0], { name: "spare", set: null }),
        ];
        const world: World = {
          servers,
          hands: new Map(
            started.map((process) => [process.name, { process, job: null, left: [] }]),
          ),
          ghosts: [],
          greeting: new Set(),
          wrong: [],
          acknowledged: new Set(),
          epochs: new Map(),
          seen: new Map(),
        };

        for (const [atOnce, first] of steps) {
          await Promise.all(
            atOnce.map((step, i) => take(step, servers[(first + i) % 2] ?? servers[0], world)),
          );
          await check(world);
        }

        // From here on nothing fails any more: all of it ends, with all its results.
        for (const name of names) await take({ kind: "hello", name }, servers[0], world);
        for (let i = 0; i < 30 && (await jobRows(db)).some((row) => !isOver(row)); i++) {
          clock.pass(31_000);
          await servers[1].endSilent();
          for (const [name, hand] of world.hands) {
            await take(
              { kind: "claim", name: z.enum(names).parse(name) },
              servers[i % 2] ?? servers[0],
              world,
            );
            while (hand.left.length > 0 && hand.job !== null) await report(world, servers[0], hand);
            if (hand.job !== null) await hand.process.end(hand.job);
            hand.job = null;
          }
          await check(world);
        }
        const rows = await jobRows(db);
        expect(rows.filter((row) => !isOver(row))).toEqual([]);
        const done = rows.filter(({ state }) => state === "success").map(({ id }) => id);
        const missing = await db.many(
          Stored,
          sql`
            select job.id as key, count(result.*) as times
            from benchmark_job as job
              join benchmark_case as test on test.section = job.section and test.profile = job.profile
                and (job.section = 'runtime' or (test.benchmark = 'gamma') = (job.benchmark_set = 1))
              left join benchmark_result as result on result.case_id = test.id
            where job.id = any(${done}::uuid[])
            group by job.id, test.id having count(result.*) = 0
          `,
        );
        expect(missing).toEqual([]);
      },
    ),
    { numRuns: 30 },
  );
}, 240_000);
