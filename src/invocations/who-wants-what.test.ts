import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import {
  actionDigest,
  aQueue,
  aRequest,
  movableClock,
  silent,
} from "#execution/execution.fixture.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import type { Asking } from "./asking.ts";
import { executionsWantedByOperations } from "./operation.store.ts";
import { OperationId } from "./operation.ts";
import { operationService } from "./operation-service.ts";
import { anInvocation } from "./pages/invocation-rows.fixture.ts";
import { noteOperationEnds } from "./pages/operation-ends.store.ts";

const db = await freshDb();
afterAll(() => db.close());

const times = { graceMs: 60_000, renewEveryMs: 3_600_000 };
const asking: Asking = {
  project: "p",
  principal: "anyone",
  invocation: "i",
  correlatedId: "",
  toolName: "",
  toolVersion: "",
  targetId: "",
  actionMnemonic: "",
  configurationId: "",
};

/** An event of one action. `who`: the index of an open operation, modulo their number. */
type Step =
  | { readonly kind: "ask" | "want" | "cancel run" | "abandon all" }
  | { readonly kind: "cancel" | "cancel at once"; readonly who: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Step>({ kind: "ask" }, { kind: "want" }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: "cancel run" }, { kind: "abandon all" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("cancel" as const, "cancel at once" as const),
      who: fc.nat(),
    }),
  },
);

/** Two servers; a graph's run is a need in memory, which is read under the queue's lock like the real ones. */
async function twoServers() {
  const clock = movableClock();
  const runs = new Set<ExecutionId>();
  const open = async () => {
    const queue = await aQueue(db, {
      clock,
      hooks: {
        stillWanted: async (tx, ids) => [
          ...ids.filter((id) => runs.has(id)),
          ...(await executionsWantedByOperations(tx, ids)),
        ],
        async onFinished(tx, finished) {
          await noteOperationEnds(tx, finished);
          return undefined;
        },
      },
    });
    return { queue, service: await operationService({ db, queue, clock, logger: silent, times }) };
  };
  return { clock, runs, servers: [await open(), await open()] as const };
}

const { clock, runs, servers } = await twoServers();
afterAll(async () => {
  for (const { service, queue } of servers) {
    await service.stop();
    await queue.stop();
  }
});
const [first, second] = servers;

test("an execution goes on exactly as long as somebody wants it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      await db.script("truncate execution, operation cascade");
      runs.clear();
      const digest = actionDigest(randomUUID());
      let wanting: OperationId[] = [];
      let now: ExecutionId | undefined;

      for (const [i, each] of steps.entries()) {
        const { service, queue } = i % 2 === 0 ? first : second;
        switch (each.kind) {
          case "ask": {
            const id = OperationId.parse(randomUUID());
            const request = aRequest({ actionDigest: digest });
            const opened = await service.open({ id, asking, request });
            if (opened === "refused") throw new Error("nothing was cancelled");
            // A repeated request joins an execution that is still needed, and no other.
            const isWanted = wanting.length > 0 || (now !== undefined && runs.has(now));
            if ((opened.executionId === now) !== isWanted)
              throw new Error(`joined ${opened.executionId}; under way was ${now}`);
            now = opened.executionId;
            wanting.push(id);
            break;
          }
          case "want":
            if (now !== undefined && wanting.length > 0) runs.add(now);
            break;
          case "cancel run": {
            const id = now;
            if (id === undefined || !runs.delete(id)) break;
            (await queue.transaction((tx) => queue.cancel(tx, [id])))();
            break;
          }
          case "cancel": {
            const [who] = wanting.splice(each.who % Math.max(wanting.length, 1), 1);
            if (who !== undefined) await service.cancel(who);
            break;
          }
          case "cancel at once": {
            const two = wanting.splice(each.who % Math.max(wanting.length, 1), 2);
            await Promise.all(two.map((id, n) => (n === 0 ? first : second).service.cancel(id)));
            break;
          }
          case "abandon all":
            clock.pass(times.graceMs + times.renewEveryMs + 1);
            await Promise.all([first.service.sweep(), second.service.sweep()]);
            wanting = [];
            break;
        }
        if (now === undefined) continue;
        const [view] = await readExecutions(db, [now]);
        const isWanted = wanting.length > 0 || runs.has(now);
        expect(view?.state.kind).toBe(isWanted ? "queued" : "finished");
      }
    }),
    { numRuns: 40 },
  );
});

test("who joins while the last one leaves gets an execution that goes on", async () => {
  await db.script("truncate execution, operation cascade");
  runs.clear();
  const ask = async (
    { service }: (typeof servers)[number],
    digest: ReturnType<typeof actionDigest>,
  ) => {
    const id = OperationId.parse(randomUUID());
    const opened = await service.open({ id, asking, request: aRequest({ actionDigest: digest }) });
    if (opened === "refused") throw new Error("nothing was cancelled");
    return opened;
  };

  for (let round = 0; round < 30; round++) {
    const digest = actionDigest(randomUUID());
    const leaving = await ask(first, digest);
    const [joining] = await Promise.all([
      ask(round % 2 === 0 ? first : second, digest),
      first.service.cancel(leaving.id),
    ]);

    const [view] = await readExecutions(db, [joining.executionId]);
    expect(view?.state.kind).toBe("queued");
    await second.service.cancel(joining.id);
    const [after] = await readExecutions(db, [joining.executionId]);
    expect(after?.state.kind).toBe("finished");
  }
});

test("what is asked for a cancelled invocation is refused, and what travels with it is not", async () => {
  await db.script("truncate execution, operation, invocation cascade");
  for (const invocation of ["gone", "here"]) await anInvocation(db, invocation, { project: "p" });
  await db.run(sql`
    update invocation set cancelled_at = now(), cancelled_by = 'somebody' where id = 'gone'`);
  const requests = [aRequest(), aRequest()];

  const opened = await Promise.all(
    ["gone", "here"].map((invocation, i) =>
      first.service.open({
        id: OperationId.parse(randomUUID()),
        asking: { ...asking, invocation },
        request: requests[i] ?? aRequest(),
      }),
    ),
  );

  expect(opened).toEqual(["refused", expect.objectContaining({ executionId: requests[1]?.id })]);
  const views = await readExecutions(
    db,
    requests.map(({ id }) => id),
  );
  const stateOf = (nth: number) => views.find(({ id }) => id === requests[nth]?.id)?.state.kind;
  expect([stateOf(0), stateOf(1)]).toEqual(["finished", "queued"]);
});
