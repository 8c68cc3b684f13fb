import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { AuditPage } from "#api/audit.ts";
import { CreatedShareLink, Shared, ShareLink, shareHeader } from "#api/share.ts";
import { sql } from "#db/sql.ts";
import { askServer, postTo } from "../support/ask-server.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: FarmHere;
let repository: SampleRepository;
let graph: string;
let name: string;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarmHere(),
    sampleRepository({
      ".grange/farm.yml": `version: 1
jobs:
  build:
    inputs: []
    commands: [echo told in the log, echo made > out.txt]
    outputs: [out.txt]
`,
    }),
  ]);
  graph = await farm.submit({ repository: repository.path, rev: "main" });
  name = (await farm.over(graph)).repository;
  const people = {
    root: [["*", "*"]],
    mia: [["role:maintainer", name]],
    vic: [["role:viewer", name]],
    other: [["role:maintainer", "another"]],
  } as const;
  for (const [principal, grants] of Object.entries(people)) {
    const made = await postTo(farm, "/tokens", { principal });
    tokens[principal] = CreatedToken.parse(made).token;
    for (const [verb, where] of grants)
      await postTo(farm, "/grants", { principal, verb, repository: where });
  }
  await askServer(farm, "PUT", "/access", { access: "private" }, tokens["root"]);
});
afterAll(async () => {
  await farm?.stop();
  await repository?.remove();
});

const runPath = (job = "build", run = 1) => `/graphs/${graph}/jobs/${job}/runs/${run}/shares`;

async function share(body: object = {}, by = "mia"): Promise<CreatedShareLink> {
  return CreatedShareLink.parse(await postTo(farm, runPath(), body, tokens[by]));
}

