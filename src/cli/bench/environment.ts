import type { Command } from "commander";
import { answersJson, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { tableLines } from "../terminal/table.ts";

/** `grange bench environment`. */
export function describeEnvironment(command: Command): void {
  const environment = answersJson(command.command("environment"))
    .description(
      "check whether this machine is suitable for measuring, and show how to reduce noise",
    )
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { mkdtemp, rm } = await import("node:fs/promises");
        const { tmpdir } = await import("node:os");
        const path = await import("node:path");
        const { findTools } = await import("#measuring/processes/tools.ts");
        const { environmentFacts, fingerprintOf } = await import("#measuring/environment/facts.ts");
        const { adviceFor } = await import("#measuring/environment/advice.ts");
        const { judgeLoad, sampleLoad } = await import("#measuring/environment/load.ts");
        const scratch = await mkdtemp(path.join(tmpdir(), "grange-bench-"));
        try {
          const tools = await findTools("auto", scratch, new AbortController().signal);
          const facts = environmentFacts(tools);
          const fingerprint = fingerprintOf(facts);
          const advice = adviceFor(facts, tools.notes);
          const quiet = judgeLoad(await sampleLoad(2_000), "flag");
          const { paint } = session.terminal.answer;
          return answer(session, options, { fingerprint, facts, advice, quiet }, () => [
            ...tableLines(Object.entries(facts).map(([name, value]) => [paint.bold(name), value])),
            "",
            `fingerprint ${fingerprint.slice(0, 16)}: figures are compared only with figures of the same fingerprint`,
            quiet.kind === "quiet"
              ? "The machine is idle now."
              : `The machine is not idle: ${quiet.why}.`,
            ...advice.flatMap(({ what, help }) => [
              "",
              `${paint.yellow("·")} ${what}`,
              ...(help === "" ? [] : [`  ${help}`]),
            ]),
          ]);
        } finally {
          await rm(scratch, { recursive: true, force: true });
        }
      }),
    );
  withExamples(environment, [
    ["check a machine before it becomes a collector", "bench environment"],
  ]);
}
