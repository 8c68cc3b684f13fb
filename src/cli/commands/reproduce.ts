import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";

export interface ReproduceOptions extends CommonOptions {
  readonly into?: string;
  /** False with `--no-run`. */
  readonly run: boolean;
}

export const describeReproduce: Describe = (command) => {
  speaksToServer(command)
    .argument("<execution>", "the execution's id")
    .option("--into <dir>", "a directory that does not exist yet (default: reproduce-ID)")
    .option("--no-run", "only fetch the action, and print how to run it")
    .addHelpText(
      "after",
      "\nExit code: 0 if the exit code and all outputs are the same as on the farm, 1 if something differs.",
    )
    .action((id: string, options: ReproduceOptions) =>
      inSession(options, async (session) => {
        const { reproduce } = await import("../reproduce/reproduce.ts");
        return reproduce(session, id, options);
      }),
    );
  withExamples(command, [
    ["run a failed action on this machine, as a worker does", "reproduce 0f6a9d0b-…"],
    [
      "only fetch the action, to run it by hand",
      "reproduce 0f6a9d0b-… --into /tmp/action --no-run",
    ],
  ]);
};
