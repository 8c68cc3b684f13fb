import { Option } from "commander";
import type { ClonedGraph, CloneMode } from "#api/rerun.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";

interface CloneOptions extends CommonOptions {
  readonly uncustomised?: boolean;
  readonly today?: boolean;
  readonly select?: string;
  readonly ownSet?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

export const describeClone: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .option("--uncustomised", "without what people changed")
    .addOption(new Option("--today", "as the definitions say now").conflicts("uncustomised"))
    .option("--select <selection>", "only these jobs and what they need")
    .option("--own-set", "leave the set of the original")
    .option("--reason <text>", "why, for those who ask later")
    .option("--dry-run", "only say what it would be, and how its forms differ")
    .action((graph: string, options: CloneOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { definitionChangeLines } = await import("../definition-change-lines.ts");
        const { select, reason, ownSet = false, dryRun = false } = options;
        const cloned = await session.api.call(rerunEndpoints.clone, {
          params: { graph },
          body: {
            mode: modeOf(options),
            ownSet,
            dryRun,
            ...(select === undefined ? {} : { selection: select }),
            ...(reason === undefined ? {} : { reason }),
          },
        });
        const { paint } = session.terminal.answer;
        const differences = differenceLines(cloned, paint, (changes) =>
          definitionChangeLines(changes, paint),
        );
        return answer(session, options, cloned, () =>
          cloned.graph === null
            ? [`It would have ${cloned.jobs.length} jobs.`, ...differences]
            : [
                `Graph ${cloned.graph.id.slice(0, 8)} with ${cloned.graph.jobs} ${cloned.graph.jobs === 1 ? "job" : "jobs"}.`,
              ],
        );
      }),
    );
  withExamples(command, [
    ["the newest graph once more, as it was", "clone latest"],
    ["how that differs from today's definitions", "clone 3f2a --dry-run"],
    [
      "only the tests, with what they need, without changes by people",
      "clone 3f2a --select tests --uncustomised",
    ],
  ]);
};

function modeOf({ today, uncustomised }: CloneOptions): CloneMode {
  if (today === true) return "today";
  return uncustomised === true ? "uncustomised" : "as-it-ran";
}

function differenceLines(
  { differences, todayProblem }: ClonedGraph,
  paint: Paint,
  linesOf: (changes: ClonedGraph["differences"][number]["customisations"]) => string[],
): string[] {
  const lines = differences.flatMap(({ job, customisations, changesSince, ...forms }) => [
    paint.bold(printableLine(job)),
    ...(customisations.length === 0 ? [] : ["  changed by people:"]),
    ...linesOf(customisations).map((line) => `    ${line}`),
    ...(changesSince.length === 0 ? [] : ["  changed in the definitions since:"]),
    ...linesOf(changesSince).map((line) => `    ${line}`),
    ...(forms.asItRan === null ? ["  new in the definitions"] : []),
    ...(forms.today === null && todayProblem === null ? ["  not in the definitions any more"] : []),
  ]);
  const problem =
    todayProblem === null ? [] : [`Not compared with today: ${printableLine(todayProblem)}`];
  return [...lines, ...problem];
}
