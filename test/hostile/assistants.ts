import assert from "node:assert/strict";
import { newToken } from "#access/secret-token.ts";
import { apiClient } from "#cli/api/api-client.ts";
import { type McpOverHttp, serveMcpOverHttp } from "#cli/mcp/serve-mcp-over-http.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";

interface Assisted {
  readonly farm: ClosedFarm;
  readonly mcp: McpOverHttp;
  readonly pid: number;
}
type Case = HostileCase<Assisted>;

const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

async function post(
  { mcp }: Assisted,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
  path = "",
) {
  const answer = await fetch(mcp.url + path, {
    method: "POST",
    headers: { ...headers, ...more },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const call = (name: unknown, args: unknown, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** No answer may be a failure of the server, or tell what only the owner may see. */
function isHarmless({ farm }: Assisted, { status, text }: { status: number; text: string }) {
  assert(status < 500, `${status} ${text.slice(0, 300)}`);
  assert.equal(text.includes(farm.root), false, "a token is told");
  assert.equal(/"name":"root"|\bat .*\.ts:\d+/.test(text), false, text.slice(0, 300));
}

const bodies: readonly (readonly [name: string, body: unknown])[] = [
  ["that is empty", ""],
  ["that is no JSON", "{"],
  ["that is a number", 1],
  ["that is null", "null"],
  ["of 100,000 lists in each other", "[".repeat(100_000)],
  ["of a megabyte of spaces", " ".repeat(1_000_000)],
  [
    "of 5,000 calls in one list",
    Array.from({ length: 5_000 }, (_, n) => call("farm_overview", {}, n)),
  ],
  ["without a method", { jsonrpc: "2.0", id: 1 }],
  ["of another protocol", { jsonrpc: "1.0", id: 1, method: "tools/list" }],
  ["with an id that is a map", { ...call("x", {}), id: { a: 1 } }],
  ["with a method of programs", { jsonrpc: "2.0", id: 1, method: "__proto__" }],
  [
    "that asks for a file",
    { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "file:///etc/passwd" } },
  ],
  ["that samples", { jsonrpc: "2.0", id: 1, method: "sampling/createMessage", params: {} }],
  [
    "with a version of nowhere",
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "9999-99-99",
        capabilities: {},
        clientInfo: { name: "x", version: "1" },
      },
    },
  ],
  ["that calls no tool", call("", {})],
  ["that calls a tool that is not there", call("delete_everything", {})],
  ["that calls a prototype", call("constructor", {})],
  ["that calls with a list", call("farm_overview", [])],
  [
    "that calls with a prototype",
    JSON.parse(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"farm_overview","arguments":{"__proto__":{"server":"http://evil.example"}}}}',
    ),
  ],
];

const posted: readonly Case[] = bodies.map(([name, body]) => ({
  name: `a request ${name}`,
  run: async (target) => isHarmless(target, await post(target, body)),
}));

const strangers: readonly (readonly [
  name: string,
  more: Record<string, string>,
  wanted: number,
])[] = [
  ["of a page of another site", { origin: "https://evil.example" }, 403],
  ["of a page without an origin", { origin: "null" }, 403],
  ["with a token of nobody's form", { authorization: "Bearer x" }, 401],
  ["with a password", { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` }, 401],
  ["with two tokens", { authorization: `Bearer ${newToken()}, ${newToken()}` }, 401],
];

const refused: readonly Case[] = strangers.map(([name, more, wanted]) => ({
  name: `a request ${name}`,
  async run(target) {
    const { status, text } = await post(target, call("farm_overview", {}), more);
    assert.equal(status, wanted, text);
  },
}));

const others: readonly Case[] = [
  {
    name: "a request with a token that the farm does not know",
    async run(target) {
      const answer = await post(target, call("farm_overview", {}), {
        authorization: `Bearer ${newToken()}`,
      });
      isHarmless(target, answer);
      assert.equal(answer.text.includes('"attention"'), false);
    },
  },
  {
    name: "paths beside the one that is served",
    async run(target) {
      for (const path of ["/../caller", "x", "/%2e%2e/api/v1/tokens", "//evil.example/mcp"]) {
        const { status } = await post(target, call("farm_overview", {}), {}, path);
        assert.equal(status, 404, path);
      }
    },
  },
  ...["PUT", "DELETE", "PATCH"].map(
    (method): Case => ({
      name: `the method ${method}`,
      async run({ mcp }) {
        const { status } = await fetch(mcp.url, { method, headers });
        assert(status >= 400 && status < 500, `${status}`);
      },
    }),
  ),
];

export const assistantSuite: HostileSuite<Assisted> = {
  interface: "tools for assistants over HTTP",
  atLeast: 25,
  cases: [...posted, ...refused, ...others],
  async open(options) {
    const farm = await openClosedFarm(options);
    const mcp = await serveMcpOverHttp({
      port: 0,
      version: "test",
      apiFor: (token) => apiClient(farm.target.url, { token }),
    });
    return {
      target: { farm: farm.target, mcp, pid: farm.target.pid },
      async stop() {
        await mcp.stop();
        await farm.stop();
      },
    };
  },
};
