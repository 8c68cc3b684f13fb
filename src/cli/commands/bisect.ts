import type { SearchOptions } from "../carry-out-search.ts";
import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { searchesCommits } from "../searches-commits.ts";
import { inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

interface BisectOptions extends SearchOptions {
  readonly parallel?: number;
  readonly flaky?: number;
}

export const describeBisect: Describe = (command) => {
  searchesCommits(command)
    .argument("<selection>", "which jobs: a name, a tag's value, 'kind:b2g', 'kind:test & !slow'")
    .argument(
      "<range>",
      "GOOD..BAD: a commit on which they pass, and a later one on which they do not",
    )
    .option("--parallel <k>", "so many commits at once: fewer rounds, more runs", wholeNumber)
    .option("--flaky <n>", "believe a commit after so many equal results", wholeNumber)
    .action((selection: string, range: string, options: BisectOptions) =>
      inSession(options, async (session) => {
        const { carryOutSearch, revisionsOf } = await import("../carry-out-search.ts");
        const { repositoryHere } = await import("../repository-here.ts");
        const [good, bad] = revisionsOf(range);
        const repository = await repositoryHere(options.repo, process.cwd());
        return carryOutSearch(session, options, {
          kind: "bisect",
          repository,
          selection,
          good,
          bad,
          ...(options.parallel === undefined ? {} : { parallel: options.parallel }),
          ...(options.flaky === undefined ? {} : { sameResults: options.flaky }),
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        });
      }),
    );
  withExamples(command, [
    ["since when a test fails", "bisect unit-tests v1.0..main --wait"],
    ["in fewer rounds, on seven commits at once", "bisect unit-tests v1.0..main --parallel 7"],
    ["a test that sometimes fails anyway", "bisect flaky-test HEAD~200.. --flaky 3"],
  ]);
};
