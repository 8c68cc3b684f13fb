import { createReadStream } from "node:fs";
import { Fault, messageOf } from "#core/fault.ts";
import { readTrace } from "#simulate/read-trace.ts";
import type { Trace } from "#simulate/trace.ts";
import { standardTraces } from "#simulate/traces/standard-traces.ts";

/** Opens a standard trace by its name, standard input for `-`, else a file. */
export async function openTrace(named: string, seed: number): Promise<Trace> {
  if (Object.hasOwn(standardTraces, named)) {
    const make = standardTraces[named];
    if (make !== undefined) return make(seed);
  }
  try {
    return await readTrace(named === "-" ? process.stdin : createReadStream(named));
  } catch (reason) {
    if (isMissing(reason)) {
      const names = Object.keys(standardTraces).join(", ");
      const message = `there is no file "${named}", and no standard trace of that name (${names})`;
      throw new Fault("not_found", message, { cause: reason });
    }
    if (reason instanceof Fault) throw Fault.from(reason, named);
    throw new Fault("failed_precondition", `${named}: ${messageOf(reason)}`, { cause: reason });
  }
}

function isMissing(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && reason.code === "ENOENT";
}
