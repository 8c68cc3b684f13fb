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

/** `grange bench …`: one file for each group of subcommands, in `cli/bench/`. */
export const describeBench: Describe = (command) => {
  describeRun(command);
  describeCompare(command);
  describeEnvironment(command);
  describeRequestCommands(command);
  describeHistoryCommands(command);
  describeSearchCommands(command);
  describeImportCommand(command);
  describeSetCommands(command);
  describeSuiteCommands(command);
};
