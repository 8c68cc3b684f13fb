/** The exit codes that scripts can rely on. */
export const exitCodes = {
  ok: 0,
  /** The graph did not succeed, a check failed, or something is wrong. */
  failed: 1,
  /** The command was called wrongly. */
  usage: 2,
  /** There is no server where one was looked for. */
  unreachable: 3,
  /** A collector ended for an update: the service manager starts the new version. */
  update: 75,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
