import { Fault, messageOf } from "#core/fault.ts";
import { ApiFailure, type Problem, ServerUnreachable } from "./api/api-failure.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { problemLines } from "./problem-lines.ts";
import { ProblemsFound } from "./problems-found.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLog } from "./terminal/printable-text.ts";
import { UsageError } from "./usage-error.ts";

export interface Explanation {
  /** The problem, its place, and what to do. */
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
  readonly json: { readonly error: object };
}

/** Converts any thrown error into a message for people and for programs. */
export function explainFailure(reason: unknown, paint: Paint): Explanation {
  const fault = reason instanceof Fault ? reason : Fault.from(reason, "grange failed");
  const problems: readonly Problem[] =
    fault instanceof ApiFailure || fault instanceof ProblemsFound ? fault.problems : [];
  const sourceOf = fault instanceof ProblemsFound ? fault.sourceOf : () => undefined;
  return {
    lines: [
      `${paint.red("error:")} ${problems.length === 0 ? printableLog(fault.message) : headOf(problems)}`,
      ...problems.flatMap((problem) => problemLines(problem, sourceOf(problem.file), paint)),
      ...wayOut(fault),
      ...stackOf(reason, fault),
    ],
    exitCode: exitCodeOf(fault),
    json: {
      error: {
        code: fault.code,
        message: fault.message,
        ...(problems.length > 0 ? { problems } : {}),
      },
    },
  };
}

/** The server's sentence repeats the first problem; here each is shown at its own place. */
function headOf(problems: readonly Problem[]): string {
  const many = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return `the definitions are invalid; they have ${many}:`;
}

function exitCodeOf(fault: Fault): ExitCode {
  if (fault instanceof UsageError) return exitCodes.usage;
  if (fault instanceof ServerUnreachable) return exitCodes.unreachable;
  return exitCodes.failed;
}

function wayOut(fault: Fault): string[] {
  if (!(fault instanceof ServerUnreachable)) return [];
  return [
    "Start one with `grange up`, or give another address with --server URL or GRANGE_SERVER.",
    "`grange doctor` shows possible causes.",
  ];
}

/** Only for errors that are not a Fault: they are bugs, and a bug report needs the stack. */
function stackOf(reason: unknown, fault: Fault): string[] {
  if (reason === fault || !(reason instanceof Error) || reason.stack === undefined) return [];
  return [reason.stack.replace(messageOf(reason), "").trimStart()];
}
