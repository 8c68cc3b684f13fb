import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { everybody } from "#access/principal.ts";
import type { ClientResultEnd } from "#actions/client-results.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import { assertLegalOutputs } from "#actions/result-paths.ts";
import {
  type AboutAction,
  actionCacheService,
} from "#cache-protocols/rev2/action-cache-service.ts";
import { byteStreamService } from "#cache-protocols/rev2/byte-stream-service.ts";
import { grpcCallers } from "#cache-protocols/rev2/caller.ts";
import { capabilitiesService } from "#cache-protocols/rev2/capabilities-service.ts";
import { casService } from "#cache-protocols/rev2/cas-service.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { BuildRegistry } from "../builds/build.ts";
import type { Relay } from "../farm/relay.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { Requester, TieredCache } from "../tiered-cache/tiered-cache.ts";
import { type IsOwn, notOwn } from "./connection-owner.ts";
import { identifyRequester } from "./identify-requester.ts";
import { outputPaths } from "./output-paths.ts";
import { type NoteExecuted, relayedLogs, relayedMethods } from "./relayed-methods.ts";
import { remoteExecutingBuilds } from "./remote-executing-builds.ts";
import { costOfAction } from "./result-cost.ts";

/** With which build a call belongs to. */
const buildHeader = "x-grange-build";

const fetchedAtOnce = 8;

export interface Rev2Parts {
  readonly tieredCache: TieredCache;
  readonly store: GranaryStore;
  readonly uploads: UploadStore;
  readonly builds: BuildRegistry;
  readonly relay: Relay | undefined;
  readonly isOwn: IsOwn;
  readonly ownPort: () => number;
  readonly logger: Logger;
}

/** REv2 as a granary serves it: its cache by itself, execution by the farm's hands. */
export function rev2Methods(parts: Rev2Parts): Method[] {
  const { tieredCache, store, uploads, builds, relay, isOwn, ownPort, logger } = parts;
  const trees = outputTrees(store.blobs);
  const executing = remoteExecutingBuilds();

  const idOf = ({ metadata }: CallContext) => {
    const said = metadata[buildHeader];
    return typeof said === "string" ? said : undefined;
  };
  const whoOf = (project: string, context: CallContext) =>
    identifyRequester(builds, project, idOf(context));

  /** Results, and what the farm does in this user's name. Blobs by themselves are no more than bytes. */
  async function requireOwn(context: CallContext): Promise<void> {
    if (builds.find(idOf(context)) !== undefined) return;
    const client = Number(context.peer.slice(context.peer.lastIndexOf(":") + 1));
    if (await isOwn({ client, server: ownPort() })) return;
    throw new Fault("permission_denied", notOwn);
  }

  const blobsFor = (project: string, context: CallContext) =>
    tieredCache.blobs(executing.known(whoOf(project, context)));

  /** Of what a tool was told that the farm has it, it sends nothing. */
  async function fetchHere(who: Requester, digests: readonly Digest[]): Promise<void> {
    await mapAtMost(fetchedAtOnce, digests, async (digest) => {
      for await (const _ of (await tieredCache.blobs(who).read(digest)) ?? []);
    });
  }

  async function lookUpResult(about: AboutAction): Promise<ActionResult | undefined> {
    const who = whoOf(about.asking.project, about.context);
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
      logger.warn({ err, key: key.key }, "a kept result is none");
    }
    await tieredCache.forget(who, key);
    return undefined;
  }

  async function keepResult(about: AboutAction, result: ActionResult): Promise<ClientResultEnd> {
    const { asking, actionDigest, context } = about;
    await requireOwn(context);
    assertLegalOutputs(result);
    const blobs = await blobsOfResult(trees, result, functionOf(actionDigest));
    const who = executing.known(whoOf(asking.project, context));
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

  /** What the farm made for a build is demanded as what this machine made. The farm has it: nothing is sent. */
  const noteExecuted: NoteExecuted = (project, action, result, context) => {
    const who = whoOf(project, context);
    executing.note(who);
    const { build } = who;
    if (build === undefined || result.exitCode !== 0) return;
    const key = { namespace: "reapi", key: digestKey(action) } as const;
    build.knowsPlace?.(key, outputPaths(result));
    build.made({
      ...key,
      project,
      // The farm puts what it has in its place.
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

  return [
    ...capabilitiesService({
      execution: relay !== undefined,
      actionCacheUpdates: async () => true,
    }),
    ...casService(blobsFor, (err) => logger.error({ err }, "a blob could not be served")),
    ...byteStreamService(blobsFor, () => uploads, relay && relayedLogs(relay, requireOwn)),
    ...actionCacheService({
      blobsFor,
      // Invocations are the farm's to list: it hears of builds by their reports.
      notes: { heard() {}, lookedUp() {} },
      // Who reaches this machine's loopback builds on it.
      callers: grpcCallers({ identify: async () => everybody }),
      lookUpResult,
      keepResult,
    }),
    ...(relay === undefined ? [] : relayedMethods(relay, store.blobs, requireOwn, noteExecuted)),
  ];
}
