import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { everybody, type Principal } from "#access/principal.ts";
import { Activate, Clone, Customise, Deactivate, Release, Retrigger, Waive } from "#api/rerun.ts";
import type { Db } from "#db/db.ts";
import type { GraphId } from "../graph-id.ts";
import { wholeGraph } from "../graph-page.store.ts";
import { jobDetail, runsOf } from "../job-detail.store.ts";
import { farmOfKinds } from "../kinds/farm-of-kinds.fixture.ts";
import { activate, deactivate } from "./activate.ts";
import { cloneGraph } from "./clone-graph.ts";
import { customise } from "./customise.ts";
import { planToday } from "./plan-today.ts";
import { release } from "./release.ts";
import { retrigger } from "./retrigger.ts";
import { waive } from "./waive.ts";

/** Returns a farm with the operations that users have on graphs, as the endpoints call them. */
export async function farmOfReruns(db: Db) {
  const farm = await farmOfKinds(db);
  const services = { db, pricePerWorkerMinute: 0.5 };
  const cloning = { db, planToday: planToday(farm.submission) };
  return {
    ...farm,
    /** Submits jobs, as YAML lines indented by two. `MARK` is new each time, so no result is known before. */
    async graphOf(jobs: string): Promise<GraphId> {
      const marked = jobs.replaceAll("MARK", randomUUID());
      farm.repository.write({
        ".grange/jobs.yml": `version: 1\njobs:\n${marked}\n# ${randomUUID()}`,
      });
      farm.repository.commit("Change");
      return (await farm.submit()).id;
    },
    again: (id: GraphId, asked: z.input<typeof Retrigger>, by: Principal = everybody, on = db) =>
      retrigger({ ...services, db: on }, id, Retrigger.parse(asked), by),
    activate: (id: GraphId, asked: z.input<typeof Activate>) =>
      activate(services, id, Activate.parse(asked), everybody),
    deactivate: (id: GraphId, asked: z.input<typeof Deactivate>) =>
      deactivate(services, id, Deactivate.parse(asked), everybody),
    waive: (id: GraphId, asked: z.input<typeof Waive>) =>
      waive(services, id, Waive.parse(asked), everybody),
    release: (id: GraphId, asked: z.input<typeof Release>, by: Principal = everybody) =>
      release(db, id, Release.parse(asked), by),
    customise: (id: GraphId, asked: z.input<typeof Customise>, by: Principal = everybody) =>
      customise(services, id, Customise.parse(asked), by),
    clone: (id: GraphId, asked: z.input<typeof Clone> = {}, by: Principal = everybody) =>
      cloneGraph(cloning, id, Clone.parse(asked), by),
    async job(id: GraphId, name: string) {
      const detail = await jobDetail(db, id, name);
      if (detail === undefined) throw new RangeError(`${name} of ${id}`);
      return detail;
    },
    async graph(id: GraphId) {
      const graph = await wholeGraph(db, id);
      if (graph === undefined) throw new RangeError(id);
      return graph;
    },
    async causes(id: GraphId, job: string): Promise<string[]> {
      return (await runsOf(db, id, job)).map(({ cause }) => cause).toReversed();
    },
  };
}

/** Answers with exit code 1 when the script contains one of these words. */
export function failing(...words: readonly string[]) {
  return (script: string) => ({ exitCode: words.some((word) => script.includes(word)) ? 1 : 0 });
}
