import type { ApiClient } from "../api/api-client.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { closingLines, resultLines } from "./closing-lines.ts";
import { type GraphView, transitions, viewOf, withDelta } from "./graph-view.ts";
import { noteMissingWorkers } from "./note-missing-workers.ts";
import { progressBlock } from "./progress-block.ts";
import { isPrintedState, transitionLine } from "./transition-line.ts";

/** Durations of running jobs also grow between events. */
const redrawMs = 200;

/**
 * Shows a graph until it ends, or until the signal is aborted; returns its last state.
 *
 * On a terminal it is one block that is redrawn; in a pipe, a line for each change. A job that no worker can run is
 * reported with what to do. At the end, `resultOnly` leaves out the commands that print logs.
 */
export async function watchGraph(
  { api, terminal }: { readonly api: ApiClient; readonly terminal: Pick<Terminal, "notes"> },
  id: string,
  signal: AbortSignal,
  { resultOnly = false }: { readonly resultOnly?: boolean } = {},
): Promise<GraphView> {
  const { notes } = terminal;
  const started = Date.now();
  let view = viewOf(await api.graph(id));
  const { block } = notes;
  const draw = () => {
    const space = { columns: notes.columns(), rows: notes.rows(), paint: notes.paint };
    block?.draw(progressBlock(view, new Date(), space));
  };
  const tell = (before: GraphView | undefined) => {
    if (block !== undefined) return draw();
    for (const job of transitions(before, view).filter(isPrintedState)) {
      notes.line(transitionLine(job, new Date(), notes.paint));
    }
  };
  tell(undefined);
  const timer = block === undefined ? undefined : setInterval(draw, redrawMs);
  const missing = noteMissingWorkers({ api, notes }, () => view);
  try {
    if (view.graph.state === "running") {
      for await (const delta of api.followGraph(view.graph.id, view.graph.version, signal)) {
        const before = view;
        view = withDelta(view, delta);
        tell(before);
      }
    }
  } finally {
    clearInterval(timer);
    missing.stop();
    block?.leave();
  }
  if (view.graph.state !== "running") {
    const end = view.graph.finishedAt === null ? Date.now() : Date.parse(view.graph.finishedAt);
    const ms = Math.max(0, end - Math.min(started, Date.parse(view.graph.createdAt)));
    const lines = resultOnly ? resultLines : closingLines;
    for (const line of lines(view, ms, notes.paint)) notes.line(line);
  }
  return view;
}
