import { randomUUID } from "node:crypto";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { systemClock } from "#core/clock.ts";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { aRequest } from "#execution/execution.fixture.ts";
import { cancelGraph } from "#graphs/cancel-graph.ts";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { OperationId } from "#invocations/operation.ts";
import { type OperationService, operationService } from "#invocations/operation-service.ts";
import { freshDb } from "../../test/support/fresh-db.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let service: OperationService;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  const logger = pino({ level: "silent" });
  service = await operationService({ db, queue: farm.queue, clock: systemClock, logger });
});
afterAll(async () => {
  await service.stop();
  await farm.stop();
  await db.close();
});

/** A graph whose one job waits for a worker, and an operation of a client that wants the same action. */
async function sharedExecution() {
  const jobs = `  a: {commands: "shared # ${randomUUID()}"}`;
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n` });
  farm.repository.commit("Change");
  const { id } = await farm.submit();
  await farm.prepare();
  const Row = z.object({
    project: z.string(),
    domain: TrustDomain,
    digest: z.string().transform(parseDigestKey),
  });
  const [row] = await db.many(
    Row,
    sql`
      select project, domain, action_digest as digest from execution where state <> 'finished'
    `,
  );
  if (row === undefined) throw new Error("nothing is queued");
  const { project, domain, digest } = row;
  const operation = await service.open({
    id: OperationId.parse(randomUUID()),
    request: aRequest({ project, domain, actionDigest: digest }),
    asking: {
      project,
      principal: "anyone",
      invocation: "i",
      correlatedId: "",
      toolName: "",
      toolVersion: "",
      targetId: "",
      actionMnemonic: "",
      configurationId: "",
    },
  });
  if (operation === "refused") throw new Error("nothing was cancelled");
  return { graph: id, operation };
}

/** Returns how an operation ended, for a client that reconnects. */
async function endOf({
  id,
  executionId,
}: Awaited<ReturnType<typeof sharedExecution>>["operation"]) {
  let last = "";
  for await (const news of service.follow({ id, executionId }, AbortSignal.timeout(10_000)))
    last = news.kind === "cancelled" ? "cancelled" : (news.view.finished?.outcome ?? "");
  return last;
}

test("a graph that is cancelled ends, and its execution goes on for a client that joined it", async () => {
  const { graph, operation } = await sharedExecution();

  await cancelGraph(db, farm.queue, everybody, graph);
  const states = await farm.states(graph);
  const scripts = await farm.work();

  expect(states).toEqual({ a: "cancelled" });
  expect(scripts).toHaveLength(1);
  expect(await endOf(operation)).toBe("succeeded");
});

test("an operation that is cancelled ends, and its execution goes on for a graph", async () => {
  const { graph, operation } = await sharedExecution();

  await service.cancel(operation.id);
  const end = await endOf(operation);
  await farm.work();

  expect(end).toBe("cancelled");
  expect(await farm.states(graph)).toEqual({ a: "succeeded" });
});

test.each(["the graph", "the client"])(
  "when both are cancelled, %s first, nothing is left to execute",
  async (first) => {
    const { graph, operation } = await sharedExecution();
    const cancels = [
      () => cancelGraph(db, farm.queue, everybody, graph),
      () => service.cancel(operation.id),
    ];

    for (const cancel of first === "the graph" ? cancels : cancels.toReversed()) await cancel();

    expect(await farm.work()).toEqual([]);
    expect(await farm.states(graph)).toEqual({ a: "cancelled" });
    expect(await endOf(operation)).toBe("cancelled");
  },
);
