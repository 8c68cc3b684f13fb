import type {
  ActionResult,
  Command,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns whether the older fields are empty although there are symlinks. */
export function mayLackLegacySymlinks(result: ActionResult): boolean {
  return (
    result.outputSymlinks.length > 0 &&
    result.outputFileSymlinks.length === 0 &&
    result.outputDirectorySymlinks.length === 0
  );
}

/**
 * Copies symlinks into the fields that older clients read: the file or directory field, depending on how the path was
 * requested.
 *
 * Only clients that list outputs by kind read these fields, such as Bazel before 6.3.
 */
export function fillLegacySymlinks(result: ActionResult, command: Command): void {
  if (command.outputPaths.length > 0 || !mayLackLegacySymlinks(result)) return;
  const files = new Set(command.outputFiles);
  const directories = new Set(command.outputDirectories);
  result.outputFileSymlinks = result.outputSymlinks.filter(({ path }) => files.has(path));
  result.outputDirectorySymlinks = result.outputSymlinks.filter(({ path }) =>
    directories.has(path),
  );
}
