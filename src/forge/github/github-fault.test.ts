import { describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { retryAfterMsOf } from "../forge-busy.ts";
import { githubFault } from "./github-fault.ts";

const now = new Date("2026-03-01T12:00:00Z");
const inSeconds = (seconds: number) => String(now.getTime() / 1_000 + seconds);

function refusal(status: number, headers: Record<string, string> = {}, message = "no") {
  return Object.assign(new Error(message), { status, response: { headers } });
}

describe("a limit", () => {
  test.each([
    ["says how many seconds", refusal(403, { "retry-after": "7" }), 7_000],
    ["says how many seconds, with 429", refusal(429, { "retry-after": "7" }), 7_000],
    ["says until when", refusal(429, { "retry-after": "Sun, 01 Mar 2026 12:00:09 GMT" }), 9_000],
    [
      "says when the hour is over",
      refusal(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inSeconds(30) }),
      31_000,
    ],
    [
      "says it by its sentence alone",
      refusal(403, {}, "You have exceeded a secondary rate limit"),
      60_000,
    ],
    ["says nothing more", refusal(429), 60_000],
    ["says what is no number", refusal(403, { "retry-after": "soon" }), 60_000],
    ["lies far in the future", refusal(403, { "retry-after": "99999999" }), 3_600_000],
    [
      "lies in the past",
      refusal(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inSeconds(-9_999) }),
      0,
    ],
    ["says so with a 503", refusal(503, { "retry-after": "5" }), 5_000],
  ])("that %s is waited for", (_, reason, expected) => {
    const fault = githubFault(reason, "GET /x", now);

    expect(fault.code).toBe("unavailable");
    expect(retryAfterMsOf(fault)).toBe(expected);
  });
});

describe("an answer", () => {
  test.each([
    [500, "unavailable"],
    [502, "unavailable"],
    [401, "permission_denied"],
    [403, "permission_denied"],
    [404, "not_found"],
    [410, "not_found"],
    [409, "failed_precondition"],
    [422, "invalid_argument"],
  ])("of %i is %s", (status, expected) => {
    const fault = githubFault(refusal(status), "GET /x", now);

    expect(fault.code).toBe(expected);
    expect(retryAfterMsOf(fault)).toBeUndefined();
    expect(fault.message).toContain(`GET /x: GitHub answered ${status}`);
  });

  test("that never arrived is temporary, even if octokit reports a 500", () => {
    const cut = Object.assign(new Error("other side closed"), { status: 500 });

    expect(githubFault(cut, "POST /x", now).code).toBe("unavailable");
    expect(githubFault("what?", "POST /x", now).code).toBe("unavailable");
  });

  test("that is already a fault is unchanged", () => {
    const fault = new Fault("invalid_argument", "no");

    expect(githubFault(fault, "GET /x", now)).toBe(fault);
  });
});
