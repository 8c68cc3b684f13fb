import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";
import { as } from "./hostile-farm.ts";

type Case = HostileCase<ClosedFarm>;

const paths = [
  "/shared",
  "/shared/log?offset=0",
  "/shared/log/index",
  "/shared/log/search?text=a",
  "/shared/output",
  "/shared/comparison",
];

/** What people send in place of a link's token. */
const tokens: readonly (readonly [name: string, tokenOf: (farm: ClosedFarm) => string])[] = [
  ["of nobody", () => "x".repeat(43)],
  ["that is the owner's own", ({ root }) => root],
  ["that is a user's own", ({ mallory }) => mallory],
  ["with a prefix", ({ root }) => `Bearer ${root}`],
  ["that is empty", () => ""],
  ["of 8,000 characters", () => "x".repeat(8_000)],
  ["with a quote", () => "' or '1'='1"],
  ["with a wildcard", () => "%"],
  ["that is an id", () => randomUUID()],
  ["with another alphabet", () => "+/".repeat(21)],
  ["that is a word of programs", () => "__proto__"],
  ["that is two", () => `${"x".repeat(43)}, ${"y".repeat(43)}`],
];

const opened: readonly Case[] = tokens.map(([name, tokenOf]) => ({
  name: `a share link ${name}`,
  async run(farm) {
    const answers = await Promise.all(
      paths.map((path) =>
        farm.ask(path, undefined, { headers: { "x-grange-share": tokenOf(farm) } }),
      ),
    );
    for (const [at, { status, text }] of answers.entries()) {
      assert([400, 404].includes(status), `${paths[at]}: ${status} ${text}`);
      assert.equal(text.includes(farm.root), false);
    }
    // The same words at all places: they tell nothing about the link.
    assert.equal(new Set(answers.map(({ status, said }) => `${status} ${said}`)).size, 1);
  },
}));

const elsewhere: readonly Case[] = [
  ["in the address", (token: string) => [`/shared?token=${token}`, {}]],
  ["in a cookie", (token: string) => ["/shared", { cookie: `x-grange-share=${token}` }]],
  ["as a caller's token", (token: string) => ["/caller", { authorization: `Bearer ${token}` }]],
].map(([name, sent]) => ({
  name: `the token of a share link ${String(name)}`,
  async run(farm) {
    const [path, headers] = (sent as (token: string) => [string, Record<string, string>])(
      "x".repeat(43),
    );
    const { status } = await farm.ask(path, undefined, { headers });
    assert([400, 401, 404].includes(status), `${status}`);
  },
}));

const run = "/graphs/victim/jobs/a/runs/1/shares";
/** Bodies and places for which no link may be made, even by the farm's owner. */
const wrong: readonly (readonly [name: string, path: string, body: unknown])[] = [
  ["that never ends", run, { expiresInMs: 1e15 }],
  ["that ended before", run, { expiresInMs: -1 }],
  ["for no time", run, { expiresInMs: 0 }],
  ["for half a millisecond more", run, { expiresInMs: 60_000.5 }],
  ["for a time in words", run, { expiresInMs: "7d" }],
  ["for an infinite time", run, JSON.parse('{"expiresInMs":1e999}')],
  ["to a path that climbs", run, { path: "../../../etc/passwd" }],
  ["to an empty path", run, { path: "" }],
  ["to a path of 5,000 characters", run, { path: "x".repeat(5_000) }],
  ["to a path with NUL", run, { path: "a\u0000b" }],
  ["to a batch before the first", run, { batch: 0 }],
  ["to a batch and a path", run, { batch: 1, path: "a" }],
  ["with a chosen token", run, { token: "x".repeat(43) }],
  ["in another's name", run, { madeBy: "root" }],
  ["by a list", run, []],
  ["by a prototype", run, JSON.parse('{"__proto__":{"expiresInMs":60000}}')],
  ["to run 0", "/graphs/victim/jobs/a/runs/0/shares", {}],
  ["to run -1", "/graphs/victim/jobs/a/runs/-1/shares", {}],
  ["to run 1e9", "/graphs/victim/jobs/a/runs/1e9/shares", {}],
  ["to a graph with a quote", "/graphs/'%20or%201=1/jobs/a/runs/1/shares", {}],
  ["to a job that climbs", "/graphs/victim/jobs/..%2f..%2ftokens/runs/1/shares", {}],
  ["to a comparison without artifacts", "/benchmarks/compare/shares", { suite: "s" }],
  [
    "to a comparison of a suite with a quote",
    "/benchmarks/compare/shares",
    { suite: "' or 1=1", before: "a", after: "b" },
  ],
  [
    "to a comparison by a metric of 1,000 characters",
    "/benchmarks/compare/shares",
    { suite: "s", before: "a", after: "b", metric: "m".repeat(1_000) },
  ],
];

const made: readonly Case[] = wrong.map(([name, path, body]) => ({
  name: `a share link ${name}`,
  async run(farm) {
    for (const token of [farm.root, farm.mallory, undefined]) {
      const { status, text } = await farm.ask(path, body, as(token));
      assert([400, 401, 403, 404].includes(status), `${status} ${text}`);
    }
    const links = await farm.ask("/shares", undefined, as(farm.root));
    assert.equal(links.text, "[]", "a link was made");
  },
}));

const revoked: readonly Case[] = [
  randomUUID(),
  "'",
  "%",
  "..%2f..%2ftokens",
  "__proto__",
  "x".repeat(2_000),
].map((id) => ({
  name: `the end of a share link that is not there: ${id.length > 36 ? "a long id" : id.length === 36 ? "an id" : id}`,
  async run(farm) {
    for (const token of [farm.root, farm.mallory]) {
      const { status } = await farm.ask(`/shares/${id}/revoke`, {}, as(token));
      assert([400, 403, 404].includes(status), `${status}`);
    }
  },
}));

export const shareLinkSuite: HostileSuite<ClosedFarm> = {
  interface: "share links",
  atLeast: 40,
  cases: [...opened, ...elsewhere, ...made, ...revoked],
  open: openClosedFarm,
};
