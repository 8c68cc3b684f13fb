import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfReruns } from "./farm-of-reruns.fixture.ts";
import { snapshotsOf } from "./graph-snapshot.store.ts";
import { planRerun } from "./plan-rerun.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});
test("speed", async () => {
  const jobs = Array.from({ length: 10_000 }, (_, i) => {
    const before = i < 10 ? [] : [10, 9, 8].map((back) => `j${i - back}`);
    return `  j${i}: {commands: "echo ${i}", inputs: [src, "*.json"], needs: [${before.join(", ")}]}`;
  });
  const id = await farm.graphOf(jobs.join("\n"));
  await db.script(`update job set state='failed', wanted=null, runs=1, open_edges=0 where graph_id='${id}' and depth=0;
   update job set state='unreachable', failed_edges=open_edges, open_edges=0 where graph_id='${id}' and depth>0;
   update edge set status='failed' where graph_id='${id}';
   insert into run (graph_id, job, number, cause, state, outcome, served_by, yield) select graph_id, name, 1, 'first','finished','failed','farm','failed' from job where graph_id='${id}' and depth=0`);
  for (let i = 0; i < 4; i++) {
    let t = performance.now();
    const [snap] = await snapshotsOf(db, [id]);
    console.log("snapshot", performance.now() - t);
    if (snap === undefined) throw new Error();
    t = performance.now();
    const p = planRerun(snap, new Set(["j0"]), { mode: "revive", onlyStale: false, times: 1 });
    console.log("plan", performance.now() - t, p.jobs.length);
    t = performance.now();
    const d = await farm.again(id, { selection: "state:failed", mode: "downstream", dryRun: true });
    console.log("dry run", performance.now() - t, d?.jobs.length, JSON.stringify(d).length);
  }
  let t = performance.now();
  await farm.again(id, { selection: "state:failed" });
  console.log("apply", performance.now() - t);
  expect(1).toBe(1);
}, 120_000);
