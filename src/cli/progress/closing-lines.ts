import { criticalPath } from "#api/critical-path.ts";
import type { GraphState } from "#api/job-state.ts";
import { durationText } from "#core/duration-text.ts";
import type { Paint } from "../terminal/paint.ts";
import type { GraphView } from "./graph-view.ts";
import { totalsOf, totalsText } from "./totals.ts";

const words: Record<GraphState, readonly [text: string, colour: keyof Paint]> = {
  running: ["still running", "cyan"],
  succeeded: ["succeeded", "green"],
  failed: ["failed", "red"],
  cancelled: ["cancelled", "yellow"],
};

/** Returns the lines at the end of a graph: its result, the longest jobs, and the commands that print logs of failed jobs. */
export function closingLines(view: GraphView, ms: number, paint: Paint): string[] {
  return [...resultLines(view, ms, paint), ...logCommands(view)];
}

/** Returns the result of a graph, and its longest jobs. */
export function resultLines(view: GraphView, ms: number, paint: Paint): string[] {
  const [text, colour] = words[view.graph.state];
  const steps = criticalPath(view.jobs.values(), view.edges, Date.now()).filter(
    (step) => step.ms >= 1,
  );
  const path = steps.map(({ job, ms: stepMs }) => `${job} ${paint.dim(durationText(stepMs))}`);
  return [
    `${paint[colour](`Graph ${text}`)} in ${durationText(ms)}: ${totalsText(totalsOf(view))}`,
    ...(path.length > 1 ? [`Critical path: ${path.join(" → ")}`] : []),
  ];
}

function logCommands({ graph, jobs }: GraphView): string[] {
  return [...jobs.values()]
    .filter((job) => job.state === "failed")
    .slice(0, 5)
    .map((job) => `To see the log: grange logs ${graph.id.slice(0, 8)} ${job.name}`);
}
