import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { problemOfPath, quotePath, refuse } from "#cas/path-rules.ts";
import { Fault } from "#core/fault.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import type { Command } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { directoriesToMake } from "./declared-outputs.ts";

/** Creates the directories that a command expects. */
export async function prepareOutputs(root: string, command: Command): Promise<void> {
  const there = new Set<string>();
  for (const path of directoriesToMake(command)) await makeDirectory(root, path, there);
}

/** `there` contains directories that are known to exist, because outputs often have the same parent. */
async function makeDirectory(root: string, path: string, there: Set<string>): Promise<void> {
  refuse(path, problemOfPath(path));
  const names = path.split("/");
  for (let depth = 1; depth <= names.length; depth++) {
    const at = names.slice(0, depth).join("/");
    if (there.has(at)) continue;
    const found = await lstat(join(root, at)).catch(() => undefined);
    if (!found) {
      await mkdir(join(root, at));
      giveToJobs(join(root, at));
    } else if (!found.isDirectory()) {
      // A symlink could lead to any place outside the root.
      throw new Fault(
        "invalid_argument",
        `outputs are expected in ${quotePath(path)}, but ${quotePath(at)} of the inputs is not a directory`,
      );
    }
    there.add(at);
  }
}
