import { expect, test } from "vitest";
import { signedDigestOf } from "./signed-digest.ts";

const build = { name: "build", definition: { commands: ["make"], environment: { A: "1" } } };
const tests = { name: "tests", definition: { commands: ["make check"], needs: { build: {} } } };

test("the order of definitions and of their keys does not matter", () => {
  const turned = { name: "build", definition: { environment: { A: "1" }, commands: ["make"] } };

  expect(signedDigestOf([tests, turned])).toBe(signedDigestOf([build, tests]));
});

test.each([{ priority: 900 }, { ttl: "1h" }, { prefers: { host: "fast" } }])(
  "%j may change without anybody signing again",
  (change) => {
    const changed = { ...build, definition: { ...build.definition, ...change } };

    expect(signedDigestOf([changed, tests])).toBe(signedDigestOf([build, tests]));
  },
);

test.each([
  { commands: ["make evil"] },
  { environment: { A: "1", priority: "2" } },
  { network: true },
  { "on-expiry": "skip-good" },
  { platform: { prefers: "x" } },
])("%j is another thing to sign", (change) => {
  const changed = { ...build, definition: { ...build.definition, ...change } };

  expect(signedDigestOf([changed, tests])).not.toBe(signedDigestOf([build, tests]));
});

test("an additional, missing or renamed definition changes the digest", () => {
  const digests = [
    signedDigestOf([]),
    signedDigestOf([build]),
    signedDigestOf([tests]),
    signedDigestOf([build, tests]),
    signedDigestOf([
      { ...build, name: "tests" },
      { ...tests, name: "build" },
    ]),
  ];

  expect(new Set(digests).size).toBe(digests.length);
});

test("parts that are not jobs are signed completely", () => {
  const parameter = { name: "parameter/prefers", isJob: false };
  const one = signedDigestOf([{ ...parameter, definition: { priority: 1 } }]);

  expect(signedDigestOf([{ ...parameter, definition: { priority: 2 } }])).not.toBe(one);
  expect(signedDigestOf([{ ...parameter, definition: [{ priority: 1 }] }])).not.toBe(one);
});