/** Sends a request as a caller that has nothing but the link. */
async function open(token: string, path = "/shared") {
  const response = await fetch(`${farm.url}/api/v1${path}`, { headers: { [shareHeader]: token } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const unknownToken = `grange_share_${"A".repeat(43)}`;

describe("a share link", () => {
  test("opens one log for a caller without any right, and nothing else", async () => {
    const link = await share();
    const shown = await open(link.token);
    const log = await open(link.token, "/shared/log");
    const rest = await open(link.token, "/shared/log?offset=5");
    const output = await open(link.token, "/shared/output");
    const comparison = await open(link.token, "/shared/comparison");
    const graphItself = await open(link.token, `/graphs/${graph}`);

    expect(link.url).toBe(`${farm.url}/shared#${link.token}`);
    expect(link.token).toMatch(/^grange_share_[A-Za-z0-9_-]{43}$/);
    expect(new Date(link.expiresAt).getTime() - new Date(link.madeAt).getTime()).toBe(7 * 864e5);
    expect(Shared.parse(JSON.parse(shown.text)).object).toEqual({
      kind: "log",
      graph,
      job: "build",
      run: 1,
    });
    expect(log.text).toContain("told in the log");
    expect(log.headers.get("x-log-complete")).toBe("true");
    expect(rest.text).toBe(log.text.slice(5));
    expect([output.status, comparison.status]).toEqual([409, 409]);
    expect(graphItself.status).toBe(403);
  });

  test("opens one output, as an attachment", async () => {
    const { token } = await share({ path: "out.txt" });
    const output = await open(token, "/shared/output");
    const log = await open(token, "/shared/log");

    expect(output.text).toBe("made\n");
    expect(output.headers.get("content-disposition")).toContain("attachment");
    expect(output.headers.get("content-security-policy")).toContain("sandbox");
    expect(log.status).toBe(409);
  });

  test("does not authenticate as a token of a caller, and no token of a caller opens one", async () => {
    const { token } = await share();
    const asToken = await askServer(farm, "GET", "/caller", undefined, token);
    const asLink = await open(tokens["root"] ?? "");

    expect(asToken.status).toBe(401);
    expect(asLink.status).toBe(404);
  });

  test("is made only by who may share and read there", async () => {
    const by = async (who: string, body: object = {}, path = runPath()) =>
      askServer(farm, "POST", path, body, tokens[who]);

    expect(await by("vic")).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining("may not share") } },
    });
    expect((await by("other")).status).toBe(404);
    expect((await by("mia", {}, runPath("nothing"))).status).toBe(404);
    expect((await by("mia", {}, runPath("build", 7))).status).toBe(404);
    expect((await by("mia", { path: "absent.txt" })).status).toBe(404);
    expect((await by("mia", { path: "out.txt", batch: 1 })).status).toBe(400);
    expect((await by("mia", { expiresInMs: 91 * 864e5 })).status).toBe(400);
    const comparison = { suite: "s", before: "a", after: "b" };
    expect((await by("mia", comparison, "/benchmarks/compare/shares")).status).toBe(403);
  });

  test("that is unknown, over, revoked, or of somebody without the right answers the same", async () => {
    const links = { over: await share(), revoked: await share(), lost: await share() };
    const { db } = farm.services;
    await db.run(sql`
      update share_link set made_at = now() - interval '2 days', expires_at = now() - interval '1 s'
      where id = ${links.over.id}
    `);
    await postTo(farm, `/shares/${links.revoked.id}/revoke`, {}, tokens["mia"]);
    const before = await open(links.lost.token);
    const role = { principal: "mia", verb: "role:maintainer" };
    await postTo(farm, "/grants/remove", role, tokens["root"]);

    const unknown = await open(unknownToken);
    const answers = await Promise.all(
      ["/shared", "/shared/log", "/shared/output", "/shared/comparison"].flatMap((path) =>
        [...Object.values(links).map(({ token }) => token), "nonsense", unknownToken].map((token) =>
          open(token, path),
        ),
      ),
    );
    await postTo(farm, "/grants", { ...role, repository: name }, tokens["root"]);
    const again = await open(links.lost.token);

    expect(before.status).toBe(200);
    expect(unknown.status).toBe(404);
    for (const { status, text } of answers) expect([status, text]).toEqual([404, unknown.text]);
    // A maker with the right again: the link is not revoked.
    expect(again.status).toBe(200);
  });

  test("is revoked with the last valid token of its maker, and not with another one", async () => {
    const tokenOf = async () =>
      CreatedToken.parse(await postTo(farm, "/tokens", { principal: "lea" }, tokens["root"]));
    const [first, last] = [await tokenOf(), await tokenOf()];
    tokens["lea"] = last.token;
    const grant = { principal: "lea", verb: "role:maintainer", repository: name };
    await postTo(farm, "/grants", grant, tokens["root"]);
    const link = await share({}, "lea");
    await postTo(farm, `/tokens/${first.id}/revoke`, {}, tokens["root"]);
    const afterOne = await open(link.token);
    await postTo(farm, `/tokens/${last.id}/revoke`, {}, tokens["root"]);
    const afterLast = await open(link.token);
    await tokenOf();

    expect([afterOne.status, afterLast.status]).toEqual([200, 404]);
    // A new token does not make it valid again.
    expect((await open(link.token)).status).toBe(404);
    const { body } = await askServer(farm, "GET", "/shares", undefined, tokens["root"]);
    const listed = ShareLink.array().parse(body);
    expect(listed.find(({ id }) => id === link.id)).toMatchObject({ revokedBy: "root" });
  });

  test("is stored as a hash", async () => {
    const { token } = await share();
    const rows = await farm.services.db.many(
      z.object({ text: z.string() }),
      sql`select share_link::text as text from share_link`,
    );

    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(token.slice("grange_share_".length));
  });

  test("is listed and revoked by its maker and by administrators, and audited", async () => {
    const link = await share();
    await Promise.all([open(link.token), open(link.token), open(link.token)]);
    const listed = async (who: string) => {
      const { body } = await askServer(farm, "GET", "/shares", undefined, tokens[who]);
      return ShareLink.array()
        .parse(body)
        .map(({ id }) => id);
    };
    const ids = { mia: await listed("mia"), root: await listed("root"), vic: await listed("vic") };
    const byOther = await askServer(farm, "POST", `/shares/${link.id}/revoke`, {}, tokens["vic"]);
    const revoked = await postTo(farm, `/shares/${link.id}/revoke`, {}, tokens["root"]);
    const { entries } = AuditPage.parse(
      (await askServer(farm, "GET", "/audit?verb=share", undefined, tokens["root"])).body,
    );
    const ofLink = entries.filter(({ detail }) => detail["id"] === link.id).toReversed();

    expect(ids.mia).toContain(link.id);
    expect(ids.root).toContain(link.id);
    expect(ids.vic).toEqual([]);
    expect(byOther.status).toBe(404);
    expect(ShareLink.parse(revoked).revokedBy).toBe("root");
    expect(ofLink.map(({ actor, detail, graph: of }) => [actor, detail["what"], of])).toEqual([
      ["mia", "make share link", graph],
      ["anyone", "open share link", graph],
      ["root", "revoke share link", graph],
    ]);
    expect(JSON.stringify(entries)).not.toContain(link.token);
  });
});

test("links are made, listed and revoked with commands", async () => {
  const env = { GRANGE_TOKEN: tokens["mia"] ?? "" };
  const run = (...args: string[]) => runGrange([...args, "--server", farm.url], { env });
  const made = await run("share", "output", graph, "build", "out.txt", "--expires", "1d");
  const token = made.stdout.trim().split("#")[1] ?? "";
  const listed = ShareLink.array().parse(
    await grangeJson(["share", "list", "--server", farm.url], { env }),
  );
  const opened = await open(token, "/shared/output");
  const revoked = await run("share", "revoke", listed[0]?.id ?? "");
  const tooLong = await run("share", "log", graph, "build", "--expires", "91d");

  expect(made.code).toBe(0);
  expect(listed[0]?.object).toMatchObject({ kind: "output", path: "out.txt" });
  expect(opened.text).toBe("made\n");
  expect(revoked.stdout).toContain("is revoked");
  expect((await open(token)).status).toBe(404);
  expect(tooLong.code).not.toBe(0);
});
