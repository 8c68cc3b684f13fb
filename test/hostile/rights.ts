import assert from "node:assert/strict";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";
import { as } from "./hostile-farm.ts";

type Case = HostileCase<ClosedFarm>;

/** Texts in place of a name, a pattern or a verb. */
const texts: readonly (readonly [name: string, text: string])[] = [
  ["a quote", "' or '1'='1"],
  ["a NUL", "a\u0000b"],
  ["a wildcard of SQL", "%_%"],
  ["a thousand stars", "*a".repeat(1_000)],
  ["a pattern that takes long to try", `${"a*".repeat(200)}b`],
  ["a word of programs", "__proto__"],
  ["a way out", "../../tokens"],
  ["letters that look alike", "r\u043e\u043et"],
  ["a right-to-left override", "\u202etoor"],
  ["nothing", ""],
  ["5,000 letters", "a".repeat(5_000)],
];

/** Ends questions whose work would grow with the square of the input. */
const mostMs = 60_000;

const asked: readonly Case[] = texts.flatMap(([name, text]): Case[] => {
  const encoded = encodeURIComponent(text);
  const paths: readonly (readonly [string, string])[] = [
    ["who may do what on", `/rights?repository=${encoded}&branch=${encoded}`],
    [
      "may somebody read",
      `/principals/mallory/check?verb=read&repository=${encoded}&branch=${encoded}`,
    ],
    ["the rights of", `/principals/${encoded}`],
    ["the audit entries of", `/audit?principal=${encoded}&verb=${encoded}`],
  ];
  return paths.map(([question, path]) => ({
    name: `${question} ${name}`,
    async run(farm) {
      const since = performance.now();
      for (const token of [farm.root, farm.mallory, undefined]) {
        const answer = await farm.ask(path, undefined, as(token));
        assert(answer.status < 500, `${answer.status} ${answer.text}`);
        // `anyone` may read on this farm, and so ask about its own rights.
        if (token !== farm.root)
          assert.equal(/"principal":"root"/.test(answer.text), false, "it tells of others");
      }
      assert(performance.now() - since < mostMs, "it took too long");
    },
  }));
});

const roleNames = [
  "owner",
  "viewer",
  "__proto__",
  "constructor",
  "Capital",
  "a".repeat(33),
  "%2e%2e",
  "a%2fb",
  "1st",
  "role:viewer",
];

/** No role of these names may be set, and none of the farm's own may change. */
const roles: readonly Case[] = roleNames.map((name) => ({
  name: `a role called ${name.slice(0, 20)}`,
  // It compares all roles.
  alone: true,
  async run(farm) {
    const before = await farm.ask("/roles", undefined, as(farm.root));
    for (const token of [farm.root, farm.mallory, undefined]) {
      const { status } = await farm.ask(
        `/roles/${name}`,
        { verbs: ["read"] },
        { ...as(token), method: "PUT" },
      );
      // `constructor` is a plain word, which an owner may choose.
      const mayBeSet = token === farm.root && name === "constructor";
      assert(mayBeSet ? status === 200 : [400, 401, 403, 404, 409].includes(status), `${status}`);
    }
    await farm.ask(`/roles/${name}`, {}, { ...as(farm.root), method: "DELETE" });
    const after = await farm.ask("/roles", undefined, as(farm.root));
    assert(after.text === before.text, "the roles have changed");
  },
}));

const verbLists: readonly (readonly [name: string, verbs: unknown])[] = [
  ["no verbs", []],
  ["a role", ["role:owner"]],
  ["an unknown verb", ["become-root"]],
  ["a list in the list", [["read"]]],
  ["a number", [1]],
  ["no list", "read"],
  ["a thousand verbs", Array(1_000).fill("read")],
];

const verbs: readonly Case[] = verbLists.map(([name, list]) => ({
  name: `a role with ${name}`,
  async run(farm) {
    const { status } = await farm.ask(
      "/roles/strange",
      { verbs: list },
      { ...as(farm.root), method: "PUT" },
    );
    assert.equal(status, 400);
  },
}));

const grants: readonly (readonly [name: string, grant: unknown])[] = [
  ["of a role that is not there", { principal: "eve", verb: "role:nothing" }],
  ["of an unknown verb", { principal: "eve", verb: "become-root" }],
  ["to nobody", { principal: "", verb: "read" }],
  ["to a name with a line break", { principal: "eve\nroot", verb: "read" }],
  ["to a list", { principal: ["eve"], verb: "read" }],
  [
    "in a repository of 5,000 letters",
    { principal: "eve", verb: "read", repository: "a".repeat(5_000) },
  ],
  ["with a cap of 1e300", { principal: "eve", verb: "submit", priorityCap: 1e300 }],
  ["with a cap in words", { principal: "eve", verb: "submit", priorityCap: "high" }],
  ["with a giver of its own", { principal: "eve", verb: "read", createdBy: "root" }],
  ["by a prototype", JSON.parse('{"__proto__":{"principal":"eve","verb":"*"}}')],
];

const given: readonly Case[] = grants.map(([name, grant]) => ({
  name: `a grant ${name}`,
  async run(farm) {
    for (const token of [farm.root, farm.mallory, undefined]) {
      const { status, text } = await farm.ask("/grants", grant, as(token));
      assert([400, 401, 403, 404].includes(status), `${status} ${text}`);
    }
    const { text } = await farm.ask("/grants", undefined, as(farm.root));
    assert.equal(text.includes('"eve'), false, "a grant was given");
  },
}));

export const rightsSuite: HostileSuite<ClosedFarm> = {
  interface: "rights, roles and grants",
  atLeast: 60,
  cases: [...asked, ...roles, ...verbs, ...given],
  open: openClosedFarm,
};
