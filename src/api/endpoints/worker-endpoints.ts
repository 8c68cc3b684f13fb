import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import { AddDrain, Drain, RemoveDrain } from "../drain.ts";
import { bytes, endpoint, events, json } from "../endpoint.ts";
import { Worker } from "../worker.ts";
import { WorkerTimeline } from "../worker-timeline.ts";

/** A period until now, at most 7 days long. */
const period = z.object({
  minutes: z.coerce.number().int().min(1).max(10_080).default(60),
  limit: z.coerce.number().int().min(1).max(20_000).default(10_000),
});

/** Workers and drains. */
export const workerEndpoints = {
  workers: endpoint({
    method: "GET",
    path: "/workers",
    right: rightOnFarm("read"),
    summary:
      "`cpus` and `memoryBytes` are what a slot gives an action (null: all of the machine), `heldCount` is what it was handed and has not ended, `running` what of that has begun, `endingCount` what is over for the farm (cancelled, or given to another worker) and still takes a slot of it.",
    answer: json(z.array(Worker)),
  }),
  workerEvents: endpoint({
    method: "GET",
    path: "/workers/events",
    right: rightOnFarm("read"),
    summary: "The whole list of workers, each time that it changed.",
    answer: events(z.array(Worker)),
  }),
  workerTimeline: endpoint({
    method: "GET",
    path: "/workers/timeline",
    right: rightOnFarm("read"),
    summary:
      "What workers did in the last `minutes`, in columns: runs with the time in which they waited for inputs, and why slots were free between them. At most `limit` runs, the latest; then `isCut` is true.",
    query: period,
    limit: "searches",
    answer: json(WorkerTimeline),
  }),
  workerTrace: endpoint({
    method: "GET",
    path: "/workers/timeline/trace",
    right: rightOnFarm("read"),
    summary:
      "The same in the Trace Event Format, for Perfetto and Chrome's tracing page: a worker is a process, a slot is a thread.",
    query: period,
    limit: "searches",
    answer: bytes("application/json"),
  }),
  drains: endpoint({
    method: "GET",
    path: "/drains",
    right: rightOnFarm("read"),
    summary:
      "Which workers are to take nothing new, by patterns of their names, with reason and author.",
    answer: json(z.array(Drain)),
  }),
  addDrain: endpoint({
    method: "POST",
    path: "/drains",
    right: rightOnFarm("administer"),
    summary:
      "Drains workers: `*` in the pattern stands for any characters, and workers that come later are meant, too. The same pattern again changes its reason.",
    body: AddDrain,
    answer: json(z.array(Drain)),
  }),
  removeDrain: endpoint({
    method: "POST",
    path: "/drains/remove",
    right: rightOnFarm("administer"),
    summary: "Ends a drain; 404 when there is no such drain.",
    body: RemoveDrain,
    answer: json(z.array(Drain)),
  }),
} as const;
