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
