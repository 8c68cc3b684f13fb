import { shellWord } from "#core/shell-word.ts";
import { UsageError } from "../usage-error.ts";
import type { SshHost } from "./ssh-host.ts";

/** The user's settings for calling ssh. */
export interface SshAccess {
  /** A file with the private key. */
  readonly key: string | undefined;
  /** `Name=value`, as in ssh_config. They come before Grange's own options, and ssh uses the first. */
  readonly options: readonly string[];
}

/**
 * ssh asks no questions, because no person may be present to answer; it offers nothing of this machine (agent, display,
 * ports) to the other; and it detects a dead connection within half a minute.
 */
const always = [
  "BatchMode=yes",
  "ConnectTimeout=15",
  "ServerAliveInterval=10",
  "ServerAliveCountMax=3",
  "ForwardAgent=no",
  "ForwardX11=no",
  "ControlPath=none",
  // With a quieter log level in the user's configuration, the reason of a failure would be missing.
  "LogLevel=INFO",
];

/**
 * Returns the arguments of ssh that run a command, or, without one, keep open the tunnels in `more`. `more` comes
 * before the user's options, because the caller depends on it.
 */
export function sshArguments(
  { user, host, port }: SshHost,
  { key, options }: SshAccess,
  command: string | undefined,
  more: readonly string[] = [],
): string[] {
  return [
    "-T",
    ...(key === undefined ? [] : ["-i", key, "-o", "IdentitiesOnly=yes"]),
    ...more,
    ...[...options.map(checkedOption), ...always].flatMap((option) => ["-o", option]),
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    "--",
    host,
    ...(command === undefined ? [] : [command]),
  ];
}

function checkedOption(option: string): string {
  if (/^[A-Za-z][A-Za-z0-9]*=/.test(option)) return option;
  throw new UsageError(
    `--ssh-option takes Name=value, as in ssh_config, and not ${JSON.stringify(option)}`,
  );
}

/**
 * Returns a command line for any shell of the other machine: `sh` gets the script and its arguments as single words,
 * and no shell interprets them. It is a single line, because csh ends a quoted word at the end of the line.
 */
export function remoteScript(script: string, args: readonly string[]): string {
  const line = script.trim().replaceAll(/\s*\n\s*/g, " ");
  return ["sh", "-c", line, "grange", ...args].map(shellWord).join(" ");
}
