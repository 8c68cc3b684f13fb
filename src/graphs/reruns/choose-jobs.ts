import { matches, type SelectableJob } from "#api/selection/matches.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { Fault } from "#core/fault.ts";
import { suggestion } from "#definitions/nearest-name.ts";

/** Jobs by name, by selection, or both; with both, the jobs that match either. */
export interface JobChoice {
  readonly selection?: string | undefined;
  readonly jobs?: readonly string[] | undefined;
}

/**
 * Returns the selected jobs of each graph; throws `not_found` when there are none.
 *
 * A name must be that of a job in one of the graphs: otherwise a misspelt name would be ignored.
 */
export function chooseJobs<Graph extends { readonly jobs: readonly SelectableJob[] }>(
  graphs: readonly Graph[],
  { selection, jobs }: JobChoice,
): Map<Graph, ReadonlySet<string>> {
  if (selection === undefined && jobs === undefined) {
    throw new Fault(
      "invalid_argument",
      'name the jobs: with "selection" ("*" is all), or with "jobs"',
    );
  }
  const known = new Set(graphs.flatMap((graph) => graph.jobs.map(({ name }) => name)));
  const stranger = jobs?.find((name) => !known.has(name));
  if (stranger !== undefined) {
    throw new Fault("not_found", `there is no job "${stranger}"${suggestion(stranger, known)}`);
  }
  const named = new Set(jobs);
  const wanted = selection === undefined ? undefined : parseSelection(selection);
  const chosen = new Map(
    graphs.map((graph): [Graph, ReadonlySet<string>] => [
      graph,
      new Set(
        graph.jobs
          .filter((job) => named.has(job.name) || (wanted !== undefined && matches(wanted, job)))
          .map(({ name }) => name),
      ),
    ]),
  );
  if ([...chosen.values()].every((names) => names.size === 0)) {
    throw new Fault("not_found", nothingMatches(selection ?? "", graphs));
  }
  return chosen;
}

function nothingMatches(
  selection: string,
  graphs: readonly { readonly jobs: readonly SelectableJob[] }[],
): string {
  const where = graphs.length === 1 ? "this graph" : `these ${graphs.length} graphs`;
  const words = new Set(
    graphs.flatMap(({ jobs }) =>
      jobs.flatMap(({ name, tags }) => [
        name,
        ...Object.entries(tags).flatMap(([key, value]) => [key, value, `${key}:${value}`]),
      ]),
    ),
  );
  for (const written of selection.match(/[^\s&|!()"']+/g) ?? []) {
    const hint = words.has(written) ? "" : suggestion(written, words);
    if (hint !== "") return `"${selection}" selects no job of ${where}${hint}`;
  }
  return `"${selection}" selects no job of ${where}`;
}
