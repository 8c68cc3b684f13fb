import type { Logger } from "pino";
import { everybody } from "#access/principal.ts";
import { actionCacheService } from "#caches/rev2/action-cache-service.ts";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { grpcCallers } from "#caches/rev2/caller.ts";
import { capabilitiesService } from "#caches/rev2/capabilities-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";
import type { BuildRegistry } from "../builds/build.ts";
import type { Relay } from "../farm/relay.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { TieredCache } from "../tiered-cache/tiered-cache.ts";
import { type IsOwn, notOwn } from "./connection-owner.ts";
import { identifyRequester } from "./identify-requester.ts";
import { relayedLogs, relayedMethods } from "./relayed-methods.ts";
import { remoteExecutingBuilds } from "./remote-executing-builds.ts";
import { rev2Results } from "./rev2-results.ts";

/** The header that names the build that a call belongs to. */
const buildHeader = "x-grange-build";

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

/** Returns the REv2 methods of a granary. It serves its cache itself and relays execution to the farm. */
export function rev2Methods(parts: Rev2Parts): Method[] {
  const { tieredCache, store, uploads, builds, relay, isOwn, ownPort, logger } = parts;
  const executing = remoteExecutingBuilds();

  const idOf = ({ metadata }: CallContext) => {
    const id = metadata[buildHeader];
    return typeof id === "string" ? id : undefined;
  };
  const requesterOf = (project: string, context: CallContext) =>
    identifyRequester(builds, project, idOf(context));

  /**
   * Throws `permission_denied` for another user's process. The check is made where results are read or written, and
   * where the farm acts in this user's name; blobs alone are not protected.
   */
  async function requireOwn(context: CallContext): Promise<void> {
    if (builds.find(idOf(context)) !== undefined) return;
    const client = Number(context.peer.slice(context.peer.lastIndexOf(":") + 1));
    if (await isOwn({ client, server: ownPort() })) return;
    throw new Fault("permission_denied", notOwn);
  }

  const blobsFor = (project: string, context: CallContext) =>
    tieredCache.blobs(executing.known(requesterOf(project, context)));

  const { lookUpResult, keepResult, noteExecuted } = rev2Results(parts, executing, {
    requesterOf,
    requireOwn,
  });

  return [
    ...capabilitiesService({
      execution: relay !== undefined,
      // The granary is on the client's machine, where splitting saves nothing.
      chunking: false,
      actionCacheUpdates: async () => true,
    }),
    ...casService(blobsFor, (err) => logger.error({ err }, "a blob could not be served")),
    ...byteStreamService(blobsFor, () => uploads, relay && relayedLogs(relay, requireOwn)),
    ...actionCacheService({
      blobsFor,
      // The farm lists invocations itself, from the reports of builds.
      notes: { heard() {}, lookedUp() {} },
      // A client that reaches the loopback interface builds on this machine.
      callers: grpcCallers({ identify: async () => everybody }),
      lookUpResult,
      keepResult,
    }),
    ...(relay === undefined ? [] : relayedMethods(relay, store.blobs, requireOwn, noteExecuted)),
  ];
}
