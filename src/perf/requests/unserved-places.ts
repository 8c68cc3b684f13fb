import type { CollectorView } from "#api/collector.ts";
import type { OpenJob } from "./job-duration.store.ts";

/** A target and set for which jobs wait while no collector in duty may take them. */
export interface UnservedPlace {
  readonly target: string;
  readonly set: number;
  readonly jobs: number;
  /** No request waits for any of them. */
  readonly optional: boolean;
  /** Collectors that would serve it if they were in duty. */
  readonly outOfDuty: readonly string[];
}

type Served = Pick<CollectorView, "name" | "target" | "set" | "mayTakeOver" | "active"> &
  Pick<CollectorView, "outOfDuty">;
type Waiting = Pick<OpenJob, "id" | "target" | "set" | "optional"> & { readonly state: string };

/** Collectors that are only silent count as serving, because they have their own alarm. */
export function unservedPlaces(
  collectors: readonly Served[],
  jobs: readonly Waiting[],
): UnservedPlace[] {
  const places = new Map<string, { job: Waiting; ids: Set<string>; optional: boolean }>();
  for (const job of jobs) {
    if (job.state !== "queued" || collectors.some((each) => isInDuty(each) && fits(each, job)))
      continue;
    const place = `${job.target} ${job.set}`;
    const known = places.get(place) ?? { job, ids: new Set<string>(), optional: true };
    known.ids.add(job.id);
    known.optional &&= job.optional;
    places.set(place, known);
  }
  return [...places.values()].map(({ job, ids, optional }) => ({
    target: job.target,
    set: job.set,
    jobs: ids.size,
    optional,
    outOfDuty: collectors
      .filter((each) => each.active && !isInDuty(each) && fits(each, job))
      .map(({ name }) => name),
  }));
}

/** Returns the message about such a place, and what to do. */
export function unservedText(place: UnservedPlace): string {
  const { target, set, jobs, optional, outOfDuty } = place;
  const waits = jobs === 1 ? "1 job waits" : `${jobs} jobs wait`;
  const kind = optional ? " (optional: nobody is held up)" : "";
  const remedy =
    outOfDuty.length > 0
      ? `put ${outOfDuty.join(" or ")} back in duty when the cause is repaired`
      : `add one with \`grange collector add NAME --target ${target} --set ${set}\``;
  return `${waits} for ${target}, set ${set}, and no active collector serves it${kind}: ${remedy}, or let one take it over.`;
}

function isInDuty({ active, outOfDuty }: Served): boolean {
  return active && outOfDuty === null;
}

function fits({ target, set, mayTakeOver }: Served, job: Pick<Waiting, "target" | "set">): boolean {
  return (
    target === job.target && (set === null || set === job.set || mayTakeOver.includes(job.set))
  );
}
