import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Clone } from "#api/rerun.ts";
import { SubmitGraph } from "#api/submit-graph.ts";
import { Fault } from "#core/fault.ts";
import { neverTaken } from "./ask-for-redeliveries.ts";
import { ForgeBusy } from "./forge-busy.ts";
import { changedPolicy, ForgePolicy } from "./forge-policy.ts";
import { forgePrincipal, personAtForge, principalNameOf } from "./forge-principal.ts";
import { shaOf } from "./memory-forge.fixture.ts";
import { graphIdFor } from "./what-to-make.ts";
import { headSince, whatToRead } from "./what-to-read.ts";
import { isForGood, tryAgainInMs } from "./when-to-try-again.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);

describe("the time since which a pull request has its head", () => {
  const pull = { number: 7, head: shaOf("a"), updatedAt: at(100) };
  const told = (head: string, seconds: number, number = 7) =>
    ({ about: "pull", number, headAt: { head, at: at(seconds).toISOString() } }) as const;

  test.each([
    { what: "nothing else is known", known: undefined, hints: [], since: 100 },
    {
      what: "it was known before",
      known: { head: shaOf("a"), headSince: at(5) },
      hints: [],
      since: 5,
    },
    {
      what: "another was known",
      known: { head: shaOf("b"), headSince: at(5) },
      hints: [],
      since: 100,
    },
    { what: "a webhook named it", known: undefined, hints: [told(shaOf("a"), 50)], since: 50 },
    { what: "a webhook named another", known: undefined, hints: [told(shaOf("b"), 1)], since: 100 },
    {
      what: "it is another pull request's",
      known: undefined,
      hints: [told(shaOf("a"), 1, 8)],
      since: 100,
    },
  ])("when $what", ({ known, hints, since }) => {
    expect(headSince(pull, known, hints)).toEqual(at(since));
  });
});

test("the order of hints does not change what is read", () => {
  const hint = fc.oneof(
    fc.constant({ about: "refs" as const }),
    fc.record({ about: fc.constant("pull" as const), number: fc.integer({ min: 1, max: 40 }) }),
    fc.constant({ about: "comments" as const, pull: 1 }),
    fc.constant({ about: "nothing" as const }),
  );
  fc.assert(
    fc.property(fc.array(hint, { maxLength: 60 }), (hints) => {
      expect(whatToRead(hints.toReversed(), false)).toEqual(whatToRead(hints, false));
    }),
  );
});

test("a graph's id is a separate UUID for each commit, ref, named graph and generation", () => {
  const base = {
    repository: "a/b",
    ref: "refs/heads/main",
    sha: shaOf("a"),
    named: undefined,
    generation: 1,
  };
  const ids = [
    base,
    { ...base, ref: "refs/tags/v" },
    { ...base, generation: 2 },
    { ...base, named: "x" },
  ].map(graphIdFor);

  expect(new Set(ids).size).toBe(4);
  expect(ids[0]).toBe(graphIdFor({ ...base }));
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // Otherwise a submitter could put their own graph in its place before the farm makes it.
  for (const asked of [
    SubmitGraph.safeParse({ repository: "/a", id: ids[0] }),
    Clone.safeParse({ id: ids[0] }),
  ])
    expect(asked.error?.issues[0]).toMatchObject({ path: ["id"] });
});

test("the farm waits as long as a forge requests, and otherwise at most ten minutes", () => {
  expect(tryAgainInMs(1, new ForgeBusy("busy", 3_600_000), 0)).toBe(3_600_000);
  expect(tryAgainInMs(50, new Error("x"), 0.999)).toBeLessThanOrEqual(600_000);
  expect(isForGood(new Fault("invalid_argument", "x"))).toBe(true);
  expect(isForGood(new Fault("not_found", "it may come back"))).toBe(false);
});

test("only webhooks that never arrived are requested again, each once", () => {
  const sent = (id: string, guid: string, wasTaken: boolean, seconds = 0) => ({
    id,
    guid,
    event: "push",
    deliveredAt: at(seconds),
    wasTaken,
  });
  const asked = neverTaken(
    [
      sent("1", "lost", false),
      sent("2", "lost", false),
      sent("3", "later taken", false),
      sent("4", "later taken", true),
      sent("5", "came", false),
      sent("6", "just sent", false, 100),
    ],
    new Set(["came"]),
    at(50),
  );

  expect(asked.map(({ id }) => id)).toEqual(["1"]);
});

describe("principals", () => {
  test.each([
    { account: "octocat", name: "octocat@github" },
    { account: "renovate+bot", name: "renovate+bot@github" },
    { account: "renovate[bot]", name: undefined },
    { account: "a'; drop", name: undefined },
    { account: "", name: undefined },
  ])("$account is $name", ({ account, name }) => {
    expect(principalNameOf("github", account)).toBe(name);
  });

  test("the forge's permission gives the rights of the policy, and no more than the default priority", () => {
    const policy = ForgePolicy.parse({});
    const verbs = (permission: "write" | "read") =>
      personAtForge("a@github", "a/b", permission, policy, []).grants.map(({ verb }) => verb);

    expect(verbs("read")).toEqual([]);
    expect(verbs("write")).toEqual(["benchmark", "retrigger", "cancel"]);
    for (const { priorityCap, top } of forgePrincipal("a/b").grants) {
      expect([priorityCap, top]).toEqual([0, false]);
    }
  });
});

test("null resets a setting of the policy to the default, and the others stay", () => {
  const before = changedPolicy({}, { graph: "x", tags: "v*", commands: { bench: "triage" } });
  const after = changedPolicy(before, { graph: null, commands: { cancel: "admin" } });

  expect(after).toEqual(
    ForgePolicy.parse({ tags: "v*", commands: { bench: "triage", cancel: "admin" } }),
  );
});
