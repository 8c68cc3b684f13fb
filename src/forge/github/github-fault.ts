import { Fault, messageOf } from "#core/fault.ts";
import { ForgeBusy } from "../forge-busy.ts";

/** The used parts of an octokit error. */
interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
}

/** When GitHub does not state the duration of a secondary limit, its documentation asks for at least a minute. */
const unsaidLimitMs = 60_000;

/** Returns the fault for GitHub's refusal; its code shows whether a retry may succeed. */
export function githubFault(reason: unknown, doing: string, now: Date): Fault {
  if (reason instanceof Fault) return reason;
  const refusal = refusalIn(reason);
  // Interrupted or not answered: it is unknown whether the request was executed.
  if (refusal === undefined)
    return new ForgeBusy(`${doing}: no answer from GitHub: ${messageOf(reason)}`, undefined, {
      cause: reason,
    });
  const { status, headers } = refusal;
  const message = `${doing}: GitHub answered ${status}: ${refusal.message.slice(0, 500)}`;
  const limitMs = limitMsOf(refusal, now);
  if (limitMs !== undefined) return new ForgeBusy(message, limitMs, { cause: reason });
  if (status >= 500 || status === 408)
    return new ForgeBusy(message, afterMs(headers, now), { cause: reason });
  if (status === 401 || status === 403) {
    const needed = headers["x-accepted-github-permissions"];
    const hint = needed === undefined ? "" : ` (it needs ${String(needed).slice(0, 200)})`;
    return new Fault("permission_denied", message + hint, { cause: reason });
  }
  if (status === 404 || status === 410) return new Fault("not_found", message, { cause: reason });
  if (status === 409) return new Fault("failed_precondition", message, { cause: reason });
  return new Fault("invalid_argument", message, { cause: reason });
}

/** Returns whether GitHub refused the token before doing anything. */
export function isUnknownToken(reason: unknown): boolean {
  return refusalIn(reason)?.status === 401;
}

/** Returns the time to wait before the next request; undefined when the refusal is not a limit. */
function limitMsOf(refusal: Refusal, now: Date): number | undefined {
  if (refusal.status !== 403 && refusal.status !== 429) return undefined;
  const after = afterMs(refusal.headers, now);
  if (after !== undefined) return after;
  if (String(refusal.headers["x-ratelimit-remaining"]) === "0") {
    const reset = Number(refusal.headers["x-ratelimit-reset"]) * 1_000;
    return Number.isFinite(reset) ? clamped(reset - now.getTime() + 1_000) : unsaidLimitMs;
  }
  // A secondary limit may come without any header; only its message identifies it.
  if (refusal.status === 429 || /secondary rate limit|abuse detection/i.test(refusal.message))
    return unsaidLimitMs;
  return undefined;
}

function afterMs(headers: Refusal["headers"], now: Date): number | undefined {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(String(text)) - now.getTime();
  return Number.isFinite(ms) ? clamped(ms) : unsaidLimitMs;
}

// Limits of GitHub's end within an hour; a wrong clock must not cause a longer wait.
const clamped = (ms: number) => Math.min(Math.max(ms, 0), 3_600_000);

function refusalIn(reason: unknown): Refusal | undefined {
  if (!(reason instanceof Error)) return undefined;
  const { status, response } = reason as Error & {
    status?: unknown;
    response?: { headers?: Refusal["headers"] };
  };
  // octokit gives an interrupted connection the status 500, without an answer.
  if (typeof status !== "number" || response === undefined) return undefined;
  return { status, message: reason.message, headers: response.headers ?? {} };
}
