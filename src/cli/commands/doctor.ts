import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";

export interface DoctorOptions extends CommonOptions {
  readonly job?: string;
  readonly repo?: string;
  readonly param?: readonly string[];
  readonly switch?: readonly string[];
  readonly graph?: string;
  readonly confirm?: boolean;
  readonly data?: string;
}

export const describeDoctor: Describe = (command, program) => {
  speaksToServer(command)
    .option("--job <name>", "find files that a job of the checkout reads but does not declare")
    .option("--repo <dir>", "with --job: the checkout (default: the current one)")
    .option("--param <name=value>", "with --job: a parameter of the definitions", repeated)
    .option("--switch <name=value>", "with --job: a switch of the definitions", repeated)
    .option("--graph <name>", "with --job: the name of a graph in the definitions")
    .option("--no-confirm", "with --job: do not run the job again to confirm the result")
    .option(
      "--data <dir>",
      "with --job: the directory that keeps inputs between runs (GRANGE_WORKER_DATA)",
    )
    .action((options: DoctorOptions) =>
      inSession(options, async (session) => {
        if (options.job !== undefined) {
          const { findInputs } = await import("../doctor/find-inputs.ts");
          return findInputs(session, options.job, options);
        }
        const { examine } = await import("../doctor/examine.ts");
        return examine(session, options, program.version);
      }),
    );
  withExamples(command, [
    ["check this machine, and show how to repair problems", "doctor"],
    [
      "only the problems, for a script",
      "doctor --json | jq '.checks[] | select(.status != \"ok\")'",
    ],
    ["find missing and unused inputs of the job unit", "doctor --job unit"],
  ]);
};
