import { expect, test } from "vitest";
import { tokenProperty } from "#core/platform.ts";
import { JobDefinition } from "./job-definition.ts";

const said = (more: object) =>
  JobDefinition.safeParse({ commands: "x", ...more }).error?.issues.map(({ message }) => message);

test("a job requests the caches of its repository, and an identity for one audience or several", () => {
  expect(said({ network: true, caches: true, identity: "npm" })).toBeUndefined();
  expect(said({ network: true, identity: ["npm", "sts.amazonaws.com"] })).toBeUndefined();
  expect(said({ caches: false })).toBeUndefined();
});

test.each([
  [{ caches: true }, "needs the network"],
  [{ identity: "npm" }, "needs the network"],
  [{ network: true, identity: ["npm", "npm"] }, "names an audience twice"],
  [{ network: true, identity: "a b" }, "an audience has"],
  [
    { network: true, identity: Array.from({ length: 9 }, (_, i) => `a${i}`) },
    "at most 8 audiences",
  ],
  [{ network: true, caches: true, chunks: { items: ["a"] } }, 'a job with chunks has no "caches"'],
  [{ network: true, identity: "npm", outside: true }, "another machine runs"],
  [{ platform: { [tokenProperty]: '{"caches":"other"}' } }, "only the farm sets this property"],
  [{ secrets: "GRANGE_JOB_TOKEN" }, "reserved for the farm"],
])("%j is refused: %s", (more, message) => {
  expect(said(more)?.join()).toContain(message);
});
