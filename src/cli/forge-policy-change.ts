import { ForgePolicy, ForgePolicyChange } from "#api/forge.ts";
import { Fault } from "#core/fault.ts";

/** The options of `grange forge add|set` for a policy. `usual` removes a value. */
export interface ForgePolicyOptions {
  readonly graph?: string;
  readonly forkGraph?: string;
  readonly tags?: string;
  readonly branchGraphs?: boolean;
  readonly pullGraphs?: boolean;
  readonly forkGraphs?: string;
  readonly forkBench?: string;
  readonly forkNetwork?: boolean;
  readonly forkPlatform?: readonly string[];
  readonly forkIsolation?: string;
  readonly suite?: string;
  readonly benchMaster?: boolean;
  readonly benchReleases?: boolean;
  readonly command?: readonly string[];
  readonly poll?: number | "usual";
  readonly readers?: string;
}

const usual = "usual";

/** Returns the change in the given options. Throws `invalid_argument` with a sentence. */
export function policyChangeOf(options: ForgePolicyOptions): ForgePolicyChange {
  const { command, poll, forkPlatform, ...plain } = options;
  const known = Object.keys(ForgePolicyChange.shape);
  const given = Object.entries({
    ...plain,
    pollMs: poll,
    commands: command && Object.fromEntries(command.map(commandOf)),
    forkPlatform: forkPlatform && platformOf(forkPlatform),
  })
    .filter(([name, value]) => known.includes(name) && value !== undefined)
    .map(([name, value]) => [name, value === usual ? null : value]);
  const parsed = ForgePolicyChange.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault("invalid_argument", `${optionOf(issue?.path ?? [])}: ${issue?.message ?? ""}`);
}

/** Returns the option as it was typed: a problem of `pollMs` belongs to `--poll`. */
function optionOf([first = "", ...rest]: readonly PropertyKey[]): string {
  const word = first === "commands" ? "command" : String(first).replace(/Ms$/, "");
  const option = word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [`--${option}`, ...rest.map(String)].join(" ");
}

function commandOf(pair: string): [string, string] {
  const [name, permission] = inTwo(pair, "COMMAND=PERMISSION");
  const commands = Object.keys(ForgePolicy.shape.commands.unwrap().shape);
  if (commands.includes(name)) return [name, permission];
  throw new Fault(
    "invalid_argument",
    `"${name}" is not a command; the commands are ${commands.join(", ")}`,
  );
}

/** `pool=small-*`, possibly repeated: all values of a property together; or only `usual`. */
function platformOf(pairs: readonly string[]) {
  if (pairs.length === 1 && pairs[0] === usual) return usual;
  const values: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [name, value] = inTwo(pair, "PROPERTY=PATTERN");
    values[name] = [...(values[name] ?? []), value];
  }
  return values;
}

function inTwo(pair: string, shape: string): [string, string] {
  const at = pair.indexOf("=");
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new Fault("invalid_argument", `"${pair}" is not written ${shape}`);
}

/** Returns the principal and the account of `PRINCIPAL=ACCOUNT`. */
export function partsOfLink(pair: string): [string, string] {
  return inTwo(pair, "PRINCIPAL=ACCOUNT");
}
