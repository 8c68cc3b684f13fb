import type { Describe } from "../command-list.ts";
import { projectName, repeated, withExamples } from "../common-options.ts";
import type { ExecOptions } from "../granary/run-exec.ts";
import { wholeNumber } from "../whole-number.ts";

export const describeExec: Describe = (command, program) => {
  command.parent?.enablePositionalOptions();
  command
    .passThroughOptions()
    .argument("<command...>", "the build command, unchanged")
    .option(
      "--project <name>",
      "the project of the results (default: from .grange/granary/settings.yml, else `default`)",
      projectName,
    )
    .option(
      "--target <name>",
      "a target of the build, for the commit's index; may be repeated",
      repeated,
    )
    .option(
      "--wait-for-prefetch <ms>",
      "start the build when its results are prefetched, but at the latest after this time",
      wholeNumber,
    )
    .option("--no-prefetch", "do not prefetch results; fetch them only when requested")
    .option("--sync", "exit only when the farm has all new results")
    .option("--replace", "also replace cache settings that the user has made for the tools")
    .option("--data <dir>", "the granary's data directory (GRANGE_GRANARY_DATA)")
    .option("--no-start", "do not start a granary; if none is running, run without one")
    .option("--quiet", "print only errors")
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
    ["any build: the caches of its tools are configured", "exec -- make -j8"],
    [
      "wait up to two seconds for prefetched results of the commit",
      "exec --wait-for-prefetch 2000 -- bazel build //...",
    ],
    [
      "for a script that uses the new results on another machine afterwards",
      "exec --sync -- npx turbo run build",
    ],
  ]);
};
