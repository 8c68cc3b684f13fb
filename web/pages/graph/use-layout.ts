import { useEffect, useMemo, useState } from "react";
import type { Edge, JobSummary } from "#api/graph.ts";
import { type Boxes, boxesOf } from "./boxes.ts";
import type { Drawing, Layout } from "./layers.ts";
import { asideWidth, nameWidth } from "./text-width.ts";

export interface DrawnGraph {
  readonly boxes: Boxes;
  readonly layout: Layout;
}

const retryMs = 2_000;

/**
 * Returns the graph's boxes and their positions; undefined while they are computed.
 *
 * Depends only on names and edges: a job that changes its state moves nothing.
 */
export function useLayout(
  jobs: readonly JobSummary[],
  edges: readonly Edge[],
): DrawnGraph | undefined {
  const names = jobs.map((job) => job.name).join("\n");
  // Names represent the jobs.
  const boxes = useMemo(
    () => boxesOf(jobs, edges, { name: nameWidth, aside: asideWidth }),
    // oxlint-disable-next-line react/exhaustive-deps
    [names, edges],
  );
  const [drawn, setDrawn] = useState<DrawnGraph>();

  useEffect(() => {
    let worker: Worker | undefined;
    let again: number | undefined;
    const start = () => {
      worker = new Worker(new URL("./lay-out.worker.ts", import.meta.url), { type: "module" });
      worker.onmessage = (event: MessageEvent<Layout>) => {
        setDrawn({ boxes, layout: event.data });
        worker?.terminate();
      };
      // Its script did not arrive: the connection was lost.
      worker.onerror = () => {
        again = window.setTimeout(start, retryMs);
      };
      const drawing: Drawing = {
        sizes: boxes.boxes.map(({ width, height }) => ({ width, height })),
        edges: boxes.edges,
      };
      worker.postMessage(drawing);
    };
    start();
    return () => {
      window.clearTimeout(again);
      worker?.terminate();
    };
  }, [boxes]);

  return drawn;
}
