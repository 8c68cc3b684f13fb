import type { Durations } from "#api/times.ts";
import { durationText } from "../../parts/duration.ts";

/** The headers of the cells below. */
export function DurationHeads({ of }: { readonly of: string }) {
  return (
    <>
      <th scope="col">{of} p50</th>
      <th scope="col">p95</th>
      <th scope="col">p99</th>
    </>
  );
}

export function DurationCells({ durations }: { readonly durations: Durations }) {
  const title = `${durations.count} measured; mean ${text(durations.meanMs)}, most ${text(durations.maxMs)}`;
  return (
    <>
      <td title={title}>{text(durations.p50Ms)}</td>
      <td title={title}>{text(durations.p95Ms)}</td>
      <td title={title}>{text(durations.p99Ms)}</td>
    </>
  );
}

function text(ms: number | null): string {
  return ms === null ? "–" : durationText(ms);
}
