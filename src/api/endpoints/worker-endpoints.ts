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
      "`cpus` and `memoryBytes` are what a slot gives an action (null: all of the machine), `heldCount` is the number of unfinished jobs that it has received, `running` those of them that have started, `endingCount` the number that the farm regards as ended (cancelled, or given to another worker) but that still use a slot.",
    answer: json(z.array(Worker)),
  }),
  workerEvents: endpoint({
    method: "GET",
    path: "/workers/events",
    right: rightOnFarm("read"),
    summary: "The whole list of workers, after each change.",
    answer: events(z.array(Worker)),
  }),
  workerTimeline: endpoint({
    method: "GET",
    path: "/workers/timeline",
    right: rightOnFarm("read"),
    mayLag: true,
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
    mayLag: true,
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
    summary: "Drained workers, by patterns of names, with reason and author.",
    answer: json(z.array(Drain)),
  }),
  addDrain: endpoint({
    method: "POST",
    path: "/drains",
    right: rightOnFarm("administer"),
    summary:
      "Drains workers, also workers that start later. `*` in the pattern stands for any characters. The same pattern again changes the reason.",
    body: AddDrain,
    answer: json(z.array(Drain)),
  }),
  removeDrain: endpoint({
    method: "POST",
    path: "/drains/remove",
    right: rightOnFarm("administer"),
    summary: "Ends a drain; 404 if there is no such drain.",
    body: RemoveDrain,
    answer: json(z.array(Drain)),
  }),
} as const;
