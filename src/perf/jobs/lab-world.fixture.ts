import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect } from "vitest";
import { z } from "zod";
import type { ClaimedBenchmarkJob, JobEnd } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { figuresOf } from "../perf.fixture.ts";
import {
  aProcess,
  cancelInTable,
  type JobRow,
  jobRows,
  type LabServer,
} from "./lab-driver.fixture.ts";

/** Two with one set each; the first may take over the set of the second; the third serves sets without a collector. */
export const names = ["a", "b", "spare"] as const;

type Process = Awaited<ReturnType<typeof aProcess>>;

/** The job that a process of a collector believes to have. */
interface Hand {
  readonly process: Process;
  job: ClaimedBenchmarkJob | null;
  left: ClaimedBenchmarkJob["cases"];
}

export interface World {
  readonly db: Db;
  readonly servers: readonly LabServer[];
  readonly hands: Map<string, Hand>;
  /** Processes that another one has replaced, with the jobs that they believe to have. */
  readonly ghosts: Hand[];
  /** Collectors whose process is registering at this moment. */
  readonly greeting: Set<string>;
  /** Violations of the rules. */
  readonly wrong: string[];
  /** Acknowledged reports: case and machine. */
  readonly acknowledged: Set<string>;
  /** For each job, the epochs of the acknowledged reports, in that order. */
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
/** Several steps at once. */
export const someSteps = fc.array(plainStep, { minLength: 1, maxLength: 3 });

/** A refusal is only valid for an ended lease; any other error fails the test. */
async function unlessRefused<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "aborted") return undefined;
    throw reason;
  }
}

/** Returns whether the report was accepted. */
export async function report(world: World, server: LabServer, hand: Hand): Promise<boolean> {
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

export async function take(step: Step, server: LabServer, world: World): Promise<void> {
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
      const holder = hand.process.holder(job);
      const ended = await unlessRefused(server.end(job.id, holder, step.end));
      // A broken collector may also report success while cases are left; and the first report of another collector
      // remains valid.
      if (step.end.outcome === "success" && hand.left.length > 0 && ended?.state === "success")
        world.wrong.push("success was believed without results");
      await unlessRefused(server.end(job.id, holder, step.end));
      hand.job = null;
      return;
    }
    case "hello": {
      // When two run at once, the test does not know which one was later.
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
      const rows = await jobRows(world.db);
      const row = rows[step.which % rows.length];
      // Rarely: a history in which everything is cancelled is not useful.
      if (row !== undefined && step.which % 5 === 0)
        await cancelInTable(world.db, row.id, server.clock.now());
    }
  }
}

export const isOver = ({ state }: JobRow) => state !== "queued" && state !== "in-progress";
export const Stored = z.object({ key: z.string(), times: z.number() });

export async function check(world: World): Promise<void> {
  const rows = await jobRows(world.db);
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
  // Reports of an earlier holder are never accepted after those of the present holder.
  for (const epochs of world.epochs.values())
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  const stored = await world.db.many(
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
