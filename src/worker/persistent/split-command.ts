/** The command of an action, divided for a persistent worker. */
interface SplitCommand {
  /** What starts the process. */
  readonly startup: readonly string[];
  /** The only argument that is part of a request. */
  readonly flag: FlagArgument;
}

/** Bazel replaces `@FILE` by the lines of the file, and leaves `--flagfile=FILE` to the process. */
type FlagArgument =
  | { readonly kind: "lines-of"; readonly path: string }
  | { readonly kind: "as-it-is"; readonly argument: string };

/** Files of arguments can name further ones; deeper is a mistake. */
const mostDepth = 16;
/** More arguments than any compiler gets. */
const mostArguments = 1_000_000;

/**
 * Returns the parts of a command whose last argument, and no other, names a file of arguments; undefined for other
 * commands, which Bazel runs without a persistent worker, too.
 */
export function splitWorkerCommand(argv: readonly string[]): SplitCommand | undefined {
  const last = argv.at(-1);
  if (argv.length < 2 || last === undefined) return undefined;
  const flag = flagArgumentOf(last);
  const before = argv.slice(0, -1);
  if (flag === undefined || before.some((each) => flagArgumentOf(each) !== undefined))
    return undefined;
  return { startup: [...before, "--persistent_worker"], flag };
}

function flagArgumentOf(argument: string): FlagArgument | undefined {
  if (/^--?flagfile=./s.test(argument)) return { kind: "as-it-is", argument };
  const path = pathOfLines(argument);
  return path === undefined ? undefined : { kind: "lines-of", path };
}

/** `@@` is an escaped `@`, and `@REPOSITORY//…` is a label. */
function pathOfLines(argument: string): string | undefined {
  if (!/^@[^@]/s.test(argument) || /^@[^/]*\/\//.test(argument)) return undefined;
  return argument.slice(1);
}

/**
 * Returns the arguments of a request. Lines of a file that have the form `@FILE` are replaced by the lines of that file.
 *
 * @param read Returns the text of an input; undefined if there is no such file.
 * @returns undefined when a file does not exist, or the files name each other without end
 */
export async function argumentsOfRequest(
  flag: FlagArgument,
  read: (path: string) => Promise<string | undefined>,
): Promise<string[] | undefined> {
  if (flag.kind === "as-it-is") return [flag.argument];
  const found: string[] = [];
  const expand = async (path: string, depth: number): Promise<boolean> => {
    const text = depth > mostDepth ? undefined : await read(path);
    if (text === undefined) return false;
    for (const line of linesOf(text)) {
      const further = pathOfLines(line);
      if (further === undefined) found.push(line);
      else if (!(await expand(further, depth + 1))) return false;
      if (found.length > mostArguments) return false;
    }
    return true;
  };
  return (await expand(flag.path, 1)) ? found : undefined;
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
