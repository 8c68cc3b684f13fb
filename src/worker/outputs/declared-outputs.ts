import type { Command } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** An output path that a command declares. */
export interface DeclaredOutput {
  /** As written in the command: clients look for it under this exact text. */
  readonly path: string;
  /** The path below the root of the inputs. */
  readonly at: string;
  /** The allowed kind, besides a symlink. Only the older lists state it. */
  readonly kind: "file" | "directory" | "either";
  /** Whether it comes from the older lists, whose readers expect symlinks in other fields. */
  readonly isOld: boolean;
}

/**
 * Returns the outputs that a command declares, each path once.
 *
 * The two older lists count only if the newer one is empty: Bazel sends all three, and must get each output once. Buck2
 * may write one path into both older lists, and accepts either kind.
 */
export function declaredOutputs(command: Command): DeclaredOutput[] {
  const { outputPaths, outputFiles, outputDirectories, workingDirectory } = command;
  const declared = (
    path: string,
    kind: DeclaredOutput["kind"],
    isOld: boolean,
  ): DeclaredOutput => ({ path, at: placeOf(path, workingDirectory), kind, isOld });
  if (outputPaths.length > 0) {
    return [...new Set(outputPaths)].map((path) => declared(path, "either", false));
  }
  const files = new Set(outputFiles);
  const directories = new Set(outputDirectories);
  return [...new Set([...files, ...directories])].map((path) => {
    if (files.has(path) && directories.has(path)) return declared(path, "either", true);
    return declared(path, files.has(path) ? "file" : "directory", true);
  });
}

/**
 * Returns the directories that must exist before the command runs: its working directory, the parents of its outputs,
 * and the outputs that are declared as directories only.
 *
 * The last ones are not required by the API: Bazel makes them when it runs actions locally, and its rules rely on that.
 */
export function directoriesToMake(command: Command): string[] {
  const { outputFiles, outputDirectories, workingDirectory } = command;
  const files = new Set(outputFiles);
  const parents = declaredOutputs(command).map(({ at }) => parentOf(at));
  const whole = outputDirectories
    .filter((path) => !files.has(path))
    .map((path) => placeOf(path, workingDirectory));
  return [...new Set([placeOf("", workingDirectory), ...parents, ...whole])].filter(Boolean);
}

function placeOf(path: string, workingDirectory: string): string {
  const bare = path.replace(/\/+$/, "");
  // Only slashes: this is the machine's root, and is refused as absolute when it is looked up.
  if (bare === "" && path !== "") return path;
  return bare === "" || workingDirectory === ""
    ? workingDirectory + bare
    : `${workingDirectory}/${bare}`;
}

function parentOf(at: string): string {
  return at.slice(0, Math.max(0, at.lastIndexOf("/")));
}
