import type { Command } from "commander";
import { answersJson, repeated, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { numberFrom } from "../whole-number.ts";

export interface RunOptions extends CommonOptions {
  readonly artifact: string;
  readonly as?: string;
  readonly suite?: string;
  readonly section?: readonly string[];
  readonly backend?: readonly string[];
  readonly profile?: readonly string[];
  readonly scenario?: readonly string[];
  readonly benchmark?: readonly string[];
  readonly iterations?: number;
  readonly out?: string;
  readonly data?: string;
  /** False with --no-sandbox. */
  readonly sandbox: boolean;
  readonly list?: boolean;
}

/** `grange bench run`. */
export function describeRun(command: Command): void {
  const run = answersJson(command.command("run"))
    .description("measure an artifact on this machine, without a server")
    .requiredOption(
      "--artifact <version|path>",
      "a version, a nightly's tag, a folder or a tarball",
    )
    .option("--as <tag>", "the name under which its results are stored (default: its tag)")
    .option("--suite <file|name>", "default: the only one in .grange/bench/")
    .option("--section <name>", "compile, runtime or toolchain; may be repeated", repeated)
    .option("--backend <name>", "only this backend; may be repeated", repeated)
    .option("--profile <name>", "only this profile; may be repeated", repeated)
    .option("--scenario <name>", "only this scenario; may be repeated", repeated)
    .option("--benchmark <name>", "only this benchmark; may be repeated", repeated)
    .option("--iterations <n>", "timed runs of each case (default: the suite's)", numberFrom(1, 50))
    .option("--list", "list the cases that would be measured, and measure nothing")
    .option("--out <file>", "write the results there, too")
    .option("--data <dir>", "the directory of artifacts and results (GRANGE_BENCH_DATA)")
    .option("--no-sandbox", "run the measured programs as your user, with the network")
    .action((options: RunOptions) =>
      inSession(options, async (session) => {
        const { runLocally } = await import("./run-locally.ts");
        return runLocally(session, options);
      }),
    );
  withExamples(run, [
    [
      "a version from npm, one benchmark",
      "bench run --artifact 5.9.3 --benchmark rxjs --profile check",
    ],
    [
      "a compiler that you have built",
      "bench run --artifact ../typescript/built --backend js --as mine",
    ],
    ["compare both", "bench compare 5.9.3 mine"],
  ]);
}
