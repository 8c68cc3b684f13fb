import { anyone } from "#access/principal.ts";
import { type LimitName, type RequestLimit, requestLimits } from "#api/request-limits.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { TooManyRequests } from "#core/too-many-requests.ts";
import { type Bucket, takeToken } from "./token-bucket.ts";

/** Who makes a request. */
export interface Requester {
  readonly principal: string;
  readonly address: string;
}

/** Decides which requests of a caller are too many. */
export interface RequestLimits {
  /**
   * Counts a request. Returns the function that must be called when it has ended.
   *
   * @throws TooManyRequests with the time after which the caller may try again
   */
  begin(limit: LimitName, requester: Requester): () => void;
  /** Takes back the count of a request that turned out to be of another kind. */
  giveBack(limit: LimitName, requester: Requester): void;
}

/** Above this number, the callers that were seen longest ago start anew. */
const mostCallers = 20_000;
/** After this time some of the caller's requests have usually ended. */
const retryAtOnceMs = 1_000;

/**
 * The limits of one server, in its memory: with several servers, a caller may use each up to its limit.
 *
 * `factor` multiplies all limits; undefined: there are none.
 */
export function openRequestLimits(
  factor: number | undefined,
  nowMs: () => number = () => performance.now(),
): RequestLimits {
  const buckets = recentlyUsed<Bucket>(mostCallers);
  const running = new Map<string, number>();
  if (factor === undefined) return { begin: () => () => {}, giveBack: () => {} };

  return {
    begin(name, requester) {
      const limit: RequestLimit = requestLimits[name];
      const key = `${name} ${keyOf(limit, requester)}`;
      if (limit.perMinute !== undefined) {
        const refill = {
          perMinute: limit.perMinute * factor,
          burst: Math.max(1, (limit.burst ?? limit.perMinute) * factor),
        };
        const { bucket, waitMs } = takeToken(buckets.peek(key), refill, nowMs());
        buckets.set(key, bucket);
        if (waitMs > 0) throw tooOften(limit, requester, refill.perMinute, waitMs);
      }
      if (limit.atOnce === undefined) return () => {};
      const most = Math.max(1, Math.floor(limit.atOnce * factor));
      const now = running.get(key) ?? 0;
      if (now >= most) throw tooManyAtOnce(limit, requester, most);
      running.set(key, now + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (running.get(key) ?? 1) - 1;
        if (left === 0) running.delete(key);
        else running.set(key, left);
      };
    },
    giveBack(name, requester) {
      const key = `${name} ${keyOf(requestLimits[name], requester)}`;
      const bucket = buckets.peek(key);
      // The next request limits it to the burst.
      if (bucket !== undefined) buckets.set(key, { ...bucket, tokens: bucket.tokens + 1 });
    },
  };
}

function keyOf({ countedBy }: RequestLimit, { principal, address }: Requester): string {
  return countedBy === "address" || principal === anyone ? address : `${principal} ${address}`;
}

function tooOften(
  { what }: RequestLimit,
  requester: Requester,
  perMinute: number,
  waitMs: number,
): TooManyRequests {
  return new TooManyRequests(
    `${nameOf(requester)} makes too many requests of this kind (${what}): at most ${Math.round(perMinute)} a minute; try again in ${Math.ceil(waitMs / 1_000)} s`,
    waitMs,
  );
}

function tooManyAtOnce({ what }: RequestLimit, requester: Requester, most: number) {
  return new TooManyRequests(
    `${nameOf(requester)} has ${most} requests of this kind (${what}) in progress, which is the limit; wait until some end`,
    retryAtOnceMs,
  );
}

function nameOf({ principal, address }: Requester): string {
  return `${principal} at ${address}`;
}
