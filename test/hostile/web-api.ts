import assert from "node:assert/strict";
import { statusOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";
import { as, type HostileFarm } from "./hostile-farm.ts";
import { openFarm } from "./open-farm.ts";
import { requestedCases } from "./web-api-filters.ts";
import { guardedCases } from "./web-api-rights.ts";

interface Farms extends HostileFarm {
  readonly closed: ClosedFarm;
}
type Case = HostileCase<Farms>;

const others: readonly Case[] = [
  {
    name: "rights are as they were after all of that",
    alone: true,
    async run({ closed }) {
      const { text } = await closed.ask("/caller", undefined, as(closed.mallory));
      assert.equal(text.includes('"*","repository":"*"'), false);
      assert.equal(/"verb":"(administer|\*)"/.test(text), false);
      const root = await closed.ask("/tokens", undefined, as(closed.root));
      assert.equal(root.status, 200);
      assert.equal(root.text.includes(closed.root), false, "a token is told twice");
    },
  },
  {
    name: "fields that are not the caller's to set",
    async run({ ask }) {
      const token = await ask("/tokens", {
        principal: "x",
        token: "grange_mine",
        createdBy: "root",
      });
      assert.equal(token.status, 400);
      const grant = await ask("/grants", { principal: "x", verb: "submit", createdBy: "root" });
      assert.equal(grant.status, 400);
      const polluted = await ask(
        "/grants",
        JSON.parse('{"__proto__":{"principal":"x","verb":"*"}}'),
      );
      assert.equal(polluted.status, 400);
    },
  },
  {
    name: "pages of a billion, of none, and of less than none",
    async run({ ask }) {
      for (const limit of ["1000000000", "0", "-1", "1.5", "", "Infinity"]) {
        for (const path of [
          "/graphs",
          "/invocations",
          "/searches",
          "/size-class-keys",
          "/granary/builds",
        ]) {
          const { status } = await ask(`${path}?limit=${limit}`);
          assert.equal(status, 400, `${path}?limit=${limit}`);
        }
      }
    },
  },
  {
    name: "a body of a form, of plain text, and of no type at all",
    async run({ ask }) {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "",
      ]) {
        const { status } = await ask(
          "/drains",
          { pattern: "*", reason: "x" },
          { headers: { "content-type": type } },
        );
        assert.equal(status, 400, type);
      }
    },
  },
  {
    name: "a body that is deep, one that is not JSON, and one that is a number",
    async run({ ask }) {
      for (const body of [
        "[".repeat(60_000),
        "{",
        "1",
        "null",
        `{"a":${'{"a":'.repeat(5_000)}1${"}".repeat(5_001)}`,
      ]) {
        const { status } = await ask("/tokens", undefined, {
          method: "POST",
          body,
          headers: { "content-type": "application/json" },
        });
        assert.equal(status, 400, body.slice(0, 20));
      }
    },
  },
  {
    name: "a body of 100 MB",
    alone: true,
    async run({ http1 }) {
      const head =
        "POST /api/v1/tokens HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n";
      assert.match(
        await http1(`${head}content-length: 100000000\r\n\r\n{`),
        /^4(13|29|00)$|^503$|closed/,
      );
    },
  },
  {
    name: "another method by a header, another host by a header",
    async run({ ask, url }) {
      const overridden = await ask("/drains/remove", undefined, {
        headers: { "x-http-method-override": "POST", "x-method-override": "DELETE" },
      });
      assert.equal(overridden.status, 404);
      const { text } = await ask("/server", undefined, {
        headers: { "x-forwarded-host": "evil.example", "x-original-url": "/api/v1/tokens" },
      });
      assert.equal(text.includes("evil.example"), false);
      assert.equal(text.includes("token"), false);
      assert((await fetch(url)).status < 600);
    },
  },
  {
    name: "an address of a name that was turned to us",
    async run({ http1 }) {
      for (const host of [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "169.254.169.254",
      ])
        assert.equal(
          await http1(`GET /api/v1/tokens HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
          "403",
          host,
        );
    },
  },
  {
    name: "paths that climb out of the pages",
    async run({ http1Whole }) {
      for (const path of [
        "/../../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/package.json",
        "/%00.html",
        "//etc/passwd",
        "/assets/..\\..\\package.json",
        "/%ff%fe",
      ]) {
        const answer = await http1Whole(
          `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
        );
        const status = statusOf(answer);
        assert.match(status, /^(200|400|404|503)$/, path);
        // The response for a path without a file is a page that says so.
        if (status === "200") assert.match(answer, /<title>Grange<\/title>/, path);
      }
    },
  },
  {
    name: "responses that no proxy may store or confuse",
    async run({ ask }) {
      const { headers } = await ask("/caller");
      assert.equal(headers.get("access-control-allow-origin"), null);
      assert.equal(headers.get("x-frame-options"), "DENY");
      const made = await ask("/tokens", { principal: "kept" });
      assert.equal(made.headers.get("cache-control"), "no-store");
    },
  },
  {
    name: "a page of another origin that asks first",
    async run({ url }) {
      const answer = await fetch(`${url}/api/v1/drains`, {
        method: "OPTIONS",
        headers: {
          origin: "https://evil.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
      assert.equal(answer.headers.get("access-control-allow-origin"), null);
      assert.equal(answer.headers.get("access-control-allow-headers"), null);
    },
  },
  {
    name: "a token in an address",
    async run({ closed }) {
      for (const query of [
        `token=${closed.root}`,
        `access_token=${closed.root}`,
        `authorization=Bearer%20${closed.root}`,
      ]) {
        const { text } = await closed.ask(`/caller?${query}`);
        assert.equal(text.includes('"name":"root"'), false);
      }
    },
  },
  {
    name: "400 simultaneous streams of events (2,200 in the long run), and the next is served",
    alone: true,
    async run({ ask, url, full }) {
      const leave = new AbortController();
      const open = await Promise.all(
        Array.from({ length: full ? 2_200 : 400 }, () =>
          fetch(`${url}/api/v1/events`, { signal: leave.signal }).then(
            ({ status }) => status,
            () => 0,
          ),
        ),
      );
      assert.equal((await ask("/server")).status, 200);
      assert.equal(
        open.some((status) => status === 500),
        false,
      );
      if (full) assert(open.includes(429), "there is no end to them");
      leave.abort();
    },
  },
];

export const webApiSuite: HostileSuite<Farms> = {
  interface: "the API over HTTP",
  atLeast: 30,
  cases: [...requestedCases, ...guardedCases, ...others],
  async open(options) {
    const [open, closed] = await Promise.all([openFarm(options), openClosedFarm(options)]);
    return {
      target: { ...open.target, closed: closed.target },
      async stop() {
        await open.stop();
        await closed.stop();
      },
    };
  },
};
