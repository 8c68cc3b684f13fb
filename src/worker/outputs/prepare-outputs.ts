import { lstat, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { problemOfPath, quotePath, refuse } from "#cas/path-rules.ts";
import { Fault } from "#core/fault.ts";
import type { Command } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * The paths that a command declares. The two older lists count only without the
 * newer one: Bazel sends all three, and must get each output once.
 */
export function declaredOutputs(command: Command): string[] {
  if (command.outputPaths.length > 0) return command.outputPaths;
  return [...command.outputFiles, ...command.outputDirectories];
}

/** Makes the directories that a command expects: its own, and those its outputs lie in. */
export async function prepareOutputs(root: string, command: Command): Promise<void> {
  const at = command.workingDirectory;
  const parents = declaredOutputs(command).map((path) => dirname(path.replace(/\/+$/, "")));
  const whole = command.outputPaths.length > 0 ? [] : command.outputDirectories;
  for (const path of new Set([".", ...parents, ...whole])) {
    await makeDirectory(root, [at, path === "." ? "" : path].filter(Boolean).join("/"));
  }
}

async function makeDirectory(root: string, path: string): Promise<void> {
  if (path === "") return;
  refuse(path, problemOfPath(path));
  const names = path.split("/");
  for (let depth = 1; depth <= names.length; depth++) {
    const at = names.slice(0, depth).join("/");
    const found = await lstat(join(root, at)).catch(() => undefined);
    if (!found) await mkdir(join(root, at));
    else if (!found.isDirectory()) {
      // Through a symlink we would make it who knows where.
      throw new Fault(
        "invalid_argument",
        `outputs are expected in ${quotePath(path)}, but ${quotePath(at)} of the inputs is no directory`,
      );
    }
  }
}
