import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { jobDetail } from "./job-detail.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Commits a script that a job runs; returns the script's digest. */
function commitScript(): Digest {
  const script = `#!/bin/sh\n# ${randomUUID()}\n`;
  farm.repository.write({
    ".grange/jobs.yml": "version: 1\njobs:\n  a: {commands: ./job.sh, inputs: [job.sh]}\n",
    "job.sh": script,
  });
  farm.repository.commit("A script");
  return digestOf(Buffer.from(script));
}

/** Works like a worker that reads its inputs from the store; returns how many executions lacked some. */
async function work(digest: Digest): Promise<number> {
  let lacking = 0;
  for (;;) {
    await farm.prepare();
    const leased = await farm.claim(0);
    if (leased.length === 0) return lacking;
    for (const { lease } of leased) {
      const missingInputs = await farm.store.findMissing([digest]);
      lacking += missingInputs.length;
      const outcome = missingInputs.length > 0 ? "failed" : "succeeded";
      await farm.queue.finish({
        lease,
        outcome,
        exitCode: 0,
        result: new Uint8Array(),
        missingInputs,
      });
    }
  }
}

test("a job whose input the store lost after its preparation runs again, with the input from Git", async () => {
  const script = commitScript();
  const { id } = await farm.submit();
  await farm.prepare();
  farm.lose(script);

  expect(await work(script)).toBe(1);

  expect(await farm.states(id)).toEqual({ a: "succeeded" });
  const causes = (await jobDetail(db, id, "a"))?.runList.map(({ cause, outcome }) => [
    cause,
    outcome,
  ]);
  expect(causes).toEqual([
    ["auto-retry", "succeeded"],
    ["first", "failed"],
  ]);
});

test("a job that is prepared after the loss was noticed is not affected", async () => {
  const script = commitScript();
  await farm.submit();
  await work(script);
  farm.lose(script);
  farm.parts.inputs.doubt();

  const { id } = await farm.submit({ skipCache: true });

  expect(await work(script)).toBe(0);
  expect(await farm.states(id)).toEqual({ a: "succeeded" });
});

test("a job whose input cannot be restored fails, and names it", async () => {
  const script = commitScript();
  const { id } = await farm.submit();
  for (let times = 0; times < 3; times++) {
    await farm.prepare();
    const [leased] = await farm.claim(10_000);
    if (leased === undefined) throw new Error("nothing waits");
    await farm.queue.finish({
      lease: leased.lease,
      outcome: "failed",
      missingInputs: [script],
      message: `inputs are missing: ${script.hash}`,
    });
  }
  await farm.prepare();

  expect(await farm.claim(0)).toEqual([]);
  expect(await farm.states(id)).toEqual({ a: "failed" });
  expect((await jobDetail(db, id, "a"))?.runList[0]?.message).toContain(script.hash);
});
