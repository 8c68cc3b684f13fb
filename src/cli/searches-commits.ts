import type { Command } from "commander";
import { speaksToServer } from "./common-options.ts";

/** Options of commands that search a range of commits. */
export function searchesCommits(command: Command): Command {
  return speaksToServer(command)
    .option("--repo <repository>", "a name, path or URL (default: the current one)")
    .option("--reason <text>", "the reason, which others can read later")
    .option("--dry-run", "only print the forecast")
    .option("--wait", "wait until it has ended");
}
