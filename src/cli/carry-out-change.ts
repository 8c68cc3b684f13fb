import { createInterface } from "node:readline/promises";
import type { PlannedChange } from "#api/rerun.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { plannedChangeLines } from "./planned-change-lines.ts";
import { answer, type CommonOptions, type Session } from "./session.ts";

export interface ChangeOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/**
 * Shows the effect of a change, asks the user where possible, and then makes exactly that change.
 *
 * The token of the preview is sent with it: if the effect has changed meanwhile, the farm refuses it.
 */
export async function carryOutChange(
  session: Session,
  options: ChangeOptions,
  ask: (how: { readonly dryRun: boolean; readonly token?: string }) => Promise<PlannedChange>,
): Promise<ExitCode> {
  const { notes } = session.terminal;
  const shown = await ask({ dryRun: true });
  const lines = plannedChangeLines(shown, notes.paint);
  if (options.dryRun === true) return answer(session, options, shown, () => lines);
  for (const line of lines) notes.line(line);
  if (options.yes !== true && process.stdin.isTTY === true && notes.isTerminal) {
    if (!(await askYesNo("Continue?"))) {
      notes.line("Nothing was changed.");
      return exitCodes.failed;
    }
  }
  const done = await ask({ dryRun: false, token: shown.token });
  return answer(session, options, done, () => [doneLine(done)]);
}

function doneLine({ jobs }: PlannedChange): string {
  const [graph, ...others] = new Set(jobs.map((job) => job.graph.slice(0, 8)));
  if (graph === undefined) return "Done.";
  return `Done. See: grange ${others.length === 0 ? "status" : "set"} ${graph}`;
}

/** Asks a person. Only an answer that begins with y means yes; an end of input means no. */
async function askYesNo(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  const lines = createInterface({ input, output });
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    return /^\s*y/i.test(await Promise.race([lines.question(`${question} [y/N] `), closed]));
  } finally {
    lines.close();
  }
}
