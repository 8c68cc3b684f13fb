import type { Command } from "commander";
import { speaksToServer } from "./common-options.ts";

/** Options of commands that search a range of commits. */
export function searchesCommits(command: Command): Command {
  return speaksToServer(command)
    .option("--repo <repository>", "a name, path or URL (default: the one you stand in)")
    .option("--reason <text>", "why, for those who ask later")
    .option("--dry-run", "only say what it would come to")
    .option("--wait", "until it is over");
}
