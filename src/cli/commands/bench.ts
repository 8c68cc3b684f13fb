import type { Describe } from "../command-list.ts";

/** `grange bench …`: one file for each group of subcommands, in `cli/bench/`. */
export const describeBench: Describe = (_command) => {};
