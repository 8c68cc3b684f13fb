import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  emptyLab,
  labEpoch,
  storeArtifact,
  storeJob,
  storeRequest,
  storeSuite,
} from "../perf.fixture.ts";
import { firstQueuedJob } from "./claim-job.store.ts";
import { aCollector, aLabServer } from "./lab-driver.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

/** The intended order, on plain values; the queue itself implements it in SQL. */
interface Queued {
  readonly id: string;
  readonly wasMine: boolean;
  /** The requests that wait for it. */
  readonly requests: readonly Request[];
  readonly optional: boolean;
  readonly purpose: "backfill" | "own" | "paired" | "confirm";
  readonly profile: string;
}

interface Request {
  readonly id: string;
  readonly isOpen: boolean;
  readonly kind: "release" | "master" | "try";
  readonly pr: number | null;
  readonly createdAt: number;
  readonly tag: string;
}

const kinds = ["release", "master", "try"] as const;
const purposes = ["backfill", "own", "paired", "confirm"] as const;

function byRequest(a: Request, b: Request): number {
  return (
    Number(b.isOpen) - Number(a.isOpen) ||
    kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
    (a.pr ?? Infinity) - (b.pr ?? Infinity) ||
    a.createdAt - b.createdAt ||
    byText(a.tag, b.tag) ||
    byText(a.id, b.id)
  );
}

function byPlace(a: Queued, b: Queued): number {
  const [first, second] = [a, b].map(({ requests }) => requests.toSorted(byRequest)[0]);
  if (first === undefined || second === undefined) throw new Error("nobody waits for it");
  return (
    Number(b.wasMine) - Number(a.wasMine) ||
    (first === second ? 0 : byRequest(first, second) || 0) ||
    Number(a.optional) - Number(b.optional) ||
    purposes.indexOf(a.purpose) - purposes.indexOf(b.purpose) ||
    byText(a.profile, b.profile) ||
    byText(a.id, b.id)
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const aRequest = fc.record({
  isOpen: fc.integer({ max: 3, min: 0 }).map((n) => n > 0),
  kind: fc.constantFrom(...kinds),
  pr: fc.option(fc.integer({ min: 1, max: 2 })),
  createdAt: fc.integer({ min: 0, max: 1 }),
});
const aJob = fc.record({
  wasMine: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  of: fc.nat({ max: 9 }),
  also: fc.option(fc.nat({ max: 9 })),
  optional: fc.boolean(),
  purpose: fc.constantFrom(...purposes),
});

test("the queue assigns the first job", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aRequest, { minLength: 1, maxLength: 5 }),
      fc.array(aJob, { minLength: 1, maxLength: 10 }),
      async (wantedRequests, wantedJobs) => {
        await emptyLab(db);
        const digest = await storeSuite(db);
        const collector = await aCollector(aLabServer(db));
        const parent = await storeArtifact(db, { tag: "parent" });
        const requests: (Request & { artifact: typeof parent })[] = [];
        for (const [i, wanted] of wantedRequests.entries()) {
          const artifact = await storeArtifact(db, { tag: `t${9 - i}`, kind: wanted.kind });
          const id = await storeRequest(db, {
            artifact,
            kind: wanted.kind,
            state: wanted.isOpen ? "in-progress" : "completed",
            ...(wanted.pr === null ? {} : { pr: wanted.pr }),
            createdAt: new Date(labEpoch.getTime() + wanted.createdAt),
          });
          requests.push({ ...wanted, id, tag: artifact.tag, artifact });
        }
        const jobs: Queued[] = [];
        for (const [i, { of, also, wasMine, optional, purpose }] of wantedJobs.entries()) {
          const request = requests[of % requests.length];
          const other = also === null ? undefined : requests[also % requests.length];
          if (request === undefined) continue;
          const profile = `p${i}`;
          const isPaired = purpose === "paired" || purpose === "confirm";
          const id = await storeJob(db, {
            request: request.id,
            artifact: request.artifact,
            digest,
            profile,
            optional,
            purpose,
            ...(isPaired ? { against: parent } : {}),
          });
          if (other !== undefined && other !== request)
            await db.run(
              sql`insert into benchmark_request_job (request_id, job_id) values (${other.id}, ${id})`,
            );
          if (wasMine)
            await db.run(
              sql`update benchmark_job set collector_name = ${collector.name} where id = ${id}`,
            );
          const waiting = other === undefined ? [request] : [request, other];
          jobs.push({ id, wasMine, optional, purpose, profile, requests: waiting });
        }

        const given: string[] = [];
        const all = { allBut: true, sets: [] };
        const me = { name: collector.name, target: "linux-x64" };
        for (;;) {
          const job = await db.transaction((tx) => firstQueuedJob(tx, me, all, labEpoch));
          if (job === undefined) break;
          given.push(job.id);
          await db.run(
            sql`update benchmark_job set state = 'cancelled', ended_at = ${labEpoch} where id = ${job.id}`,
          );
        }

        expect(given).toEqual(jobs.toSorted(byPlace).map(({ id }) => id));
      },
    ),
    { numRuns: 20 },
  );
});

test("jobs that are not due, of another target, or of the sets of other collectors are skipped", async () => {
  await emptyLab(db);
  const digest = await storeSuite(db);
  const collector = await aCollector(aLabServer(db));
  const artifact = await storeArtifact(db, { tag: randomUUID() });
  const request = await storeRequest(db, { artifact });
  const common = { request, artifact, digest };
  const later = await storeJob(db, { ...common, profile: "later" });
  await db.run(sql`
    update benchmark_job set not_before = ${new Date(labEpoch.getTime() + 1)} where id = ${later}
  `);
  await storeJob(db, { ...common, target: "linux-arm64" });
  await storeJob(db, { ...common, set: 1 });
  const mine = await storeJob(db, { ...common, set: 2 });
  const me = { name: collector.name, target: "linux-x64" };
  const first = (served: { allBut: boolean; sets: number[] }) =>
    db.transaction(async (tx) => (await firstQueuedJob(tx, me, served, labEpoch))?.id);

  expect(await first({ allBut: false, sets: [0, 2] })).toBe(mine);
  expect(await first({ allBut: false, sets: [0, 3] })).toBeUndefined();
  expect(await first({ allBut: true, sets: [1] })).toBe(mine);
  expect(await first({ allBut: true, sets: [0, 1, 2] })).toBeUndefined();
});
