import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArtifactCache } from "#artifacts/artifact-cache.ts";
import { findArtifacts } from "#artifacts/find-artifacts.ts";
import { remoteAccess } from "#git/remote-access.ts";
import { openGit } from "#git/run-git.ts";
import { sendToWebhook } from "#graphs/kinds/send-to-webhook.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import { parseSuite } from "#suites/read-suite.ts";
import { toySuite } from "../support/toy-suite.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { allowedPrivateHost, type ClosedFarm, openClosedFarm } from "./closed-farm.ts";
import { as } from "./hostile-farm.ts";

interface Outside extends ClosedFarm {
  /** On 127.0.0.1, which the farm may not access: the visits and their paths. */
  readonly trap: { readonly port: number; readonly visits: string[] };
  /** On 127.0.0.2, which the farm may access: it redirects everyone to the trap. */
  readonly sender: { readonly port: number; readonly visits: string[] };
}
type Case = HostileCase<Outside>;

/** Checks that nobody visits the trap, and that the caller gets the reason. */
function nowhere(
  name: string,
  address: (port: number) => string,
  also: readonly number[] = [],
): Case {
  return {
    name,
    async run(farm) {
      const before = farm.trap.visits.length;
      const repository = address(farm.trap.port);
      const { status, text } = await farm.ask("/graphs", { repository }, as(farm.root));
      assert([403, ...also].includes(status), `${status} ${text}`);
      assert.equal(farm.trap.visits.length, before, "somebody came");
    },
  };
}

