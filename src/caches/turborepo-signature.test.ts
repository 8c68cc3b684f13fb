import { expect, test } from "vitest";
import { TurborepoSignature } from "./turborepo-signature.ts";

/** An upload of turbo 2.11.11 with `TURBO_TEAMID=team_x`. */
const key = Buffer.from("k".repeat(40));
const artifact = {
  hash: "64a6a67d888f5b15",
  teamId: "team_x",
  tag: "YufP/dFUuEMcyUw+wkvEsGzYAP2z0ePM9acPfDqekMw=",
};
const body = Buffer.from(
  "KLUv/QBYTQYAYggbGXBVdQA6Eq0fNT2L/x+0NXb8TcJPkKpB5citEB+GR04ZE4ydI97+NWXHlKJVbCvbKAeyQbBTdlxH2KfjEtgi7dUV" +
    "A+AW6br7wCkhvTLmx7/qe/+1tffzNWkYFZmGDGE1xgNNteCSSAKXAzoBIiDgAqmRQNsBma0K8AmKAD4BMnRUPEYdQHDA8YiYbkCR4A+Q" +
    "gvHAO4bs4sKVgwECCo0w4fSpA2wETlTAQAaRypuzX3BGqQA/wHY7yoHkYEirg4Iazpl4aU8Y",
  "base64",
);

function matches(changed: Partial<typeof artifact>, bytes = body, by = key): boolean {
  const all = { ...artifact, ...changed };
  const signature = new TurborepoSignature(by, all, bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; at += 50) signature.add(bytes.subarray(at, at + 50));
  return signature.matches(all.tag);
}

test("an artifact of the real program matches, and no other", () => {
  expect(matches({})).toBe(true);

  const flipped = Buffer.from(body);
  flipped[100] = (flipped[100] ?? 0) ^ 1;
  expect(matches({}, flipped)).toBe(false);
  expect(matches({}, body.subarray(1))).toBe(false);
  expect(matches({}, body, Buffer.from("another key of forty bytes, or of more."))).toBe(false);
  expect(matches({ hash: "64a6a67d888f5b16" })).toBe(false);
  expect(matches({ teamId: "" })).toBe(false);
  // The same letters, cut elsewhere.
  expect(matches({ hash: "64a6a67d888f5b15t", teamId: "eam_x" })).toBe(false);
});

test.each(["", "short", "A".repeat(44), "!".repeat(44), artifact.tag.slice(1)])(
  "a malformed tag does not match: %s",
  (tag) => {
    expect(matches({ tag })).toBe(false);
  },
);
