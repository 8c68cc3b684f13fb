import type { Logger } from "pino";
import type { ResultKey } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { type Batched, batched } from "#grpc/batcher.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import { circuitBreaker } from "./circuit-breaker.ts";
import { type FarmAddress, farmChannel } from "./farm-channel.ts";
import { fetchFrom } from "./fetch-from.ts";
import type { FoundWithBlobs, GranaryFarm } from "./granary-farm.ts";
import { type LineMeter, lineMeter } from "./line-meter.ts";
import { lookUpAll, lookUpWithBlobs } from "./look-up-all.ts";
import { noticing } from "./noticing-blob-store.ts";
import { publishingCalls } from "./publishing-calls.ts";
import { headBytesOf } from "./read-head.ts";
import type { Relay } from "./relay.ts";
import { resolveAt } from "./resolve-at.ts";
import { serviceSeen } from "./service-seen.ts";

/** A connection to a reachable farm, which can also relay calls. */
export interface ConnectedFarm extends GranaryFarm {
  readonly relay: Relay;
  /**
   * Makes the connection now, and measures it: a build's first call then takes one round trip, not three. Never throws.
   */
  greet(): Promise<void>;
}

/** The timeout of calls that a build waits for. */
const directTimeoutMs = 1_000;
const resolveTimeoutMs = 5_000;
/** The timeout of a call that requests many keys in advance. */
const bulkTimeoutMs = 15_000;

/** The limit for the keys in one call of a build. More are looked up in calls of their own, with more time. */
const mostDirectKeys = 64;

const mostProjects = 100;

/** The number of bytes for a line of unknown speed: at 100 kB/s they take half a second. */
const blobBytesOfUnknown = 48 * 1024;

/** Returns the number of bytes that the line transfers in one round trip; sending them along saves that round trip. */
function blobBytesOf(meter: LineMeter): number {
  return meter.isSpeedKnown() ? headBytesOf(meter.line()) : blobBytesOfUnknown;
}

/**
 * Returns a function that looks up one key of a project. Keys that are requested in one turn of the event loop share a
 * call. Later keys do not wait for its answer, as they would in a group commit: two tools that ask one after the other
 * would each wait for up to two round trips.
 */
function lookUpsByProject<Found>(
  lookUp: (project: string, keys: readonly ResultKey[]) => Promise<readonly (Found | undefined)[]>,
) {
  const batches = recentlyUsed<Batched<ResultKey, Found | undefined>>(mostProjects);
  return (project: string) =>
    batches.get(project, () =>
      batched(
        { mostBytes: mostDirectKeys, mostItems: mostDirectKeys },
        () => 1,
        async (keys) => {
          const found = await lookUp(project, keys);
          return keys.map((_, at) => () => found[at]);
        },
      ),
    );
}

/** Returns the client of a farm. The first call makes the connection. */
export function connectGranaryFarm(address: FarmAddress, logger: Logger): ConnectedFarm {
  const line = farmChannel(address);
  const meter = lineMeter();
  const service = serviceSeen(() =>
    logger.warn(`${address.server} does not support granaries: it is used like an empty farm`),
  );
  let awayBecause: string | undefined;
  const circuit = circuitBreaker({
    // With no keys: the shortest call that tests the service, the token and the network.
    probe: () =>
      line.renewedBy(async (channel) => {
        await channel.unary(Granaries.method.lookUp, {}, { timeoutMs: directTimeoutMs });
      }),
    onChange(isAway, reason) {
      awayBecause = isAway ? messageOf(reason) : undefined;
      if (awayBecause === undefined) return logger.info(`${address.server} is back`);
      logger.warn(
        { reason: awayBecause },
        `${address.server} is not available; builds continue without it`,
      );
    },
  });

  /** Measures a short call, whose duration shows the round trip. */
  async function measured<T>(call: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const answer = await circuit.through(call);
    meter.answered(performance.now() - begun);
    return answer;
  }

  const lookUpOne = lookUpsByProject<GranaryResult>((project, keys) =>
    measured(() => lookUpAll(line.channel, project, keys, directTimeoutMs)),
  );
  const lookUpWhole = lookUpsByProject<FoundWithBlobs>((project, keys) => {
    const options = { blobBytes: blobBytesOf(meter), timeoutMs: directTimeoutMs };
    return measured(() => lookUpWithBlobs(line.channel, project, keys, options));
  });

  const blobs = (project: string) => noticing(() => line.blobs(project), circuit);

  return {
    relay: {
      raw: (method, requests, options) => line.channel.raw(method, requests, options),
      blobs,
    },
    greet: () =>
      service
        .orElse(undefined, () =>
          measured(async () => {
            await line.channel.unary(Granaries.method.lookUp, {}, { timeoutMs: directTimeoutMs });
          }),
        )
        .catch(() => {}),
    isAway: () => circuit.isAway(),
    awayBecause: () => awayBecause,
    line: () => meter.line(),
    blobs,

    resolve: (build, signal) =>
      service.orElse({ indexes: [], mayHave: undefined }, () =>
        measured(() => resolveAt(line.channel, build, signal, resolveTimeoutMs)),
      ),

    lookUp: (project, keys) =>
      service.orElse([], async () => {
        if (keys.length === 0) return [];
        const found =
          keys.length <= mostDirectKeys
            ? await Promise.all(keys.map(lookUpOne(project)))
            : await circuit.through(() => lookUpAll(line.channel, project, keys, bulkTimeoutMs));
        return found.filter((result) => result !== undefined);
      }),

    lookUpWithBlobs: (project, key) => service.orElse(undefined, () => lookUpWhole(project)(key)),

    fetch: (project, requests, signal) =>
      fetchFrom(
        { channel: () => line.channel, circuit, meter, service },
        project,
        requests,
        signal,
      ),

    ...publishingCalls(() => line.channel, circuit),

    async stop() {
      // The line is stopped first, so that a probe ends now.
      await line.stop();
      await circuit.stop();
    },
  };
}
