import { Option } from "commander";
import type { InvocationAction, InvocationDetail } from "#api/invocation.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { type InvocationPart, invocationParts } from "../invocation-part.ts";
import { countsText, invocationTitle } from "../invocation-words.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { unconfirmedLine } from "./cancel.ts";

interface InvocationOptions extends CommonOptions {
  readonly project: string;
  readonly cancel?: boolean;
  readonly show?: InvocationPart;
  readonly tests?: string;
}

/** The maximum number of failures in a terminal. */
const mostFailed = 100;

export const describeInvocation: Describe = (command) => {
  speaksToServer(command)
    .argument("<id>", "the invocation's id, as its tool prints it")
    .option("--project <name>", "its project, which REv2 calls the instance name", "default")
    .option("--cancel", "cancel it: its actions are cancelled, and later requests are refused")
    .addOption(
      new Option(
        "--show <part>",
        "only a part: its targets, how it spent its time, why actions were not in the cache, or a trace in Chrome's format",
      )
        .choices(invocationParts)
        .conflicts(["cancel", "tests"]),
    )
    .addOption(
      new Option(
        "--tests <label>",
        "only the shards and attempts of a test, by its actions",
      ).conflicts("cancel"),
    )
    .action((id: string, options: InvocationOptions) =>
      inSession(options, async (session) => {
        if (options.show !== undefined || options.tests !== undefined) {
          const { readPart, readTests } = await import("../read-invocation-part.ts");
          const address = { id, project: options.project };
          const { value, lines } =
            options.show === undefined
              ? await readTests(session.api, options.tests ?? "", address)
              : await readPart(session.api, options.show, address);
          return answer(session, options, value, lines);
        }
        const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
        const { project } = options;
        const named = { params: { invocation: id }, query: { project } };
        const cancelled =
          options.cancel === true
            ? await session.api.call(invocationEndpoints.cancelInvocation, named)
            : undefined;
        const invocation =
          cancelled ?? (await session.api.call(invocationEndpoints.invocation, named));
        const { actions: failed } =
          invocation.counts.failed === 0
            ? { actions: [] }
            : await session.api.call(invocationEndpoints.invocationActions, {
                params: { invocation: id },
                query: { project, state: "failed", limit: mostFailed },
              });
        const shown = { ...invocation, failedActions: failed };
        const unconfirmed = cancelled?.unconfirmed ?? [];
        return answer(session, options, shown, () => [
          ...linesOf(invocation, failed),
          ...unconfirmed.map(({ execution, worker }) =>
            unconfirmedLine(`execution ${execution}`, worker),
          ),
        ]);
      }),
    );
  withExamples(command, [
    [
      "show its state, failures, and what it waits for",
      "invocation 6a0fd2de-1d4f-4b6c-9f0b-0f6a9d0b8a11",
    ],
    [
      "list why its actions were not in the cache",
      "invocation 6a0fd2de-1d4f-4b6c-9f0b-0f6a9d0b8a11 --show misses",
    ],
    [
      "a trace for chrome://tracing or ui.perfetto.dev",
      "invocation 6a0fd2de-1d4f-4b6c-9f0b-0f6a9d0b8a11 --show trace > build.json",
    ],
    ["cancel an invocation of another project", "invocation 6a0fd2de-… --project app --cancel"],
  ]);
};

function linesOf(invocation: InvocationDetail, failed: readonly InvocationAction[]): string[] {
  const { build, counts, events, state, waiting } = invocation;
  const ms = Date.parse(invocation.endedAt) - Date.parse(invocation.startedAt);
  const exit = build?.exitName ? ` (${build.exitName}, exit ${build.exitCode ?? "?"})` : "";
  const told = [
    `${invocationTitle(invocation)}: ${state}${exit}, ${durationText(ms)}`,
    countsText(counts),
    ...(build?.commit
      ? [`commit ${build.commit}${build.branch ? ` of ${build.branch}` : ""}`]
      : []),
    ...(waiting === null ? [] : [waiting]),
    ...(events?.failure ? [events.failure] : []),
  ];
  const table = failed.length === 0 ? [] : ["", ...failedLines(counts.failed, failed)];
  return [...told.map((line) => printableLine(line)), ...table];
}

function failedLines(count: number, failed: readonly InvocationAction[]): string[] {
  return [
    ...tableLines([
      ["failed", "mnemonic", "outcome", "execution"],
      ...failed.map(({ target, actionDigest, mnemonic, outcome, exitCode, executionId }) => [
        printableLine(target === "" ? actionDigest : target),
        printableLine(mnemonic),
        `${outcome ?? "failed"}${exitCode ? `, exit ${exitCode}` : ""}`,
        executionId ?? "",
      ]),
    ]),
    ...(count > failed.length ? [`and ${count - failed.length} more`] : []),
  ];
}
