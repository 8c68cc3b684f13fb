/** The exit codes that scripts can rely on. */
export const exitCodes = {
  ok: 0,
  /** The graph did not succeed, a check failed, or there is another error. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** No server was reachable. */
  unreachable: 3,
  /** A collector ended for an update: the service manager starts the new version. */
  update: 75,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit codes with their meanings, for the help, man pages and documents. */
export const exitCodeRows: readonly { readonly code: string; readonly meaning: string }[] = [
  { code: String(exitCodes.ok), meaning: "The command succeeded." },
  {
    code: String(exitCodes.failed),
    meaning:
      "The command failed: a graph, job, check or comparison did not succeed, the farm refused the request, or a server, worker or collector could not start.",
  },
  {
    code: String(exitCodes.usage),
    meaning: "The command line is invalid, or one of its settings, such as `GRANGE_SERVER`.",
  },
  { code: String(exitCodes.unreachable), meaning: "The server could not be reached." },
  {
    code: String(exitCodes.update),
    meaning: "A collector stopped for an update: start the new version.",
  },
  {
    code: "126, 127",
    meaning: "`grange exec`: the command cannot be executed, or there is no such command.",
  },
  {
    code: "128 + N",
    meaning: "The command was ended by signal N: 130 is Ctrl-C, 143 is SIGTERM.",
  },
  {
    code: "other",
    meaning: "`grange exec` and `grange run` return the exit code of the command that they ran.",
  },
];

/** Returns the table of exit codes of docs/commands.md, in Markdown. */
export function exitCodeTable(): string {
  return [
    "| exit code | meaning |",
    "|---|---|",
    ...exitCodeRows.map(({ code, meaning }) => `| ${code} | ${meaning} |`),
  ].join("\n");
}
