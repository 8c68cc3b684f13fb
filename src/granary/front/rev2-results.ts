import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ClientResultEnd } from "#actions/client-results.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import { assertLegalOutputs } from "#actions/result-paths.ts";
import type { AboutAction } from "#caches/rev2/action-cache-service.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import type { CallContext } from "#grpc/call-context.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { Requester } from "../tiered-cache/tiered-cache.ts";
import { outputPaths } from "./output-paths.ts";
import type { NoteExecuted } from "./relayed-methods.ts";
import type { remoteExecutingBuilds } from "./remote-executing-builds.ts";
import { costOfAction } from "./result-cost.ts";
import type { Rev2Parts } from "./rev2.ts";

const fetchedAtOnce = 8;

/** Returns the functions with which a granary reads, stores and records results of REv2 actions. */
export function rev2Results(
  { tieredCache, store, logger }: Pick<Rev2Parts, "tieredCache" | "store" | "logger">,
  executing: ReturnType<typeof remoteExecutingBuilds>,
  calls: {
    readonly requesterOf: (project: string, context: CallContext) => Requester;
    /** Throws `permission_denied` for another user's process. */
    readonly requireOwn: (context: CallContext) => Promise<void>;
  },
) {
  const { requesterOf, requireOwn } = calls;
  const trees = outputTrees(store.blobs);

  /** Fetches blobs from the farm, because a tool does not send a blob that the farm has. */
  async function fetchHere(who: Requester, digests: readonly Digest[]): Promise<void> {
    await mapAtMost(fetchedAtOnce, digests, async (digest) => {
      for await (const _ of (await tieredCache.blobs(who).read(digest)) ?? []);
    });
  }

  async function lookUpResult(about: AboutAction): Promise<ActionResult | undefined> {
    const who = requesterOf(about.asking.project, about.context);
    const key = { namespace: "reapi", key: digestKey(about.actionDigest) } as const;
    const found = await tieredCache.result(who, key);
    if (found === undefined) return undefined;
    try {
      const bytes = await tieredCache.blobs(who).get(found.value);
      if (bytes !== undefined) {
        const kept = fromBinary(ActionResultSchema, bytes);
        who.build?.knowsPlace?.(key, outputPaths(kept));
        return kept;
      }
    } catch (err) {
      logger.warn({ err, key: key.key }, "a stored result cannot be read");
    }
    await tieredCache.forget(who, key);
    return undefined;
  }

  async function keepResult(about: AboutAction, result: ActionResult): Promise<ClientResultEnd> {
    const { asking, actionDigest, context } = about;
    await requireOwn(context);
    assertLegalOutputs(result);
    const blobs = await blobsOfResult(trees, result, functionOf(actionDigest));
    const who = executing.known(requesterOf(asking.project, context));
    if (who.madeAtFarm === true) await fetchHere(who, await store.blobs.findMissing(blobs));
    const missing = await store.blobs.findMissing(blobs);
    if (missing.length > 0) return { kind: "incomplete", missing };
    if (result.exitCode !== 0) return { kind: "not_cacheable" };
    const bytes = toBinary(ActionResultSchema, result);
    const value = digestOf(bytes);
    const key = { namespace: "reapi", key: digestKey(actionDigest) } as const;
    who.build?.knowsPlace?.(key, outputPaths(result));
    await tieredCache.blobs(who).put(value, bytes);
    await tieredCache.keep(who, {
      ...key,
      project: asking.project,
      value,
      attributes: {},
      blobs,
      costMs: costOfAction(result),
    });
    return { kind: "kept" };
  }

  /** Notes a result that the farm made for a build as if this machine had made it. The farm has it, so nothing is sent. */
  const noteExecuted: NoteExecuted = (project, action, result, context) => {
    const who = requesterOf(project, context);
    executing.note(who);
    const { build } = who;
    if (build === undefined || result.exitCode !== 0) return;
    const key = { namespace: "reapi", key: digestKey(action) } as const;
    build.knowsPlace?.(key, outputPaths(result));
    build.made({
      ...key,
      project,
      // The farm replaces it by the value that it has stored.
      value: digestOf(toBinary(ActionResultSchema, result)),
      attributes: {},
      blobs: result.outputFiles.flatMap(({ digest }) =>
        digest === undefined
          ? []
          : [fromDigestMessage(digest, "an output of the farm's", functionOf(action))],
      ),
      costMs: costOfAction(result),
    });
  };

  return { lookUpResult, keepResult, noteExecuted };
}
