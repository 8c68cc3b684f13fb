import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { withBenchDatabase } from "./bench-database.ts";
import { type TimedTransaction, timedDb } from "./timed-db.ts";

/** Measures the transaction, in milliseconds, in which a job ends and all its dependants become ready. */
export async function measureFanOut(dependents: number): Promise<number> {
  return (await fanOut(dependents)).ms;
}

/** Like `measureFanOut`, with its statements: the median of five. */
async function fanOut(dependents: number): Promise<TimedTransaction> {
  return withBenchDatabase(async (real) => {
    const db = timedDb(real);
    const farm = await farmOfGraphs(db);
    try {
      const took: TimedTransaction[] = [];
      for (let i = 0; i < 5; i++) {
        const jobs = Array.from(
          { length: dependents },
          (_, n) => `  job-${n}: {commands: echo ${n}, needs: [first]}`,
        );
        farm.repository.write({
          ".grange/jobs.yml": `version: 1\njobs:\n  first: {commands: echo ${randomUUID()}}\n${jobs.join("\n")}`,
        });
        farm.repository.commit(`Change ${i}`);
        const { id } = await farm.submit();
        await farm.prepare();
        const [held] = await farm.claim(5_000);
        if (held === undefined) throw new Error("the first job was not handed out");
        await farm.queue.started(held.lease, new Date());

        const before = db.transactions.length;
        await farm.queue.finish({
          lease: held.lease,
          outcome: "succeeded",
          exitCode: 0,
          result: toBinary(ActionResultSchema, create(ActionResultSchema, { exitCode: 0 })),
        });
        const [longest] = db.transactions.slice(before).toSorted((a, b) => b.ms - a.ms);
        const states = Object.values(await farm.states(id));
        const ready = states.filter((state) => state === "ready").length;
        if (longest === undefined || ready !== dependents)
          throw new Error(`${ready} of ${dependents} jobs are ready`);
        took.push(longest);
        // The next turn prepares only its own first job.
        await real.script(
          "update job set state = 'cancelled', wanted = null where state = 'ready'",
        );
      }
      const sorted = took.toSorted((a, b) => a.ms - b.ms);
      const middle = sorted[2];
      if (middle === undefined) throw new Error("nothing was measured");
      return middle;
    } finally {
      await farm.stop();
    }
  });
}

/** `npx tsx bench/fan-out.ts` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { ms, statements } = await fanOut(1_000);
  process.stdout.write(`one job finishes with 1,000 dependents: ${ms.toFixed(1)} ms\n`);
  for (const { what, ms: each } of statements.toSorted((a, b) => b.ms - a.ms).slice(0, 8))
    process.stdout.write(`  ${each.toFixed(1).padStart(7)} ms  ${what}\n`);
  const inStatements = statements.reduce((sum, each) => sum + each.ms, 0);
  process.stdout.write(`  ${(ms - inStatements).toFixed(1).padStart(7)} ms  outside statements\n`);
}
