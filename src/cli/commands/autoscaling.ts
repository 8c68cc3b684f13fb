import type { Command } from "commander";
import type { Autoscaling } from "#api/autoscaling.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import type { ScaleOptions } from "../kubernetes/scale-deployments.ts";
import { platformText } from "../platform-text.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

export const describeAutoscaling: Describe = (command) => {
  // So that `autoscaling kubernetes --server` means the option of `kubernetes`.
  command.parent?.enablePositionalOptions();
  command.enablePositionalOptions();
  describeKubernetes(command);
  speaksToServer(command).action((options: CommonOptions) =>
    inSession(options, async (session) => {
      const { autoscalingEndpoints } = await import("#api/endpoints/autoscaling-endpoints.ts");
      const scaling = await session.api.call(autoscalingEndpoints.autoscaling, {});
      return answer(session, options, scaling, () => scalingLines(scaling));
    }),
  );
  withExamples(command, [
    ["show how many workers each size class should have, and why", "autoscaling"],
    ["the same for a program that starts workers", "autoscaling --json"],
    [
      "show how it would change the Deployments of workers in a cluster, through `kubectl proxy`",
      "autoscaling kubernetes --dry-run --api-server http://127.0.0.1:8001 --namespace farm",
    ],
  ]);
};

function describeKubernetes(command: Command): void {
  speaksToServer(command.command("kubernetes"))
    .description("set the replicas of the Deployments of workers in a Kubernetes namespace")
    .option("--namespace <name>", "the namespace (default: that of this pod)")
    .option("--api-server <url>", "the address of `kubectl proxy`; without it, this must be a pod")
    .option("--every <time>", "the time between two rounds (default: 15s)", durationMs)
    .option("--once", "end after one round")
    .option("--dry-run", "print the changes of one round, and change nothing")
    .action((options: CommonOptions & ScaleOptions) =>
      inSession(options, async (session) => {
        const { scaleDeployments } = await import("../kubernetes/scale-deployments.ts");
        return scaleDeployments(options, session);
      }),
    );
}

function scalingLines({ classes, unserved }: Autoscaling): string[] {
  const lines =
    classes.length === 0
      ? ["There is no size class: no worker is connected, and none is declared."]
      : tableLines([
          ["platform", "class", "desired", "now", "busy", "queued", "why"],
          ...classes.map((each) => [
            platformText(each.platform),
            String(each.sizeClass),
            String(each.desired),
            each.draining === 0 ? String(each.now) : `${each.now} + ${each.draining} draining`,
            `${each.busySlots} of ${each.slots}`,
            String(each.queued),
            printableLine(each.reason),
          ]),
        ]);
  if (unserved === 0) return lines;
  return [
    ...lines,
    `${unserved} in the queue can run on no size class, neither an existing nor a declared one. grange why shows what is missing.`,
  ];
}
