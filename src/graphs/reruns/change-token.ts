import type { PlannedJob } from "#api/rerun.ts";
import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { Fault } from "#core/fault.ts";
import type { PlannedGraph } from "./planned-graph.ts";

/**
 * Returns a text that identifies a preview: `<digest>.<version>.<version>…`
 *
 * The digest covers the list of jobs. The versions, those of the graphs in the order of their ids, show afterwards what
 * has changed, for the message of the refusal.
 */
export function changeToken(plans: readonly PlannedGraph[]): string {
  const shown = plans.flatMap(({ jobs }) => jobs.map(asShown));
  const { hash } = digestOf(new TextEncoder().encode(canonicalJson(shown)));
  return [hash.slice(0, 32), ...plans.map(({ graph }) => graph.version)].join(".");
}

function asShown({ graph, job, does, cause, times }: Omit<PlannedJob, "expectedMs">) {
  return [graph, job, does, cause, times];
}

/** Throws `aborted` when the plan has changed since it was shown under this token. */
export function refuseOtherThanShown(token: string, plans: readonly PlannedGraph[]): void {
  const [digest, ...versions] = token.split(".");
  if (digest === changeToken(plans).split(".")[0]) return;
  if (versions.length !== plans.length) {
    throw new Fault(
      "aborted",
      "the request now selects other graphs than were shown; look at the list again",
    );
  }
  const moved = plans.flatMap(({ graph }, i) => {
    const shownAt = Number(versions[i]);
    return graph.jobs.filter(({ version }) => version > shownAt);
  });
  const named = moved.slice(0, 5).map(({ name, state }) => `${name} is ${state}`);
  const others = moved.length > 5 ? ` and ${moved.length - 5} other jobs have changed` : "";
  const since = moved.length === 0 ? "" : `; since then ${named.join(", ")}${others}`;
  throw new Fault(
    "aborted",
    `the effect is no longer the one that was shown${since}; nothing was done; look at the list again`,
  );
}
