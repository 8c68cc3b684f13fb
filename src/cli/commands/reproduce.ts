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
    .option("--no-run", "fetch the action only, and say how to run it")
    .addHelpText(
      "after",
      "\nExit code: 0 when the exit code and all outputs are as on the farm, 1 when something differs.",
    )
    .action((id: string, options: ReproduceOptions) =>
      inSession(options, async (session) => {
        const { reproduce } = await import("../reproduce/reproduce.ts");
        return reproduce(session, id, options);
      }),
    );
  withExamples(command, [
    ["run a failed action here, as a worker would", "reproduce 0f6a9d0b-…"],
    ["only fetch it, to run it by hand", "reproduce 0f6a9d0b-… --into /tmp/action --no-run"],
  ]);
};
