import type { Describe } from "../command-list.ts";
import { answersJson, repeated, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

export interface RunOptions extends CommonOptions {
  readonly repo?: string;
  readonly param?: readonly string[];
  readonly switch?: readonly string[];
  readonly graph?: string;
  readonly withNeeds?: boolean;
  readonly parallel?: number;
  readonly data?: string;
}

export const describeRun: Describe = (command) => {
  answersJson(command)
    .argument("<jobs...>", "names of jobs in .grange/")
    .option("--repo <dir>", "the checkout (default: the one you stand in)")
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option("--switch <name=value>", "a switch of the definitions; may be repeated", repeated)
    .option("--graph <name>", "a graph that the definitions name (default: all jobs)")
    .option(
      "--with-needs",
      "run the jobs that these need, too, although their outputs are in the checkout",
    )
    .option("--parallel <n>", "how many jobs at a time (default: 1)", wholeNumber)
    .option("--data <dir>", "where inputs are kept between runs (GRANGE_WORKER_DATA)")
    .action((jobs: readonly string[], options: RunOptions) =>
      inSession(options, async (session) => {
        const { runHere } = await import("../run-here.ts");
        return runHere(session, jobs, options);
      }),
    )
    .addHelpText(
      "after",
      [
        "",
        "Each job gets the files that its `inputs` name, as they are in the working tree (uncommitted changes",
        "included), and the outputs of the jobs that it needs: from the working tree where all of them exist,",
        "else those jobs run first. It runs in the sandbox that `grange worker` chooses.",
        "",
        `Exit code: that of the job; of several jobs ${exitCodes.failed} if any failed.`,
      ].join("\n"),
    );
  withExamples(command, [
    ["one job, with uncommitted changes", "run lint"],
    ["two at a time, after everything that they need", "run --with-needs --parallel 2 unit docs"],
    ["which files a job reads and does not declare", "doctor --job unit"],
  ]);
};
