import type { Worker } from "#api/worker.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

export const describeWorkers: Describe = (command) => {
  speaksToServer(command).action((options: CommonOptions) =>
    inSession(options, async (session) => {
      const { workerEndpoints } = await import("#api/endpoints/worker-endpoints.ts");
      const workers = await session.api.call(workerEndpoints.workers, {});
      return answer(session, options, workers, () =>
        workers.length === 0
          ? ["There is no worker. Start one: grange worker --server URL"]
          : [
              ...tableLines([
                ["worker", "state", "host", "size", "slots", "each", "runs", "done", "version"],
                ...workers.map((worker) => [
                  worker.name,
                  stateText(worker),
                  worker.transport === "ssh" ? `${worker.host} (ssh)` : worker.host || "-",
                  String(worker.sizeClass),
                  String(worker.slots),
                  slotText(worker),
                  [
                    ...worker.running.map((each) => each.job ?? each.executionId),
                    ...(worker.endingCount > 0 ? [`ends ${worker.endingCount}`] : []),
                  ].join(", ") || "-",
                  String(worker.finishedCount),
                  worker.version,
                ]),
              ]),
              ...quarantineLines(workers),
              ...troubleLines(workers),
            ],
      );
    }),
  );
  withExamples(command, [
    ["list the workers of the farm on this machine", "workers"],
    ["details of the workers of another farm", "workers --server http://farm:8980 --json"],
  ]);
};

function quarantineLines(workers: readonly Worker[]): string[] {
  return workers.flatMap(({ name, principal, quarantine }) =>
    quarantine === null
      ? []
      : [
          printableLine(
            `${name} (${principal}) is quarantined, because it ${quarantine}. To release it: grange worker release ${principal}`,
          ),
        ],
  );
}

function stateText({ quarantine, trouble, state }: Worker): string {
  if (quarantine !== null) return "quarantined";
  return trouble === null || state === "lost" ? state : "in trouble";
}

function troubleLines(workers: readonly Worker[]): string[] {
  return workers.flatMap(({ name, trouble }) =>
    trouble === null ? [] : [printableLine(`${name} cannot run anything now: ${trouble}`)],
  );
}

/** Returns the share of a slot; empty if an action may use the whole machine. */
function slotText({ cpus, memoryBytes }: Worker): string {
  const parts = [
    ...(cpus === null ? [] : [`${cpus} CPU`]),
    ...(memoryBytes === null ? [] : [memorySizeText(memoryBytes)]),
  ];
  return parts.join(", ") || "-";
}
