import { useEffect, useMemo, useState } from "react";
import { criticalPath } from "#api/critical-path.ts";
import type { Graph, JobSummary } from "#api/graph.ts";
import { BlockBox, JobBox } from "./dag-boxes.tsx";
import { edgePath } from "./edge-path.ts";
import { HoveredJob } from "./hovered-job.tsx";
import { jobAt } from "./job-at.ts";
import { type DrawnGraph, useLayout } from "./use-layout.ts";
import { usePanZoom } from "./use-pan-zoom.ts";
import "./dag.css";

interface Props {
  readonly graph: Graph;
  /** The jobs that match the filter; the others are dimmed, because a graph without them would look different. */
  readonly shown: readonly JobSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (job: string) => void;
}

const endOfTime = Number.MAX_SAFE_INTEGER;

/** A graph's jobs and their dependencies, from left to right. */
export function Dag(props: Props) {
  const drawn = useLayout(props.graph.jobList, props.graph.edges);
  if (drawn === undefined)
    return <p className="faint center">Laying out {props.graph.jobs} jobs…</p>;
  return <Drawing {...props} drawn={drawn} />;
}

function Drawing({
  graph,
  shown,
  selected,
  onSelect,
  drawn: { boxes, layout },
}: Props & { drawn: DrawnGraph }) {
  const { frame, content, fitAll, zoomBy, bringIntoView, handlers } = usePanZoom(layout);
  const [hovered, setHovered] = useState<string>();

  const boxOf = useMemo(
    () =>
      new Map(
        boxes.boxes.flatMap((box, at) =>
          box.jobs.map((job) => [graph.jobList[job]?.name, at] as const),
        ),
      ),
    [boxes, graph.jobList],
  );
  // The jobs on the critical path do not depend on the time: a running job counts as the last.
  const critical = useMemo(
    () => new Set(criticalPath(graph.jobList, graph.edges, endOfTime).map(({ job }) => job)),
    [graph.jobList, graph.edges],
  );
  const criticalBoxes = useMemo(
    () => new Set([...critical].map((name) => boxOf.get(name))),
    [critical, boxOf],
  );
  const dimmed = useMemo(() => {
    if (shown.length === graph.jobList.length) return undefined;
    const kept = new Set(shown.map((job) => job.name));
    return new Set(graph.jobList.map((job) => job.name).filter((name) => !kept.has(name)));
  }, [shown, graph.jobList]);
  // All boxes have the same width.
  const boxWidth = boxes.boxes[0]?.width ?? 0;
  const paths = useMemo(
    () => layout.routes.map((route) => edgePath(route, boxWidth / 2)),
    [layout, boxWidth],
  );
  const near = boxOf.get(hovered ?? selected);

  useEffect(() => {
    const at = boxOf.get(selected);
    if (at !== undefined) bringIntoView({ x: layout.x[at] ?? 0, y: layout.y[at] ?? 0 });
  }, [selected, boxOf, layout, bringIntoView]);

  const edgeClass = ([from, to]: readonly [number, number]) => {
    const names = ["edge"];
    if (criticalBoxes.has(from) && criticalBoxes.has(to)) names.push("critical");
    if (from === near || to === near) names.push("near");
    return names.join(" ");
  };

  return (
    <div className="dag">
      <svg
        ref={frame}
        role="group"
        aria-label="The graph's jobs"
        {...handlers}
        onClick={(event) => {
          const job = jobAt(event);
          if (job !== undefined) onSelect(job);
        }}
        onPointerOver={(event) => setHovered(jobAt(event))}
        onPointerLeave={() => setHovered(undefined)}
        onFocus={(event) => setHovered(jobAt(event))}
        onBlur={() => setHovered(undefined)}
      >
        <g ref={content}>
          {boxes.edges.map((edge, at) => (
            <path key={`${edge[0]} ${edge[1]}`} d={paths[at]} className={edgeClass(edge)} />
          ))}
          {boxes.boxes.map((box, at) => {
            const left = (layout.x[at] ?? 0) - box.width / 2;
            const top = (layout.y[at] ?? 0) - box.height / 2;
            const only = graph.jobList[box.jobs[0] ?? 0];
            if (only === undefined) return null;
            return box.jobs.length === 1 ? (
              <JobBox
                key={box.name}
                job={only}
                width={box.width}
                left={left}
                top={top}
                selected={only.name === selected}
                critical={critical.has(only.name)}
                dimmed={dimmed?.has(only.name) ?? false}
                onSelect={onSelect}
              />
            ) : (
              <BlockBox
                key={box.name}
                box={box}
                jobs={graph.jobList}
                left={left}
                top={top}
                selected={near === at ? selected : undefined}
                critical={criticalBoxes.has(at)}
                dimmed={dimmed}
              />
            );
          })}
        </g>
      </svg>
      <HoveredJob job={graph.jobList.find((job) => job.name === hovered)} />
      <div className="dag-tools" role="group" aria-label="Zoom">
        <button type="button" aria-label="Smaller" onClick={() => zoomBy(1 / 1.3)}>
          −
        </button>
        <button type="button" onClick={fitAll}>
          Fit
        </button>
        <button type="button" aria-label="Larger" onClick={() => zoomBy(1.3)}>
          +
        </button>
      </div>
      <p className="dag-legend faint">
        <span className="legend-critical" /> critical path
      </p>
    </div>
  );
}
