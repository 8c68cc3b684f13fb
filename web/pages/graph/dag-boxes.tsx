import { memo, useMemo } from "react";
import type { JobSummary } from "#api/graph.ts";
import { durationText, elapsedMs } from "../../parts/duration.ts";
import { useNow } from "../../parts/now.ts";
import { stateWords } from "../../parts/state-words.ts";
import {
  asideGap,
  asideRoom,
  type Box,
  blockHead,
  blockPadding,
  boxHeight,
  boxPadding,
  cellsPerRow,
  nameLeft,
} from "./boxes.ts";
import { Cells } from "./cells.tsx";
import { fitText } from "./fit-text.ts";
import { asideWidth, nameWidth } from "./text-width.ts";

interface JobProps {
  readonly job: JobSummary;
  readonly width: number;
  readonly left: number;
  readonly top: number;
  readonly selected: boolean;
  readonly critical: boolean;
  readonly dimmed: boolean;
  readonly onSelect: (job: string) => void;
}

/** Drawn again only when its own job changes, not when another job does. */
export const JobBox = memo(function JobBox({
  job,
  width,
  left,
  top,
  selected,
  critical,
  dimmed,
  onSelect,
}: JobProps) {
  const classes = ["box", `is-${job.state}`];
  if (selected) classes.push("selected");
  if (critical) classes.push("critical");
  if (dimmed) classes.push("dimmed");
  const end = width - boxPadding;
  const hasAside = job.cached || job.startedAt !== null;
  const room = (hasAside ? width - asideRoom(asideWidth) : end) - nameLeft;
  const reason = job.reason === null ? "" : `, ${job.reason}`;
  const shown = fitText(job.name, room, nameWidth);
  // Voice control needs the visible text in the name of a button.
  const name = shown === job.name ? shown : `${shown}: ${job.name}`;
  return (
    <g className={classes.join(" ")} data-job={job.name} transform={`translate(${left} ${top})`}>
      <g
        role="button"
        tabIndex={0}
        aria-pressed={selected}
        aria-label={`${name}, ${stateWords[job.state]}${reason}`}
        onKeyDown={(event) => {
          if (event.key === " ") onSelect(job.name);
        }}
      >
        <rect width={width} height={boxHeight} rx="6" />
        <g transform="translate(9 9)">
          <use
            href={`#state-${job.state}`}
            width="16"
            height="16"
            className={`icon is-${job.state}`}
          />
        </g>
        <text x={nameLeft} y="21" className="name">
          {shown}
        </text>
      </g>
      {job.cached ? (
        <text x={end} y="21" className="aside">
          cached
        </text>
      ) : job.startedAt === null ? null : (
        <Took from={job.startedAt} to={job.finishedAt} end={end} />
      )}
    </g>
  );
});

function Took({ from, to, end }: { from: string; to: string | null; end: number }) {
  return to === null ? (
    <Ticking from={from} end={end} />
  ) : (
    <Aside ms={elapsedMs(from, to, 0) ?? 0} end={end} />
  );
}

function Ticking({ from, end }: { from: string; end: number }) {
  return <Aside ms={elapsedMs(from, null, useNow()) ?? 0} end={end} />;
}

function Aside({ ms, end }: { ms: number; end: number }) {
  return (
    <text x={end} y="21" className="aside">
      {durationText(ms)}
    </text>
  );
}

interface BlockProps {
  readonly box: Box;
  readonly jobs: readonly JobSummary[];
  readonly left: number;
  readonly top: number;
  readonly selected: string | undefined;
  readonly critical: boolean;
  readonly dimmed: ReadonlySet<string> | undefined;
}

/** Many similar jobs, as cells of one box. */
export function BlockBox({ box, jobs, left, top, selected, critical, dimmed }: BlockProps) {
  const members = useMemo(() => box.jobs.flatMap((index) => jobs[index] ?? []), [box, jobs]);
  const failed = members.filter((job) => job.state === "failed").length;
  const aside = failed > 0 ? `${failed} / ${members.length}` : `${members.length}`;
  const room = box.width - 2 * blockPadding - asideGap - asideWidth(aside);
  return (
    <g
      className={`box block${critical ? " critical" : ""}`}
      transform={`translate(${left} ${top})`}
      role="group"
      aria-label={`${box.name}: ${members.length} jobs, ${failed} failed`}
    >
      <rect width={box.width} height={box.height} rx="6" />
      <text x={blockPadding} y="16" className="name">
        {fitText(box.name, room, nameWidth)}
      </text>
      <text
        x={box.width - blockPadding}
        y="16"
        className={`aside${failed > 0 ? " is-failed" : ""}`}
      >
        {aside}
      </text>
      <g transform={`translate(${blockPadding} ${blockHead})`}>
        <Cells jobs={members} perRow={cellsPerRow(box.width)} selected={selected} dimmed={dimmed} />
      </g>
    </g>
  );
}
