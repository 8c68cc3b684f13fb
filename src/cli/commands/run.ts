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
    .argument("<jobs...>", "jobs from .grange/")
    .option("--repo <dir>", "the checkout (default: the current one)")
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option("--switch <name=value>", "a switch of the definitions; may be repeated", repeated)
    .option("--graph <name>", "the name of a graph in the definitions (default: all jobs)")
    .option(
      "--with-needs",
      "also run the jobs that these need, even if their outputs are in the checkout",
    )
    .option("--parallel <n>", "the number of jobs at the same time (default: 1)", wholeNumber)
    .option("--data <dir>", "the directory that keeps inputs between runs (GRANGE_WORKER_DATA)")
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
        "otherwise these jobs run first. It runs in the sandbox that `grange worker` chooses.",
        "",
        `Exit code: that of the job; with several jobs ${exitCodes.failed} if any failed.`,
      ].join("\n"),
    );
  withExamples(command, [
    ["one job, with uncommitted changes", "run lint"],
    [
      "two jobs at the same time, after all jobs that they need",
      "run --with-needs --parallel 2 unit docs",
    ],
    ["find files that a job reads but does not declare", "doctor --job unit"],
  ]);
};