const byGit: readonly Case[] = [
  nowhere("127.0.0.1", (port) => `http://127.0.0.1:${port}/x.git`),
  nowhere("localhost", (port) => `http://localhost:${port}/x.git`),
  nowhere("LOCALHOST with a dot", (port) => `http://LocalHost.:${port}/x.git`, [503]),
  nowhere("127.0.0.1 in hexadecimal", (port) => `http://0x7f000001:${port}/x.git`),
  nowhere("127.0.0.1 as one number", (port) => `http://2130706433:${port}/x.git`),
  nowhere("127.0.0.1 in octal", (port) => `http://0177.0.0.1:${port}/x.git`),
  nowhere("127.1", (port) => `http://127.1:${port}/x.git`),
  nowhere("127.0.0.1 in round digits of Unicode", (port) => `http://①②⑦.0.0.①:${port}/x.git`),
  nowhere("0.0.0.0", (port) => `http://0.0.0.0:${port}/x.git`),
  nowhere("IPv6's loopback", (port) => `http://[::1]:${port}/x.git`),
  nowhere("127.0.0.1 in IPv6's clothes", (port) => `http://[::ffff:127.0.0.1]:${port}/x.git`),
  nowhere(
    "127.0.0.1 in hexadecimal in IPv6's clothes",
    (port) => `http://[::ffff:7f00:1]:${port}/x.git`,
  ),
  nowhere("127.0.0.1 by NAT64", (port) => `http://[64:ff9b::7f00:1]:${port}/x.git`),
  nowhere("the metadata of a cloud", () => "http://169.254.169.254/latest/meta-data/"),
  nowhere("the metadata of a cloud over IPv6", () => "http://[fd00:ec2::254]/latest/"),
  nowhere(
    "a good host in front of the at sign",
    (port) => `http://github.com@127.0.0.1:${port}/x.git`,
  ),
  nowhere("over TLS", (port) => `https://127.0.0.1:${port}/x.git`),
  nowhere("Git's own protocol", (port) => `git://127.0.0.1:${port}/x.git`),
  nowhere("SSH", (port) => `ssh://git@127.0.0.1:${port}/x.git`),
  nowhere("SSH, in hexadecimal", (port) => `ssh://git@0x7f000001:${port}/x.git`),
  nowhere("SSH in its short form", () => "git@127.0.0.1:x.git"),
  nowhere("a socket of this machine", () => "http+unix://%2Fvar%2Frun%2Fdocker.sock/x", [400]),
  nowhere("gopher", (port) => `gopher://127.0.0.1:${port}/_x`, [400]),
  nowhere("a file that is no repository", () => "file:///etc/passwd", [400, 404, 409]),
  {
    name: "a redirect of a host that is allowed",
    async run(farm) {
      const before = farm.trap.visits.length;
      const repository = `http://127.0.0.2:${farm.sender.port}/x.git`;
      const { status, said } = await farm.ask("/graphs", { repository }, as(farm.root));
      assert.equal(status, 409, said);
      assert.match(said, /has moved/);
      assert(farm.sender.visits.length > 0);
      assert.equal(farm.trap.visits.length, before, "it was followed");
    },
  },
  {
    name: "definitions, previews and searches from there",
    async run(farm) {
      const before = farm.trap.visits.length;
      const repository = `http://127.0.0.1:${farm.trap.port}/x.git`;
      const from = { kind: "repository", repository };
      for (const [path, body] of [
        ["/graphs/preview", { repository, rev: "main" }],
        ["/graphs", { repository, definitionsFrom: from }],
        ["/searches", { kind: "backfill", repository, selection: "a", after: "a", last: "b" }],
      ] as const) {
        const { status } = await farm.ask(path, body, as(farm.root));
        assert([400, 403, 404].includes(status), `${path}: ${status}`);
      }
      const query = new URLSearchParams({ a: `${repository}@main`, b: `${repository}@main` });
      const { status } = await farm.ask(
        `/catalogs/diff?${query.toString()}`,
        undefined,
        as(farm.root),
      );
      assert([400, 403, 404].includes(status), String(status));
      assert.equal(farm.trap.visits.length, before);
    },
  },
  {
    name: "a name that means another address a moment later",
    async run(farm) {
      const address = `http://rebound.example:${farm.sender.port}/rebound.git`;
      const access = await remoteAccess(
        address,
        ["127.0.0.2"],
        async () => ["127.0.0.1", "127.0.0.2"],
        {},
      );
      const folder = await mkdtemp(join(tmpdir(), "grange-rebound-"));
      const git = await openGit(folder);
      try {
        // The host name does not exist: Git can only use the address that was checked before.
        await git.run(["ls-remote", access.url], { access });
        assert(farm.sender.visits.some((path) => path.includes("rebound")));
        assert.deepEqual(farm.trap.visits, []);
      } finally {
        await git.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
];

/** A suite's artifact source: the server reads it, and collectors fetch from it. */
function suiteFrom(name: string, repository: string) {
  return toySuite(repository, { name, target: "t", sets: [["a"]] });
}

let suites = 0;

/**
 * Checks that the source of a suite is not read, and that a request for a measurement gets the
 * reason.
 */
function unasked(
  name: string,
  address: (port: number) => string,
  why: RegExp = /private address/,
): Case {
  return {
    name: `a suite whose source is ${name}`,
    async run(farm) {
      const before = farm.trap.visits.length;
      suites += 1;
      const suite = `outbound-${suites}`;
      const definition = suiteFrom(suite, address(farm.trap.port));
      const pushed = await farm.ask(
        `/benchmarks/suites/${suite}`,
        { definition },
        { method: "PUT", ...as(farm.root) },
      );
      assert.equal(pushed.status, 200, pushed.text);
      const asked = { suite, artifact: "0123456789ab" };
      const { status, said } = await farm.ask("/benchmarks/requests", asked, as(farm.root));
      assert.equal(status, 403, said);
      assert.match(said, why);
      assert.equal(farm.trap.visits.length, before, "somebody came");
    },
  };
}

const bySuites: readonly Case[] = [
  unasked("127.0.0.1", (port) => `http://127.0.0.1:${port}/x.git`),
  unasked("localhost", (port) => `http://localhost:${port}/x.git`),
  unasked("127.0.0.1 as one number", (port) => `http://2130706433:${port}/x.git`),
  unasked("IPv6's loopback", (port) => `http://[::1]:${port}/x.git`),
  unasked("the metadata of a cloud", () => "http://169.254.169.254/latest/meta-data/"),
  unasked("Git's own protocol", (port) => `git://127.0.0.1:${port}/x.git`),
  {
    name: "a suite whose source sends on to a private address",
    async run(farm) {
      const before = farm.trap.visits.length;
      const repository = `http://${allowedPrivateHost}:${farm.sender.port}/suite.git`;
      const look = findArtifacts(parseSuite(suiteFrom("sent-on", repository), "a suite"), {
        privateHosts: [allowedPrivateHost],
      });
      await assert.rejects(look, /has moved/);
      assert(farm.sender.visits.some((path) => path.includes("suite.git")));
      assert.equal(farm.trap.visits.length, before, "it was followed");
    },
  },
  {
    name: "a collector that is to fetch a source there",
    async run({ trap }) {
      const before = trap.visits.length;
      const directory = await mkdtemp(join(tmpdir(), "grange-shelf-"));
      const { signal } = new AbortController();
      try {
        const cache = await openArtifactCache({ directory, limitBytes: 1e6, privateHosts: [] });
        for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
          const git = `http://${host}:${trap.port}/x.git`;
          const placing = cache.placeSource({ git, commit: "0".repeat(40) }, signal);
          await assert.rejects(placing, /private address/);
        }
        assert.equal(trap.visits.length, before, "somebody came");
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  },
];

const told = (url: string) => ({ id: "00000000-0000-4000-8000-000000000000", url, body: {} });

/** Checks that a notification is not sent, although its URL begins with an allowed prefix. */
function unsent(
  name: string,
  allowed: (port: number) => string,
  url: (port: number) => string,
): Case {
  return {
    name: `a notification to ${name}`,
    async run({ trap }) {
      const before = trap.visits.length;
      const webhooks = new Webhooks([new URL(allowed(trap.port))]);
      assert.notEqual(await sendToWebhook(webhooks, told(url(trap.port))), undefined);
      assert.equal(trap.visits.length, before);
    },
  };
}

const byWebhooks: readonly Case[] = [
  unsent(
    "a host whose name goes on",
    () => "https://hooks.example/",
    () => "https://hooks.example.evil.example/",
  ),
  unsent(
    "a user who is named as the host",
    () => "https://hooks.example/",
    (port) => `https://hooks.example@127.0.0.1:${port}/`,
  ),
  unsent(
    "another port",
    () => "http://127.0.0.1:1/",
    (port) => `http://127.0.0.1:${port}/`,
  ),
  unsent(
    "a path that climbs out of the prefix",
    (port) => `http://127.0.0.1:${port}/hooks/`,
    (port) => `http://127.0.0.1:${port}/hooks/../admin`,
  ),
  unsent(
    "a file",
    () => "https://hooks.example/",
    () => "file:///etc/passwd",
  ),
  unsent(
    "a name at a private address",
    (port) => `http://ip6-localhost.example:${port}/`,
    (port) => `http://ip6-localhost.example:${port}/`,
  ),
  {
    name: "a notification that is redirected",
    async run({ sender, trap }) {
      const before = trap.visits.length;
      const url = `http://127.0.0.2:${sender.port}/hook`;
      assert.match((await sendToWebhook(new Webhooks([new URL(url)]), told(url))) ?? "", /302/);
      assert.equal(trap.visits.length, before);
    },
  },
];

async function listening(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export const outboundSuite: HostileSuite<Outside> = {
  interface: "where the farm goes by itself",
  atLeast: 20,
  cases: [...byGit, ...bySuites, ...byWebhooks],
  async open(options) {
    const [trapped, sent]: [string[], string[]] = [[], []];
    const trap = createServer((request, response) => {
      trapped.push(request.url ?? "");
      response.writeHead(200).end("a secret");
    });
    trap.on("connection", () => trapped.push("connection"));
    const port = await listening(trap, "127.0.0.1");
    const sender = createServer((request, response) => {
      sent.push(request.url ?? "");
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end();
    });
    const senderPort = await listening(sender, allowedPrivateHost);
    const farm = await openClosedFarm(options);
    return {
      target: {
        ...farm.target,
        trap: { port, visits: trapped },
        sender: { port: senderPort, visits: sent },
      },
      async stop() {
        trap.close();
        sender.close();
        await farm.stop();
      },
    };
  },
};
