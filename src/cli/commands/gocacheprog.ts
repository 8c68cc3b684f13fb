import type { Describe } from "../command-list.ts";
import { projectName, withExamples } from "../common-options.ts";
import type { GoCacheProgOptions } from "../go-cache/run-gocacheprog.ts";

export const describeGoCacheProg: Describe = (command) => {
  command
    .option("--project <name>", "the project of the results", projectName, "default")
    .option("--server <url>", "the farm's address (GRANGE_SERVER; default http://127.0.0.1:8980)")
    .option("--token-file <file>", "a file that contains your token (GRANGE_TOKEN)")
    .option(
      "--data <dir>",
      "where outputs are on this machine (GRANGE_GO_DATA; default ~/.cache/grange/go)",
    )
    .option("--local", "use no farm and no granary, only the cache of this machine")
    .action(async (options: GoCacheProgOptions) => {
      const { runGoCacheProg } = await import("../go-cache/run-gocacheprog.ts");
      process.exitCode = await runGoCacheProg(options);
    });
  withExamples(command, [
    [
      'the go command starts it: `export GOCACHEPROG="grange gocacheprog"`, with options of its own',
      "gocacheprog --project team/web --server http://farm:8980",
    ],
    ["`grange exec` sets the variable, for the granary of this machine", "exec -- go build ./..."],
  ]);
};
