import { fromDigestMessage } from "#cas/digest-message.ts";
import { quotePath } from "#cas/path-rules.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type {
  Directory,
  NodeProperties,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The maximum number of entries of an input root, counted at every place where they appear. */
const maxEntries = 1_000_000;
const maxDepth = 200;

/** A time and a mode that a client requested; the worker chooses absent values. */
export interface InputProperties {
  /** In seconds since 1970. */
  readonly mtime?: number;
  readonly mode?: number;
}

/** A directory of inputs with its whole subtree, read once and shared by all trees that contain it. */
export interface InputDirectory {
  readonly digest: Digest;
  readonly properties?: InputProperties;
  readonly files: readonly {
    readonly name: string;
    readonly digest: Digest;
    readonly executable: boolean;
    readonly properties?: InputProperties;
    /** Whether the client marked it as a part of the tool, in place of an input of the action alone. */
    readonly isTool?: true;
  }[];
  readonly symlinks: readonly { readonly name: string; readonly target: string }[];
  readonly directories: readonly { readonly name: string; readonly directory: InputDirectory }[];
  /** Files, symlinks and directories in the subtree, counted at every place where they appear. */
  readonly entryCount: number;
  readonly depth: number;
}

/** Returns the digests of the directories in a directory. */
export function childrenOf(digest: Digest, { directories }: Directory): Digest[] {
  const by = functionOf(digest);
  return directories.map((child) => fromDigestMessage(child.digest, quotePath(child.name), by));
}

/** Makes a directory from its checked message and its existing children. */
export function inputDirectory(
  digest: Digest,
  message: Directory,
  below: (child: Digest) => InputDirectory,
): InputDirectory {
  const by = functionOf(digest);
  const files = message.files.map((file) => {
    const properties = propertiesIn(file.nodeProperties);
    return {
      name: file.name,
      digest: fromDigestMessage(file.digest, quotePath(file.name), by),
      executable: file.isExecutable,
      ...(properties ? { properties } : {}),
      ...(isTool(file.nodeProperties) ? { isTool: true as const } : {}),
    };
  });
  const children = childrenOf(digest, message);
  const directories = message.directories.map(({ name }, at) => {
    return { name, directory: below(children[at] as Digest) };
  });
  const symlinks = message.symlinks.map(({ name, target }) => ({ name, target }));
  const entryCount = directories.reduce(
    (sum, { directory }) => sum + 1 + directory.entryCount,
    files.length + symlinks.length,
  );
  const depth = directories.reduce(
    (deepest, { directory }) => Math.max(deepest, 1 + directory.depth),
    0,
  );
  if (entryCount > maxEntries) throw tooMuch(`has more than ${maxEntries} entries`);
  if (depth > maxDepth) throw tooMuch(`is deeper than ${maxDepth} directories`);
  const properties = propertiesIn(message.nodeProperties);
  return {
    digest,
    files,
    symlinks,
    directories,
    entryCount,
    depth,
    ...(properties ? { properties } : {}),
  };
}

/** Bazel's mark, with `--experimental_remote_mark_tool_inputs`. */
function isTool(properties: NodeProperties | undefined): boolean {
  return properties?.properties.some(({ name }) => name === "bazel_tool_input") === true;
}

/** A setuid bit of an input would only be a risk. */
const modeBits = 0o777;

function propertiesIn(properties: NodeProperties | undefined): InputProperties | undefined {
  const { mtime, unixMode } = properties ?? {};
  if (mtime === undefined && unixMode === undefined) return undefined;
  return {
    ...(mtime === undefined ? {} : { mtime: Number(mtime.seconds) + mtime.nanos / 1e9 }),
    ...(unixMode === undefined ? {} : { mode: unixMode & modeBits }),
  };
}

export function tooMuch(how: string): Fault {
  return new Fault("invalid_argument", `the input tree ${how}`);
}
