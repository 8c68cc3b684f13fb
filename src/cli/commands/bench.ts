import { describeCompare } from "../bench/compare.ts";
import { describeEnvironment } from "../bench/environment.ts";
import { describeHistoryCommands } from "../bench/history.ts";
import { describeImportCommand } from "../bench/import.ts";
import { describeRequestCommands } from "../bench/request.ts";
import { describeRun } from "../bench/run.ts";
import { describeSearchCommands } from "../bench/search.ts";
import { describeSetCommands } from "../bench/sets.ts";
import { describeSuiteCommands } from "../bench/suite.ts";
import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";

/** `grange bench …`: one file for each group of subcommands, in `cli/bench/`. */
export const describeBench: Describe = (command) => {
  command.commandsGroup("On this machine:");
  describeRun(command);
  describeCompare(command);
  describeEnvironment(command);
  command.commandsGroup("What a farm measures:");
  describeSuiteCommands(command);
  describeRequestCommands(command);
  describeSetCommands(command);
  command.commandsGroup("Results:");
  describeHistoryCommands(command);
  describeSearchCommands(command);
  describeImportCommand(command);
  command.commandsGroup("");
  withExamples(command, [
    ["compare a version with your own build, on this machine", "bench run --artifact 7.0.2"],
    ["", "bench run --artifact ../built --as mine"],
    ["", "bench compare 7.0.2 mine"],
    ["measure on a farm, with collectors", "bench suite push"],
    ["", "bench request 7.0.2 --suite typescript"],
    ["", "bench report latest"],
  ]);
};
