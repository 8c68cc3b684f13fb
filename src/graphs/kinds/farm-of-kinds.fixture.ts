import { randomUUID } from "node:crypto";
import type { Db } from "#db/db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import type { GraphId } from "../graph-id.ts";
import { prepareReadyJobs } from "../graph-runner.ts";
import { jobDetail } from "../job-detail.store.ts";
import { childGraphTasks, chunkTasks, serverJobTasks } from "./serve-server-jobs.ts";
import { nextDue } from "./server-job.store.ts";
import { Webhooks } from "./webhooks.ts";

/** Returns a farm without workers whose time only advances when a test requests it. */
export async function farmOfKinds(db: Db, webhooks = new Webhooks([])) {
  const farm = await farmOfGraphs(db);
  let now = new Date();
  const services = { ...farm.parts, ...farm.submission, webhooks, queue: farm.queue };
  const tasks = [
    ...serverJobTasks(services),
    ...childGraphTasks(services),
    ...chunkTasks(services),
  ];
  /** Does all work that is possible without advancing the time. */
  const settle = async () => {
    for (let did = 1; did > 0; ) {
      did = await prepareReadyJobs(farm.parts);
      for (const task of tasks) did += await task.run(now);
      if (did > 0) continue;
      // The queue uses the real time, and so does the work that follows its executions.
      const due = await nextDue(db);
      if (due !== undefined && due > now && due <= new Date()) {
        now = new Date();
        did = 1;
      }
    }
  };
  return {
    ...farm,
    services,
    now: () => now,
    settle,
    /** Commits jobs, as YAML lines indented by two, and submits their graph. */
    async submitJobs(jobs: string) {
      farm.repository.write({
        ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}`,
      });
      farm.repository.commit("Change");
      const { id } = await farm.submit();
      await settle();
      return id;
    },
    /** Like `work`, with all of the farm's work in between; returns the scripts that were run. */
    async workAll(answer?: Parameters<typeof farm.work>[0]) {
      const scripts: string[] = [];
      for (;;) {
        await settle();
        const ran = await farm.work(answer);
        if (ran.length === 0) return scripts;
        scripts.push(...ran);
      }
    },
    /**
     * Advances the time until something is due, and does the due work. Returns the elapsed time in
     * ms.
     */
    async untilNextDue() {
      const due = await nextDue(db);
      const ms = due === undefined ? Number.POSITIVE_INFINITY : due.getTime() - now.getTime();
      if (due !== undefined && due > now) now = due;
      await settle();
      return ms;
    },
    async runs(id: GraphId, job: string) {
      return (await jobDetail(db, id, job))?.runList ?? [];
    },
  };
}
