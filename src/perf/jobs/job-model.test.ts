import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aLab, emptyLab, labClock, storeJob } from "../perf.fixture.ts";
import { aCollector, aLabServer, jobRows } from "./lab-driver.fixture.ts";
import {
  check,
  isOver,
  names,
  report,
  Stored,
  someSteps,
  take,
  type World,
} from "./lab-world.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

test("whatever happens to collectors, none has two jobs, no job has two collectors, and no result is lost or duplicated", async () => {
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
          db,
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

        // From here on there are no failures: all jobs end, with all their results.
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
});
