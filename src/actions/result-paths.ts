import { assertLegalPath, assertLegalSymlink, refuse } from "#cas/path-rules.ts";
import type {
  ActionResult,
  OutputSymlink,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns the symlinks of a result, also those in the fields of older clients, each path once. */
export function outputSymlinksOf(result: ActionResult): OutputSymlink[] {
  const all = [
    ...result.outputSymlinks,
    ...result.outputFileSymlinks,
    ...result.outputDirectorySymlinks,
  ];
  // Clients that support old and new readers write a link into two fields.
  return [...new Map(all.map((link) => [`${link.path}\0${link.target}`, link])).values()];
}

/**
 * Throws `invalid_argument` unless the outputs of a result can be put into a directory: legal paths, no symlink out of
 * the root, no path twice, nothing below a file or a link.
 *
 * The content of output directories is checked where their Trees are read.
 */
export function assertLegalOutputs(result: ActionResult): void {
  const kinds = new Map<string, "file" | "symlink" | "directory">();
  const add = (path: string, kind: "file" | "symlink" | "directory") => {
    if (kinds.has(path)) refuse(path, "is twice among the outputs");
    kinds.set(path, kind);
  };
  for (const { path } of result.outputFiles) {
    assertLegalPath(path);
    add(path, "file");
  }
  for (const { path, target } of outputSymlinksOf(result)) {
    assertLegalSymlink(path, target);
    add(path, "symlink");
  }
  for (const { path } of result.outputDirectories) {
    // Some clients end a directory with a slash, and look for it as they wrote it.
    const bare = path.endsWith("/") && !path.startsWith("/") ? path.slice(0, -1) : path;
    // The empty path is the whole working directory.
    if (path !== "") assertLegalPath(bare);
    add(bare, "directory");
  }
  for (const path of kinds.keys()) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const above = kinds.get(path.slice(0, end));
      if (above === "file" || above === "symlink") refuse(path, `lies below a ${above}`);
    }
  }
}
