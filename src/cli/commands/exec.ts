import type { Describe } from "../command-list.ts";
import { projectName, repeated, withExamples } from "../common-options.ts";
import type { ExecOptions } from "../granary/run-exec.ts";
import { wholeNumber } from "../whole-number.ts";

export const describeExec: Describe = (command, program) => {
  command.parent?.enablePositionalOptions();
  command
    .passThroughOptions()
    .argument("<command...>", "the build, as it is written without us")
    .option(
      "--project <name>",
      "whose results (default: as .grange/granary/settings.yml says, or default)",
      projectName,
    )
    .option("--target <name>", "what is built, for the commit's index; may be repeated", repeated)
    .option(
      "--wait-for-prefetch <ms>",
      "start it when what it needs is here, but after so long at the latest",
      wholeNumber,
    )
    .option("--no-prefetch", "fetch nothing ahead, only what is asked for")
    .option("--sync", "end when all that was made is at the farm")
    .option("--replace", "set the tools' caches also where the user has set others")
    .option("--data <dir>", "the granary's data directory (GRANGE_GRANARY_DATA)")
    .option("--no-start", "run without a granary when none runs")
    .option("--quiet", "say nothing but what goes wrong")
    .action(async (words: string[], options: ExecOptions & { target?: readonly string[] }) => {
      const { openTerminal } = await import("../terminal/terminal.ts");
      const { runExec } = await import("../granary/run-exec.ts");
      const terminal = openTerminal({ noColor: true, terminal: "" });
      const { target, ...others } = options;
      const targets = target === undefined ? {} : { targets: target };
      process.exitCode = await runExec(
        words,
        { ...others, ...targets },
        terminal.notes,
        program.entry,
      );
    });
  withExamples(command, [
    ["any build; its tools find their caches by themselves", "exec -- make -j8"],
    [
      "with two seconds for what its commit needs",
      "exec --wait-for-prefetch 2000 -- bazel build //...",
    ],
    [
      "for a script that goes on elsewhere with what was made",
      "exec --sync -- npx turbo run build",
    ],
  ]);
};
