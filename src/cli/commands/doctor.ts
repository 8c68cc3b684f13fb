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
    .option("--job <name>", "find which files a job of the checkout reads and does not declare")
    .option("--repo <dir>", "with --job: the checkout (default: the one you stand in)")
    .option("--param <name=value>", "with --job: a parameter of the definitions", repeated)
    .option("--switch <name=value>", "with --job: a switch of the definitions", repeated)
    .option("--graph <name>", "with --job: a graph that the definitions name")
    .option("--no-confirm", "with --job: do not run the job once more with what was found")
    .option("--data <dir>", "with --job: where inputs are kept between runs (GRANGE_WORKER_DATA)")
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
    ["what this machine offers a farm, and what to put right", "doctor"],
    [
      "only what is wrong, for a script",
      "doctor --json | jq '.checks[] | select(.status != \"ok\")'",
    ],
    ["which inputs the job unit lacks, and which it names in vain", "doctor --job unit"],
  ]);
};
