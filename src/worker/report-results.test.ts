import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import {
  type Finished,
  FinishedSchema,
  type FinishRequest,
  FinishResponse_Verdict,
  FinishResponseSchema,
  Outcome,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { ResultReporter } from "./report-results.ts";
import { leaseKey, Spool } from "./spool.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-report-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

function result(executionId: string, outputs = 1): Finished {
  return create(FinishedSchema, {
    lease: { executionId, attempt: 1, epoch: 1n },
    outcome: Outcome.SUCCEEDED,
    result: {
      outputFiles: Array.from({ length: outputs }, (_, i) => ({
        path: `${"long/".repeat(20)}${i}`,
        digest: { hash: "a".repeat(64), sizeBytes: 1n },
      })),
    },
  });
}

/** A farm that refuses every result of one execution, together with all others in the call; or one that fails on it. */
async function reporterTo(
  refused: string,
  fault = new Fault("invalid_argument", "an output path is illegal"),
) {
  const taken: Finished[] = [];
  const farm: Pick<FarmConnection, "finish"> = {
    async finish(request: FinishRequest) {
      const bad = request.finished.some(
        ({ lease, result }) => lease?.executionId === refused && result !== undefined,
      );
      if (bad) throw fault;
      taken.push(...request.finished);
      return create(FinishResponseSchema, {
        verdicts: request.finished.map(() => FinishResponse_Verdict.PUBLISHED),
      });
    },
  };
  const spool = await Spool.open(dir, refused);
  const identity = { workerName: "w", instanceId: "i" };
  const reporter = new ResultReporter(
    farm as FarmConnection,
    identity,
    spool,
    pino({ level: "silent" }),
  );
  return { reporter, taken, spool };
}

test("a permanently rejected result becomes a failure with the reason, and blocks no other", async () => {
  const { reporter, taken } = await reporterTo("bad");

  const answers = await Promise.all(
    ["good-1", "bad", "good-2"].map((id) => reporter.deliver(result(id))),
  );

  expect(answers).toEqual(["published", "published", "published"]);
  expect(taken.find(({ lease }) => lease?.executionId === "bad")).toMatchObject({
    outcome: Outcome.FAILED,
    message: "the farm could not take its result: an output path is illegal",
  });
});

test("a result on which the farm fails is kept, and blocks no other", async () => {
  const { reporter, taken } = await reporterTo("bad", new Fault("internal", "it stumbled"));
  const bad = reporter.deliver(result("bad"));
  const others = Array.from({ length: 100 }, (_, i) => `good-${i}`);

  const answers = await Promise.all(others.map((id) => reporter.deliver(result(id))));
  reporter.stop();

  expect(new Set(answers)).toEqual(new Set(["published"]));
  expect(taken).toHaveLength(100);
  expect(await bad).toBe("kept");
});

test("a result that is too large for a message becomes a failure with advice", async () => {
  const { reporter, taken } = await reporterTo("nobody");

  await reporter.deliver(result("large", 30_000));

  expect(taken[0]?.outcome).toBe(Outcome.FAILED);
  expect(taken[0]?.message).toMatch(/\d+ bytes; name fewer outputs, or a directory/);
});

test("a result whose file cannot be removed is still delivered", async () => {
  const { reporter } = await reporterTo("nobody");
  const stuck = result("stuck");
  // A directory in the file's place: not even root can remove it as a file.
  await mkdir(join(dir, "spool", "nobody", leaseKey(stuck.lease)));

  const answers = await Promise.all([stuck, result("next")].map((one) => reporter.deliver(one)));

  expect(answers).toEqual(["published", "published"]);
});

test.each([
  { farm: "answers", isStopped: false, isGone: false, left: [] },
  { farm: "is not there", isStopped: false, isGone: true, left: ["e"] },
  { farm: "is not asked any more", isStopped: true, isGone: false, left: ["e"] },
])(
  "what is delivered and kept at once is on disk as long as it has to be: the farm $farm",
  async ({ farm, isStopped, isGone, left }) => {
    const fault = new Fault("unavailable", "nobody is there");
    const { reporter, spool } = await reporterTo(isGone ? "e" : `nobody, ${farm}`, fault);
    if (isStopped) reporter.stop();

    const delivered = reporter.deliverAndKeep(result("e"));

    const kept = async () => (await spool.left()).results.map(({ lease }) => lease?.executionId);
    if (!isGone) await delivered;
    await expect.poll(kept).toEqual(left);
    reporter.stop();
    await delivered;
    expect(await kept()).toEqual(left);
  },
);
