import type { Trace } from "./trace.ts";

/** Yields a trace as JSON lines, each with its newline. */
export function* traceLines({ header, executions }: Trace): Generator<string> {
  yield `${JSON.stringify(header)}\n`;
  for (const execution of executions) yield `${JSON.stringify(execution)}\n`;
}
