import { expect, test } from "vitest";
import type { Verb } from "#core/verb.ts";
import { fingerprintOf, newShareToken } from "../secret-token.ts";
import { judgeShareLink } from "./judge-share-link.ts";

const now = new Date("2026-01-10T00:00:00Z");
const later = new Date("2026-01-11T00:00:00Z");
const token = newShareToken();
const fingerprint = fingerprintOf(token);
const graph = "00000000-0000-4000-8000-000000000001";
const stored = {
  id: fingerprint.id,
  hash: Uint8Array.from(fingerprint.hash),
  object: { kind: "log", graph, job: "build", run: 1 } as const,
  repository: "web",
  branch: "main",
  madeBy: "ann",
  madeAt: new Date("2026-01-09T00:00:00Z"),
  expiresAt: later,
  openedAt: null,
  revokedAt: null,
  revokedBy: null,
};
const grant = (verb: Verb, repository = "web", branch = "*") => ({
  verb,
  repository,
  branch,
  priorityCap: null,
  top: false,
});

test("a link opens its object while its maker may read it", () => {
  const link = judgeShareLink(fingerprint, stored, [grant("read-logs")], now);

  expect(link).toMatchObject({ id: fingerprint.id, object: stored.object });
  expect(link).not.toHaveProperty("hash");
});

test.each([
  { why: "it is unknown", link: undefined, grants: [grant("read-logs")], at: now },
  { why: "it is over", link: stored, grants: [grant("read-logs")], at: later },
  {
    why: "it was revoked",
    link: { ...stored, revokedAt: now, revokedBy: "ann" },
    grants: [grant("read-logs")],
    at: now,
  },
  { why: "its maker has no right", link: stored, grants: [], at: now },
  { why: "its maker may read, but no logs", link: stored, grants: [grant("read")], at: now },
  { why: "its maker reads elsewhere", link: stored, grants: [grant("read-logs", "api")], at: now },
  {
    why: "its maker reads another branch",
    link: stored,
    grants: [grant("read-logs", "web", "try/*")],
    at: now,
  },
  {
    why: "the token is another one with the same beginning of its hash",
    link: { ...stored, hash: withOtherEnd(fingerprint.hash) },
    grants: [grant("read-logs")],
    at: now,
  },
])("a link opens nothing when $why", ({ link, grants, at }) => {
  expect(judgeShareLink(fingerprint, link, grants, at)).toBeUndefined();
});

test("an output and a comparison need read", () => {
  const output = {
    ...stored,
    object: { kind: "output", graph, job: "a", run: 1, path: "x" } as const,
  };

  expect(judgeShareLink(fingerprint, output, [grant("read-logs")], now)).toBeUndefined();
  expect(judgeShareLink(fingerprint, output, [grant("read")], now)).toBeDefined();
});

function withOtherEnd(hash: Uint8Array) {
  const other = Uint8Array.from(hash);
  other[31] = 255 - (hash[31] ?? 0);
  return other;
}
