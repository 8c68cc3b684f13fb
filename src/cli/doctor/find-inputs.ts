import { type InputsTrace, traceInputs } from "#local-run/trace-inputs.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import { exitCodes } from "../exit-code.ts";
import { checkoutToRun, localWorkerConfig, withDefinitionTexts } from "../local-run-settings.ts";
import { parametersOf } from "../parameters.ts";
import { answer, type Session } from "../session.ts";
import { switchesOf } from "../switches.ts";
import { inputsLines } from "./inputs-lines.ts";

/**
 * Prints the inputs that a job of the checkout lacks, and those that it names unnecessarily. Fails when it lacks some.
 */
export async function findInputs(
  session: Session,
  job: string,
  options: DoctorOptions,
): Promise<number> {
  const { notes } = session.terminal;
  const root = await checkoutToRun(options.repo ?? process.cwd());
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort("cancelled"));
  const request = {
    root,
    job,
    given: {
      parameters: parametersOf(options.param ?? []),
      switches: switchesOf(options.switch ?? []),
      graph: options.graph,
    },
    config: await localWorkerConfig(root, options.data),
    confirm: options.confirm !== false,
    signal: stop.signal,
  };
  const observer = {
    begins: (what: "tracing" | "confirming") =>
      notes.line(
        what === "tracing"
          ? `Running job "${job}" with all files of the checkout, to record which files it reads.`
          : "Running it again with the inputs that were found.",
      ),
    needs: {
      taken: () => {},
      started: (needed: string) => notes.line(`Running job "${needed}", which it needs.`),
      printed: () => {},
      ended: () => {},
    },
  };
  const trace = await withDefinitionTexts(root, () => traceInputs(request, observer));
  const { result: _, ...end } = trace.end;
  answer(session, options, { ...trace, end, confirmation: factsOf(trace) }, () =>
    inputsLines(trace),
  );
  const isComplete = trace.missing.length + trace.listed.length + trace.requested.length === 0;
  return isComplete && trace.confirmation.kind !== "different" ? exitCodes.ok : exitCodes.failed;
}

function factsOf({ confirmation }: InputsTrace): object {
  if (confirmation.kind !== "different") return confirmation;
  const { end, log, kind } = confirmation;
  return { kind, exitCode: end.exitCode ?? null, message: end.message, log };
}
