import { create } from "@bufbuild/protobuf";
import { digestFunctionFrom, fromDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { LookAheadRequestSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent-parts.ts";

/** How often a busy worker requests its next executions, in ms. */
const everyMs = 1_000;

/**
 * While all slots are busy, asks the farm for the next executions of this worker and prefetches their inputs.
 *
 * A worker with a free slot gets its work at once, so there is nothing to prefetch.
 */
export async function lookAheadWhileBusy(
  { farm, identity, config, executor }: AgentParts,
  slots: { readonly isBusy: () => boolean; readonly changed: () => Promise<void> },
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    if (!slots.isBusy()) {
      await slots.changed();
      continue;
    }
    await rest(everyMs * (0.75 + Math.random() / 2), over);
    if (over.aborted || !slots.isBusy() || !executor.ahead.isFree) continue;
    try {
      const most = config.slots + 2;
      const request = create(LookAheadRequestSchema, { ...identity, most });
      const { ahead } = await farm.lookAhead(request);
      for (const { inputRoot, project, digestFunction } of ahead) {
        if (over.aborted || !executor.ahead.isFree) break;
        const by = digestFunctionFrom(digestFunction);
        const root = fromDigestMessage(inputRoot, "an input root", by);
        await executor.ahead.fetch(root, farm.blobs(project), over);
      }
    } catch (reason) {
      // An older farm does not have this call. Other errors are reported by the calls that matter.
      if (reason instanceof Fault && reason.code === "unimplemented") return;
    }
  }
}
