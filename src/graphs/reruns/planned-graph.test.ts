import fc from "fast-check";
import { expect, test } from "vitest";
import { anyHistory, begin, happen } from "../advancing/any-history.fixture.ts";
import type { StoredGraph } from "../advancing/stored-graph.fixture.ts";
import type { GraphSnapshot } from "./graph-snapshot.ts";
import { planActivation, planDeactivation } from "./plan-activation.ts";
import { planRerun } from "./plan-rerun.ts";
import { planWaiver } from "./plan-waiver.ts";
import type { PlannedGraph } from "./planned-graph.ts";
import { snapshotOfStored } from "./snapshot-of-stored.fixture.ts";

type Verb = (graph: GraphSnapshot, jobs: ReadonlySet<string>, option: boolean) => PlannedGraph;

const verbs: Readonly<Record<string, Verb>> = {
  "retrigger alone": (graph, jobs, onlyStale) =>
    planRerun(graph, jobs, { mode: "alone", onlyStale, times: 1 }),
  "retrigger and revive": (graph, jobs, onlyStale) =>
    planRerun(graph, jobs, { mode: "revive", onlyStale, times: 1 }),
  "retrigger downstream": (graph, jobs, onlyStale) =>
    planRerun(graph, jobs, { mode: "downstream", onlyStale, times: 1 }),
  activate: planActivation,
  deactivate: planDeactivation,
  waive: (graph, jobs) => {
    const edge = graph.edges.find(
      ({ job, status, waived }) => jobs.has(job) && status !== "met" && !waived,
    );
    if (edge === undefined) return planDeactivation(graph, new Set());
    return planWaiver(graph, { job: edge.job, on: edge.on, undo: false });
  },
};

test.each(Object.entries(verbs))(
  "%s, after any history: the listed jobs run if all succeed, and no others",
  async (_, verb) => {
    await fc.assert(
      fc.asyncProperty(
        anyHistory,
        fc.boolean(),
        fc.array(fc.nat(11), { minLength: 1, maxLength: 4 }),
        async (history, option, targets) => {
          const [changed, unchanged] = [await begin(history), await begin(history)];
          for (const event of history.events) {
            await happen(changed, event);
            await happen(unchanged, event);
          }
          const names = [...changed.jobs.keys()];
          const jobs = new Set(targets.map((target) => names[target % names.length] ?? "j0"));
          const planned = verb(snapshotOfStored(changed), jobs, option);

          await apply(changed, planned);
          const ran = await runAll(changed);

          const expected = await runAll(unchanged);
          for (const { job, cause, does } of planned.jobs) {
            if (cause !== null) expected.add(job);
            else if (does === "is skipped" || does === "is set inactive") expected.delete(job);
          }
          const machines = (found: Iterable<string>) =>
            new Set([...found].filter((name) => changed.job(name).kind !== "join"));
          expect(machines(ran)).toEqual(machines(expected));
        },
      ),
      { numRuns: 1_000 },
    );
  },
);

async function apply(graph: StoredGraph, { intent }: PlannedGraph): Promise<void> {
  for (const key of intent.waivers.keys()) {
    const [job = "", on = ""] = key.split("\n");
    await graph.waive(job, on);
  }
  for (const [name, aside] of intent.setsAside) await graph.setAside(name, aside);
  for (const [name, cause] of intent.wants) await graph.want([name], cause);
}

/** Runs all runnable jobs successfully until none is left. Returns the jobs that ran. */
async function runAll(graph: StoredGraph): Promise<Set<string>> {
  const ran = new Set<string>();
  for (;;) {
    const next = [...graph.jobs.values()].find(
      ({ state }) =>
        state === "ready" || state === "queued" || state === "waiting" || state === "running",
    );
    if (next === undefined) return ran;
    ran.add(next.name);
    if (next.state === "ready") await graph.begin(next.name);
    await graph.end(next.name, "succeeded");
  }
}
