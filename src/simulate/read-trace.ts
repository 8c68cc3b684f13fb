import type { z } from "zod";
import { Fault } from "#core/fault.ts";
import { boundedLines, type Line } from "./bounded-lines.ts";
import { type Trace, TraceExecution, TraceHeader } from "./trace.ts";

/** The header with the most classes is far below this, and so is an execution with the longest names. */
const mostLineBytes = 1_048_576;
/** About 3 kB each while they are simulated. */
const mostExecutions = 1_000_000;
const mostQuoted = 300;

/** Reads a trace from JSON lines; a problem is reported with its line and field. */
export async function readTrace(bytes: AsyncIterable<Uint8Array>): Promise<Trace> {
  let header: TraceHeader | undefined;
  const executions: TraceExecution[] = [];
  for await (const line of boundedLines(bytes, mostLineBytes)) {
    if (line.text.trim() === "") continue;
    if (header === undefined) {
      header = parsed(line, TraceHeader);
      continue;
    }
    const execution = parsed(line, TraceExecution);
    if (executions.length >= mostExecutions)
      throw wrong(line, "", `is one more than the ${mostExecutions} executions a trace may have`);
    executions.push(execution);
  }
  if (header === undefined)
    throw new Fault("invalid_argument", "line 1 is missing: it describes the trace");
  if (executions.length === 0)
    throw new Fault("invalid_argument", "the trace has a header and no executions");
  // Exports are in the order in which executions ended.
  return { header, executions: executions.sort((one, other) => one.at - other.at) };
}

function parsed<S extends z.ZodType>(line: Line, schema: S): z.output<S> {
  const result = schema.safeParse(json(line));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw wrong(line, issue?.path.join(".") ?? "", issue?.message ?? "is wrong");
}

function json(line: Line): unknown {
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw wrong(line, "", `is not JSON: ${cause instanceof Error ? cause.message : ""}`);
  }
}

function wrong({ number }: Line, field: string, what: string): Fault {
  const where = field === "" ? `line ${number}` : `line ${number}, field ${field}`;
  const message = `${where}: ${what}`.slice(0, mostQuoted);
  return new Fault("invalid_argument", message.replace(/\p{Cc}/gu, "?"));
}
