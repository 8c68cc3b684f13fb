import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import type { JobState } from "#api/job-state.ts";
import { messageOf } from "#core/fault.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import type { GraphId } from "../graph-id.ts";
import { failing, farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const jobs = [
  "  first: {commands: 'run-first # MARK'}",
  "  x: {commands: 'run-x # MARK', needs: [first]}",
].join("\n");

/** Brings job `x`, which needs `first`, into a state, in the usual way. */
const bring: Readonly<Record<string, (id: GraphId) => Promise<unknown>>> = {
  blocked: async () => {},
  unreachable: () => farm.work(failing("run-first")),
  inactive: (id) => farm.deactivate(id, { jobs: ["x"] }),
  ready: (id) => farm.waive(id, { job: "x", on: "first", reason: "a test" }),
  queued: async (id) => {
    await bring.ready?.(id);
    await farm.prepare();
  },
  running: async (id) => {
    await bring.queued?.(id);
    for (const { lease } of await farm.claim(10_000)) await farm.queue.started(lease, new Date());
  },
  succeeded: () => farm.work(),
  failed: () => farm.work(failing("run-x")),
  cancelled: (id) => cancelGraph(db, farm.queue, everybody, id),
  expired: (id) => setAside(id, "expired", "expired-bad"),
  coalesced: (id) => setAside(id, "coalesced", "coalesced"),
};

function setAside(id: GraphId, state: JobState, aside: string) {
  return db.script(`
    update job
    set state = '${state}', wanted = null, set_aside = '${aside}',
        coalesced_graph = case when '${aside}' = 'coalesced' then graph_id end,
        coalesced_job = case when '${aside}' = 'coalesced' then 'first' end
    where graph_id = '${id}' and name = 'x';
    update graph set counts = '{"ready": 1, "${state}": 1}' where id = '${id}'
  `);
}

/** The requests of users for job `x`. */
const verbs = {
  retrigger: (id: GraphId) => farm.again(id, { jobs: ["x"] }),
  activate: (id: GraphId) => farm.activate(id, { jobs: ["x"] }),
  deactivate: (id: GraphId) => farm.deactivate(id, { jobs: ["x"] }),
  customise: (id: GraphId) => farm.customise(id, { job: "x", patch: { timeout: "2h" } }),
  "cancel x": (id: GraphId) => cancelGraph(db, farm.queue, everybody, id, ["x"]),
};

const asIs = "it is going to run anyway";

describe.each<{
  state: JobState;
  becomes: Readonly<Record<keyof typeof verbs, string>>;
}>([
  {
    state: "blocked",
    becomes: {
      retrigger: `blocked: ${asIs}`,
      activate: `blocked: ${asIs}`,
      deactivate: "inactive",
      customise: "blocked",
      "cancel x": "cancelled",
    },
  },
  {
    state: "unreachable",
    becomes: {
      retrigger:
        "unreachable: it needs first, which blocks it; request that as well, or waive the edge",
      activate:
        "unreachable: it needs first, which blocks it; request that as well, or waive the edge",
      deactivate: "inactive",
      customise: "unreachable",
      "cancel x": "unreachable",
    },
  },
  {
    state: "inactive",
    becomes: {
      retrigger: "blocked",
      activate: "blocked",
      deactivate: "inactive: it is not active",
      customise: "inactive",
      "cancel x": "inactive",
    },
  },
  {
    state: "ready",
    becomes: {
      retrigger: `ready: ${asIs}`,
      activate: `ready: ${asIs}`,
      deactivate: "inactive",
      customise: "ready",
      "cancel x": "cancelled",
    },
  },
  {
    state: "queued",
    becomes: {
      retrigger: "queued: its run is in the queue already",
      activate: "queued: its run is in the queue already",
      deactivate: "queued: its run is in the queue already",
      customise: "x is queued: cancel it, and customise it together with a retrigger",
      "cancel x": "cancelled",
    },
  },
  {
    state: "running",
    becomes: {
      retrigger: "running: it is running already",
      activate: "running: it is running already",
      deactivate: "running: it is running already",
      customise: "x is running: cancel it, and customise it together with a retrigger",
      "cancel x": "running",
    },
  },
  {
    state: "succeeded",
    becomes: {
      retrigger: "ready",
      activate: "succeeded: it has succeeded already",
      deactivate: "succeeded: it has succeeded already",
      customise: "x has run already: customise it together with a retrigger",
      "cancel x": "succeeded",
    },
  },
  {
    state: "failed",
    becomes: {
      retrigger: "ready",
      activate: "failed: it has failed already",
      deactivate: "failed: it has failed already",
      customise: "x has run already: customise it together with a retrigger",
      "cancel x": "failed",
    },
  },
  {
    state: "cancelled",
    becomes: {
      retrigger:
        "cancelled: it needs first, which blocks it; request that as well, or waive the edge",
      activate:
        "cancelled: it needs first, which blocks it; request that as well, or waive the edge",
      deactivate: "cancelled: it was cancelled",
      customise: "cancelled",
      "cancel x": "cancelled",
    },
  },
  {
    state: "expired",
    becomes: {
      retrigger: "blocked",
      activate: "blocked",
      deactivate: "expired: it waited too long",
      customise: "expired",
      "cancel x": "expired",
    },
  },
  {
    state: "coalesced",
    becomes: {
      retrigger: "blocked",
      activate: "blocked",
      deactivate: "coalesced: the run of another commit's job gives its result",
      customise: "coalesced",
      "cancel x": "coalesced",
    },
  },
])("a job that is $state", ({ state, becomes }) => {
  test.each(Object.entries(verbs).map(([verb, act]) => ({ verb, act })))(
    "asked to $verb",
    async ({ verb, act }) => {
      const id = await farm.graphOf(jobs);
      await bring[state]?.(id);
      expect((await farm.states(id)).x).toBe(state);

      const answer = await act(id).catch(messageOf);

      expect(await said(id, answer)).toBe(becomes[verb as keyof typeof verbs]);
      // Removes executions from the queue for the next test.
      await cancelGraph(db, farm.queue, everybody, id);
    },
  );
});

test("a job that is being cancelled cannot be retriggered yet, with the reason; a later request gets a run", async () => {
  const id = await farm.graphOf(jobs);
  await farm.prepare();
  const leased = await farm.claim(10_000);
  for (const { lease } of leased) await farm.queue.started(lease, new Date());
  await cancelGraph(db, farm.queue, everybody, id);

  const early = await farm.again(id, { jobs: ["first"] });
  for (const { lease } of leased) await farm.queue.finish({ lease, outcome: "cancelled" });
  await farm.again(id, { jobs: ["first"] });

  expect(early?.jobs).toMatchObject([
    { does: "is left alone", why: "it is being cancelled; try again after its end" },
  ]);
  expect(await farm.states(id)).toEqual({ first: "ready", x: "cancelled" });
  expect((await farm.graph(id)).state).toBe("running");
  await cancelGraph(db, farm.queue, everybody, id);
});

/** Returns the job's state after a verb, and why it was left alone; or why the verb was refused. */
async function said(id: GraphId, answer: unknown): Promise<string> {
  if (typeof answer === "string") return answer;
  const { x = "" } = await farm.states(id);
  const planned = (answer as { jobs?: readonly { job: string; does: string; why: string }[] })
    ?.jobs;
  const left = planned?.find(({ job, does }) => job === "x" && does === "is left alone");
  return left === undefined ? x : `${x}: ${left.why}`;
}
