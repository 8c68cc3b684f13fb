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
    .argument(
      "<selection>",
      "a selection of jobs: a name, the value of a tag, 'kind:b2g', 'kind:test & !slow'",
    )
    .argument(
      "<range>",
      "GOOD..BAD: a commit on which they pass, and a later one on which they do not",
    )
    .option(
      "--parallel <k>",
      "test this many commits at the same time: fewer rounds, more runs",
      wholeNumber,
    )
    .option("--flaky <n>", "decide a commit after this many equal results", wholeNumber)
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
    ["find the commit since which a test fails", "bisect unit-tests v1.0..main --wait"],
    [
      "in fewer rounds, with seven commits at the same time",
      "bisect unit-tests v1.0..main --parallel 7",
    ],
    ["a flaky test", "bisect flaky-test HEAD~200.. --flaky 3"],
  ]);
};
