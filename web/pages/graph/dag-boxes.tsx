import { memo, useMemo } from "react";
import type { JobSummary } from "#api/graph.ts";
import { durationText, elapsedMs } from "../../parts/duration.ts";
import { useNow } from "../../parts/now.ts";
import { stateWords } from "../../parts/state-words.ts";
import { type Box, blockHead, blockPadding, boxHeight, boxWidth, cellsPerRow } from "./boxes.ts";
import { Cells } from "./cells.tsx";
import { shorten } from "./shorten.ts";

interface JobProps {
  readonly job: JobSummary;
  readonly left: number;
  readonly top: number;
  readonly selected: boolean;
  readonly critical: boolean;
  readonly dimmed: boolean;
  readonly onSelect: (job: string) => void;
}

/** Drawn again only when its own job changed, not when another did. */
export const JobBox = memo(function JobBox({
  job,
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
  const reason = job.reason === null ? "" : `, ${job.reason}`;
  return (
    <g
      className={classes.join(" ")}
      data-job={job.name}
      transform={`translate(${left} ${top})`}
      role="button"
      tabIndex={0}
      aria-pressed={selected}
      aria-label={`${job.name}, ${stateWords[job.state]}${reason}`}
      onKeyDown={(event) => {
        if (event.key === " ") onSelect(job.name);
      }}
    >
      <rect width={boxWidth} height={boxHeight} rx="6" />
      <g transform="translate(9 9)">
        <use
          href={`#state-${job.state}`}
          width="16"
          height="16"
          className={`icon is-${job.state}`}
        />
      </g>
      <text x="33" y="21" className="name">
        {shorten(job.name, job.state === "blocked" ? 23 : 18)}
      </text>
      {job.cached ? (
        <text x={boxWidth - 10} y="21" className="aside">
          cached
        </text>
      ) : job.startedAt === null ? null : (
        <Took from={job.startedAt} to={job.finishedAt} />
      )}
    </g>
  );
});

function Took({ from, to }: { from: string; to: string | null }) {
  return to === null ? <Ticking from={from} /> : <Aside ms={elapsedMs(from, to, 0) ?? 0} />;
}

function Ticking({ from }: { from: string }) {
  return <Aside ms={elapsedMs(from, null, useNow()) ?? 0} />;
}

function Aside({ ms }: { ms: number }) {
  return (
    <text x={boxWidth - 10} y="21" className="aside">
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

/** Many jobs alike, as cells of one box. */
export function BlockBox({ box, jobs, left, top, selected, critical, dimmed }: BlockProps) {
  const members = useMemo(() => box.jobs.flatMap((index) => jobs[index] ?? []), [box, jobs]);
  const failed = members.filter((job) => job.state === "failed").length;
  return (
    <g
      className={`box block${critical ? " critical" : ""}`}
      transform={`translate(${left} ${top})`}
      role="group"
      aria-label={`${box.name}: ${members.length} jobs, ${failed} failed`}
    >
      <rect width={box.width} height={box.height} rx="6" />
      <text x={blockPadding} y="16" className="name">
        {shorten(box.name, 22)}
      </text>
      <text
        x={box.width - blockPadding}
        y="16"
        className={`aside${failed > 0 ? " is-failed" : ""}`}
      >
        {failed > 0 ? `${failed} / ${members.length}` : members.length}
      </text>
      <g transform={`translate(${blockPadding} ${blockHead})`}>
        <Cells jobs={members} perRow={cellsPerRow} selected={selected} dimmed={dimmed} />
      </g>
    </g>
  );
}
