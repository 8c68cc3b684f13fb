import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { HostileCase } from "./case.ts";
import { type ClosedFarm } from "./closed-farm.ts";
import { as } from "./hostile-farm.ts";

type Case = HostileCase<{ readonly closed: ClosedFarm }>;

const id = randomUUID();
/** All calls that make changes, each with a valid body. */
const changes: readonly (readonly [method: string, path: string, body: unknown])[] = [
  ["POST", "/graphs", { repository: "/nowhere/victim.git" }],
  ["POST", "/tokens", { principal: "root" }],
  ["POST", `/tokens/${id}/revoke`, {}],
  ["GET", "/tokens", undefined],
  ["POST", "/grants", { principal: "mallory", verb: "*" }],
  ["POST", "/grants/remove", { principal: "root", verb: "*" }],
  [
    "POST",
    "/keys",
    { name: "mine", publicKey: `ed25519:${Buffer.alloc(32, 1).toString("base64")}` },
  ],
  ["POST", "/keys/release/revoke", {}],
  ["POST", "/drains", { pattern: "*", reason: "mine" }],
  ["POST", "/drains/remove", { pattern: "*" }],
  ["PUT", "/declared-classes", { platform: {}, sizeClass: 1, atMost: 1_000 }],
  ["PUT", "/size-classes/settings", { strategy: "smallest" }],
  ["PUT", "/metrics/mine", { ofRecord: true }],
  ["PUT", "/benchmarks/suites/mine", { definition: "suite: mine" }],
  ["POST", "/benchmarks/requests", { suite: "none", artifact: "a".repeat(40) }],
  ["PUT", `/benchmarks/tarballs/${"a".repeat(64)}/5`, "12345"],
  ["POST", "/benchmarks/collectors", { name: "mine", target: "linux" }],
  ["POST", "/benchmarks/collectors/victim", { active: false }],
  [
    "POST",
    "/benchmarks/import",
    { suite: "s", artifact: "a".repeat(40), tool: "hyperfine", target: "t", output: "{}" },
  ],
  ["POST", "/granary/quarantine/release", { project: "victim", namespace: "reapi", key: "k" }],
  ["POST", "/granary/quarantine/made-from", { project: "victim", namespace: "reapi", key: "k" }],
  ["POST", "/invocations/none/cancel?project=victim", {}],
  [
    "POST",
    "/searches",
    {
      kind: "backfill",
      repository: "https://example.org/victim.git",
      selection: "a",
      after: "a",
      last: "b",
    },
  ],
];

export const guardedCases: readonly Case[] = changes.map(([method, path, body]) => ({
  name: `${method} ${path.replace(id, "ID").slice(0, 50)} by nobody, and by one who may do it elsewhere`,
  async run({ closed }) {
    for (const token of [undefined, closed.mallory]) {
      const { status, text } = await closed.ask(path, body, { ...as(token), method });
      assert([400, 401, 403, 404, 409].includes(status), `${status} ${text}`);
      if (token === undefined) assert.notEqual(status, 200);
      assert.equal(text.includes(closed.root), false);
    }
  },
}));
