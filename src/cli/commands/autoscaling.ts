import type { Autoscaling } from "#api/autoscaling.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { platformText } from "../platform-text.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

export const describeAutoscaling: Describe = (command) => {
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
  ]);
};

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
