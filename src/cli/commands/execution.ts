import type { ExecutionDetail } from "#api/execution.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { chosenLinesOf, type LineOptions, withLineOptions } from "../line-options.ts";
import { logAddressesOfExecution } from "../log-addresses.ts";
import { chosenLines } from "../log-lines.ts";
import { printLog } from "../print-log.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

interface ExecutionOptions extends CommonOptions, LineOptions {
  readonly log?: boolean;
  readonly stderr?: boolean;
  /** An execution's id; true for the last success. */
  readonly compare?: string | true;
}

export const describeExecution: Describe = (command) => {
  withLineOptions(speaksToServer(command))
    .argument("<id>", "the execution's id")
    .option("--log", "print its stdout")
    .option("--stderr", "print its stderr")
    .option(
      "--compare [execution]",
      "compare its action with that of another execution (default: the last successful one of the same job or target)",
    )
    .action((id: string, options: ExecutionOptions) =>
      inSession(options, async (session) => {
        const { executionEndpoints } = await import("#api/endpoints/execution-endpoints.ts");
        if (options.compare !== undefined) {
          const compared = await session.api.call(executionEndpoints.executionComparison, {
            params: { execution: id },
            query: { with: options.compare === true ? undefined : options.compare },
          });
          const { comparedLines } = await import("../compared-lines.ts");
          return answer(session, options, compared, () => comparedLines(compared));
        }
        if (options.stderr === true) return printStream(session, id, "stderr", options);
        if (options.log === true) return printStream(session, id, "stdout", options);
        if (chosenLinesOf(options) !== undefined)
          throw new UsageError("lines of which stream? Add --log or --stderr");
        const execution = await session.api.call(executionEndpoints.execution, {
          params: { execution: id },
        });
        return answer(session, options, execution, () => linesOf(execution));
      }),
    );
  withExamples(command, [
    ["show an execution, its result and its outputs", "execution 0f6a9d0b-…"],
    ["print the errors of an execution", "execution 0f6a9d0b-… --stderr"],
    ["show what changed since it last succeeded", "execution 0f6a9d0b-… --compare"],
  ]);
};

async function printStream(
  session: Session,
  id: string,
  stream: "stdout" | "stderr",
  options: ExecutionOptions,
) {
  const { executionLog } = await import("../execution-log.ts");
  const chosen = chosenLinesOf(options);
  const parts =
    chosen === undefined
      ? executionLog(session.api, id, stream)
      : chosenLines(session.api, await logAddressesOfExecution(id, stream), chosen);
  if (options.json !== true) {
    await printLog(parts, session.terminal);
    return exitCodes.ok;
  }
  const pieces: Uint8Array[] = [];
  for await (const bytes of parts) pieces.push(bytes);
  const text = Buffer.concat(pieces).toString();
  return answer(session, options, { id, stream, text }, () => []);
}

function linesOf(execution: ExecutionDetail): string[] {
  const {
    requestedBy,
    command,
    finishedAt,
    message,
    outcome,
    outputs,
    startedAt,
    waiting,
    worker,
  } = execution;
  const [asker] = requestedBy;
  const name = [asker?.mnemonic ?? "", asker?.target ?? ""].filter((word) => word !== "").join(" ");
  const state = outcome ?? (execution.state === "leased" ? "executing" : execution.state);
  const exit = execution.exitCode === null ? "" : `, exit ${execution.exitCode}`;
  const took =
    startedAt === null || finishedAt === null
      ? ""
      : `, ${durationText(Date.parse(finishedAt) - Date.parse(startedAt))}`;
  return [
    `${name === "" ? `action ${execution.actionDigest}` : printableLine(name)}: ${state}${exit}${took}${worker === null ? "" : ` on ${printableLine(worker)}`}`,
    ...(waiting === null ? [] : [`it ${printableLine(waiting.sentence)}`]),
    ...(message === "" ? [] : [printableLine(message)]),
    ...(asker === undefined || asker.invocation === ""
      ? []
      : [`invocation ${printableLine(asker.invocation)}`]),
    `why on that size class: grange size-class explain ${execution.id}`,
    ...(command === null ? [] : ["", "command", ...command.arguments.map(indented)]),
    ...(outputs.length === 0
      ? []
      : ["", "outputs", ...outputs.map((output) => outputLine(execution.project, output))]),
    ...(execution.moreOutputs === 0 ? [] : [`  and ${execution.moreOutputs} more`]),
  ];
}

const indented = (text: string) => `  ${printableLine(text)}`;

function outputLine(project: string, output: ExecutionDetail["outputs"][number]): string {
  const query = `?project=${encodeURIComponent(project)}`;
  switch (output.kind) {
    case "file":
      return `${indented(output.path)}  /api/v1/blobs/${output.blob}${query}`;
    case "directory":
      return `${indented(output.path)}/  /api/v1/blobs/${output.tree}/tree${query}`;
    case "symlink":
      return indented(`${output.path} -> ${output.target}`);
  }
}
