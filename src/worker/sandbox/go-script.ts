import { quoteForShell } from "../quote-for-shell.ts";

/** Variables that a shell itself uses, and does not reliably pass to programs. */
const shellsOwn =
  /^(?:_|UID|EUID|PPID|OPTIND|LINENO|SHELLOPTS|POSIXLY_CORRECT|BASH.*|GROUPS|DIRSTACK|FUNCNAME|HISTCMD|SHLVL|RANDOM|SECONDS|EPOCH.*|COMP_.*)$/;
const nameOfShells = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns the script with which a shell replaces itself by a command.
 *
 * It is one compound command, so that the shell has read all of it before it closes its input pipe. Variables that the
 * shell cannot name, or would change, are passed by `env`.
 */
export function goScript(command: {
  readonly arguments: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** Absolute. */
  readonly directory: string;
  /** What starts `env` where it may be missing. */
  readonly env?: readonly string[] | undefined;
}): string {
  const q = quoteForShell;
  const own: string[] = [];
  const others: string[] = [];
  for (const [name, value] of command.environment) {
    if (nameOfShells.test(name) && !shellsOwn.test(name)) own.push(`${name}=${q(value)}`);
    else others.push(q(`${name}=${value}`));
  }
  const argv = command.arguments.map(q).join(" ");
  const lines = [
    "{ exec </dev/null",
    `cd ${q(command.directory)} || exit 126`,
    // `cd` sets both variables, and some shells pass them to programs.
    "unset OLDPWD PWD",
    ...(own.length === 0 ? [] : [`export ${own.join(" ")}`]),
    others.length === 0
      ? `exec ${argv}`
      : `exec ${(command.env ?? ["/usr/bin/env"]).map(q).join(" ")} -- ${others.join(" ")} ${argv}`,
    "}",
  ];
  return `${lines.join("\n")}\n`;
}
