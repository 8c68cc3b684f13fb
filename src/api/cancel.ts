import { z } from "zod";
import { GraphSummary, JobSummary } from "./graph.ts";
import { InvocationDetail } from "./invocation.ts";

/** A process that may still start, because its worker did not confirm the cancellation in time. */
export const UnconfirmedRun = z.object({ job: z.string(), worker: z.string() });
export type UnconfirmedRun = z.infer<typeof UnconfirmedRun>;

const UnconfirmedExecution = z.object({ execution: z.string(), worker: z.string() });
type UnconfirmedExecution = z.infer<typeof UnconfirmedExecution>;

/** If `unconfirmed` is empty, no cancelled process can still start. */
export const CancelledGraph = GraphSummary.extend({
  unconfirmed: z.array(UnconfirmedRun).default([]),
}).meta({ id: "CancelledGraph" });
export type CancelledGraph = z.infer<typeof CancelledGraph>;

export const CancelledJob = JobSummary.extend({
  unconfirmed: z.array(UnconfirmedRun).default([]),
}).meta({ id: "CancelledJob" });
export type CancelledJob = z.infer<typeof CancelledJob>;

export const CancelledInvocation = InvocationDetail.extend({
  unconfirmed: z.array(UnconfirmedExecution).default([]),
}).meta({ id: "CancelledInvocation" });
export type CancelledInvocation = z.infer<typeof CancelledInvocation>;
