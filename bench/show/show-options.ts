import { parseArgs } from "node:util";
import { messageOf } from "#core/fault.ts";

interface ShowOptions {
  /** The name of a show; undefined only with `help`. */
  readonly name: string | undefined;
  readonly json: boolean;
  readonly long: boolean;
  /** Measure only what has this text in its title. */
  readonly only: string | undefined;
  /** How long a soak lasts. */
  readonly minutes: number | undefined;
  readonly help: boolean;
}

/** Returns the options of `npm run show -- …`, or what is wrong with them. */
export function readShowOptions(
  words: readonly string[],
  names: readonly string[],
): ShowOptions | { readonly problem: string } {
  let read: ReturnType<typeof parsed>;
  try {
    read = parsed(words);
  } catch (reason) {
    return { problem: messageOf(reason) };
  }
  const { values, positionals } = read;
  const [name, ...more] = positionals;
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  const help = values.help ?? false;
  if (name === undefined && !help) return { problem: "the name of a show is missing" };
  if (name !== undefined && !names.includes(name)) return { problem: `there is no show "${name}"` };
  if (more.length > 0) return { problem: `one show at a time: "${more.join(" ")}" is too much` };
  if (minutes !== undefined && !(minutes > 0))
    return { problem: `--minutes=${values.minutes}: must be a number above 0` };
  return {
    name,
    json: values.json ?? false,
    long: values.long ?? false,
    only: values.only,
    minutes,
    help,
  };
}

function parsed(words: readonly string[]) {
  return parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      long: { type: "boolean" },
      only: { type: "string" },
      minutes: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
}

/** Returns the usage, with the names of all shows. */
export function showUsage(names: readonly string[]): string {
  return [
    "usage: npm run show -- NAME [OPTIONS]",
    "",
    "Measures what Grange promises, and prints a table: figure, goal, and whether it holds.",
    "Exit code 0: every row holds; 1: some do not; 2: invalid command line.",
    "",
    "  --only TEXT    measure only the rows whose title contains TEXT",
    "  --long         also measure what takes minutes or needs the package registry",
    "  --minutes N    how long measurements without a fixed length take",
    "  --json         print the table as JSON",
    "  --help         print this, and with NAME its measurements",
    "",
    `NAME is one of: ${names.join(", ")}`,
    "",
  ].join("\n");
}
