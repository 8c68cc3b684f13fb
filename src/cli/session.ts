import type { ApiClient } from "./api/api-client.ts";
import type { CliConfig } from "./config.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { openTerminal, type Terminal } from "./terminal/terminal.ts";

/** The parts that most commands need. */
export interface Session {
  readonly config: CliConfig;
  readonly terminal: Terminal;
  readonly api: ApiClient;
}

export interface CommonOptions {
  readonly json?: boolean;
  readonly server?: string;
  readonly tokenFile?: string;
}

/**
 * Runs a command; turns an error into a message and an exit code.
 *
 * Modules that read and parse are loaded here and not at the top of the file, because the help of a command, which
 * imports this file, must appear at once.
 */
export async function inSession(
  options: CommonOptions,
  /** Returns the exit code: one of `exitCodes`, or that of a program that the command ran. */
  work: (session: Session) => Promise<number>,
): Promise<void> {
  let terminal = openTerminal({ noColor: true, terminal: "" });
  try {
    const { readCliConfig } = await import("./config.ts");
    const { apiClient } = await import("./api/api-client.ts");
    const { tokenFor } = await import("./token-file.ts");
    const { ownerTokenFor } = await import("./up/owner-token.ts");
    const config = readCliConfig();
    terminal = openTerminal(config);
    const serverUrl = options.server ?? config.serverUrl;
    const token =
      (await tokenFor(options.tokenFile, config.token)) ??
      (await ownerTokenFor(serverUrl, config.dataDir, process.cwd()));
    const { ca, clientCertificate, traceparent } = config;
    const api = apiClient(serverUrl, { token, ca, clientCertificate, traceparent });
    process.exitCode = await work({ config, terminal, api });
  } catch (reason) {
    process.exitCode = await report(reason, options, terminal);
  }
}

async function report(
  reason: unknown,
  options: CommonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { explainFailure } = await import("./explain-failure.ts");
  const { lines, exitCode, json } = explainFailure(reason, terminal.notes.paint);
  for (const line of lines) terminal.notes.line(line);
  if (options.json === true) terminal.answer.line(JSON.stringify(json));
  return exitCode;
}

/** Prints the answer for a person, or for a program. */
export function answer(
  { terminal }: Session,
  options: CommonOptions,
  value: unknown,
  lines: () => readonly string[],
): ExitCode {
  if (options.json === true) terminal.answer.line(JSON.stringify(value, undefined, 2));
  else for (const line of lines()) terminal.answer.line(line);
  return exitCodes.ok;
}
