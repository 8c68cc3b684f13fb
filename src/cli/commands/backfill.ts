import type { SearchOptions } from "../carry-out-search.ts";
import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { searchesCommits } from "../searches-commits.ts";
import { inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

interface BackfillOptions extends SearchOptions {
  readonly step?: number;
}

export const describeBackfill: Describe = (command) => {
  searchesCommits(command)
    .argument(
      "<selection>",
      "a selection of jobs: a name, the value of a tag, 'kind:b2g', 'kind:test & !slow'",
    )
    .argument("<range>", "OLDER..NEWER; the range does not include the older one")
    .option("--step <n>", "only every n-th commit, counted back from the newer one", wholeNumber)
    .action((selection: string, range: string, options: BackfillOptions) =>
      inSession(options, async (session) => {
        const { carryOutSearch, revisionsOf } = await import("../carry-out-search.ts");
        const { repositoryHere } = await import("../repository-here.ts");
        const [from, to] = revisionsOf(range);
        const repository = await repositoryHere(options.repo, process.cwd());
        return carryOutSearch(session, options, {
          kind: "backfill",
          repository,
          selection,
          from,
          to,
          ...(options.step === undefined ? {} : { step: options.step }),
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        });
      }),
    );
  withExamples(command, [
    ["run a job on the last fifty commits", "backfill slow-test HEAD~50.."],
    [
      "run benchmarks on every hundredth commit since a release",
      "backfill 'kind:benchmark' v1.0..main --step 100",
    ],
    ["only the forecast", "backfill '*' v1.0..main --dry-run"],
  ]);
};
