/** The command that a waiting sandbox becomes. */
export interface WaitingCommand {
  readonly arguments: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** Absolute. */
  readonly directory: string;
}

/** Where a shell looks for programs without a PATH in its environment. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns the paths at which a shell would look for a program, in this order. */
function pathsToTry(name: string, searchPath = defaultPath): string[] {
  if (name.includes("/")) return [name];
  // An empty directory in a PATH is the current one.
  return searchPath.split(":").map((directory) => `${directory === "" ? "." : directory}/${name}`);
}

/**
 * Returns a command as the program `enter` reads it from its standard input: `struct command` of `enter.c`, and
 * strings. The caller has checked that no string contains a NUL.
 */
export function encodeCommand({ arguments: argv, environment, directory }: WaitingCommand): Buffer {
  const [name = ""] = argv;
  const paths = pathsToTry(name, environment.get("PATH"));
  const variables = [...environment].map(([key, value]) => `${key}=${value}`);
  const counts = Buffer.alloc(12);
  for (const [at, list] of [paths, argv, variables].entries())
    counts.writeUInt32LE(list.length, 4 * at);
  const strings = [directory, ...paths, ...argv, ...variables];
  return Buffer.concat([counts, Buffer.from(strings.map((each) => `${each}\0`).join(""))]);
}
