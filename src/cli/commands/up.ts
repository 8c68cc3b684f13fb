import { InvalidArgumentError } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, repeated, withExamples } from "../common-options.ts";
import { inSession } from "../session.ts";
import type { UpOptions } from "../up/run-up.ts";
import { wholeNumber } from "../whole-number.ts";

export const describeUp: Describe = (command, program) => {
  answersJson(command)
    .option("--repo <path-or-url>", "the repository (default: the current one)")
    .option("--demo", "run a small example project that shows what a farm does")
    .option("--rev <rev>", "branch, tag or commit (default: HEAD)")
    .option("--definitions <dir>", "definitions from a directory instead of the commit's .grange/")
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option("--no-cache", "run jobs even if the action cache has their results")
    .option("--port <n>", "the port of the farm; 0 selects a free port", port, 8980)
    .option("--data <dir>", "the data directory (GRANGE_DATA; default: .grange-data)")
    .option(
      "--store-limit <size>",
      "the maximum size of the blob store, such as 20G (GRANGE_STORE_LIMIT; 0: no limit; default: 3/4 of its disk)",
    )
    .option("--once", "stop when the graph ends; exit with 0 if it succeeded, else with 1")
    .addOption(command.createOption("--workers <n>").argParser(wholeNumber).hideHelp())
    .action((options: UpOptions) =>
      inSession(options, async (session) => {
        const { runUp } = await import("../up/run-up.ts");
        return runUp(options, session, program);
      }),
    );
  withExamples(command, [
    ["a farm with a small example project", "up --demo"],
    ["a farm for the repository in this directory, until Ctrl-C", "up"],
    [
      "run one tag of another repository, and exit with the result of its graph",
      "up --once --rev v1.2.0 --repo https://example.org/a.git",
    ],
    ["the same for a script: the last line of the output is the result", "up --once --json"],
  ]);
};

function port(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return value;
}
