import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { Caller, CreatedToken, GrantRule, Token } from "#api/access.ts";
import { Worker } from "#api/worker.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { copyCluster } from "../support/prepared-cluster.ts";
import type { Program } from "../support/process.ts";
import { grangeJson, lastLine, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const definitions = `
version: 1
jobs:
  make: { commands: "sort words > sorted", inputs: [words], outputs: [sorted] }
  pry: { commands: "! cat {DIR}/workers/enrolled/*", inputs: [] }
`;

// Farms and workers start and end again and again, on whatever machine this is.

let farm: Farm;
let repository: SampleRepository;
let scratch: string;
let root: string;
const started: Program[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "grange-enrol-"));
  [farm, repository] = await Promise.all([
    startFarm({ workers: 0, env: { GRANGE_CLOSE: "1" } }),
    sampleRepository({
      ".grange/farm.yml": definitions.replace("{DIR}", scratch),
      words: "b\na\n",
    }),
  ]);
  root = (await readFile(join(farm.dataDir, "owner-token"), "utf8")).trim();
});
afterAll(async () => {
  for (const program of started) program.signal("SIGTERM");
  await Promise.all(started.map(({ finished }) => finished));
  await farm?.stop();
  await repository?.remove();
  await rm(scratch, { recursive: true, force: true });
});

const asOwner = () => ({ GRANGE_TOKEN: root, GRANGE_SERVER: farm.url });
const asked = async <Shape extends z.ZodType>(shape: Shape, ...args: string[]) =>
  shape.parse(await grangeJson(args, { env: asOwner() })) as z.output<Shape>;

function worker(name: string, ...more: string[]): Program {
  const at = ["--server", farm.url, "--name", name, "--data", join(scratch, "workers")];
  const program = startGrange(["worker", ...at, ...more], { env: { GRANGE_TOKEN: "" } });
  started.push(program);
  return program;
}

/** Ends well when a worker has taken and ended one execution; nobody else is there to take it. */
async function runsAGraph(): Promise<unknown> {
  return grangeJson(["submit", "--repo", repository.path, "--no-cache", "--wait"], {
    env: asOwner(),
  });
}

const ready = (program: Program) => program.line((line) => line.startsWith('{"ready":'));

describe("a worker of a closed farm", () => {
  test("enrols once with its token, and then works with its permanent token", async () => {
    const offer = await asked(CreatedToken, "token", "create", "attic", "--enrol", "worker");
    const first = worker("w1", "--enrol", offer.token);
    await ready(first);
    const graph = await runsAGraph();
    first.signal("SIGTERM");
    await first.finished;

    const again = worker("w1", "--enrol", offer.token);
    await ready(again);
    const second = await runsAGraph();
    const bare = worker("w2", "--enrol", offer.token);
    const refused = await bare.finished;

    const file = join(scratch, "workers", "enrolled", "w1.json");
    const kept = z.object({ token: z.string() }).parse(JSON.parse(await readFile(file, "utf8")));
    const listed = await asked(z.array(Token), "token", "list");
    expect([graph, second]).toMatchObject([{ state: "succeeded" }, { state: "succeeded" }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(kept.token).toMatch(/^grange_[A-Za-z0-9_-]{43}$/);
    expect(lastLine(refused)).toMatchObject({
      ready: false,
      error: { message: expect.stringContaining("was used already") },
    });
    expect(listed.filter(({ principal }) => principal === "attic")).toMatchObject([
      { kind: "worker", use: "calls", revokedAt: null },
      { id: offer.id, kind: "worker", use: "enrolment", usedAt: expect.any(String) },
    ]);
    expect(await asked(z.array(Worker), "workers")).toMatchObject([
      { name: "w1", principal: "attic", quarantine: null },
    ]);
    again.signal("SIGTERM");
    await again.finished;
  });

  test("gets an error with the reason if its token is revoked or missing", async () => {
    const offer = await asked(CreatedToken, "token", "create", "shed", "--enrol", "worker");
    const file = join(scratch, "offer");
    await writeFile(file, `${offer.token}\n`);
    const enrolled = worker("w3", "--enrol", file);
    await ready(enrolled);
    const mine = (await asked(z.array(Token), "token", "list")).find(
      ({ principal, use }) => principal === "shed" && use === "calls",
    );
    await asked(Token, "token", "revoke", mine?.id ?? "");

    const revoked = await enrolled.note((line) => line.includes("was revoked at"));
    const stranger = await worker("w4").note((line) => line.includes("may not work"));

    expect(revoked).toContain(mine?.id);
    expect(stranger).toContain("grange grant add anyone work --pool POOL");
  });

  test("serves the pools of its enrolment", async () => {
    const pool = ["--enrol", "worker", "--pool", "ci-*"];
    const offer = await asked(CreatedToken, "token", "create", "ci-machine", ...pool);
    const other = worker("w5", "--enrol", offer.token);

    expect(await other.note((line) => line.includes("may not work"))).toContain(
      "grange grant add ci-machine work --pool default",
    );
    expect(await asked(z.array(GrantRule), "grant", "list")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ principal: "ci-machine", verb: "work", pool: "ci-*" }),
      ]),
    );
  });
});

test("an enrolment is checked completely before anything is created", async () => {
  const run = (...args: string[]) => runGrange(["token", "create", ...args], { env: asOwner() });

  const poolOfGranary = await run("g1", "--enrol", "granary", "--pool", "x");
  const lonely = await run("g1", "--pool", "x");
  const person = await run("owner", "--enrol", "worker");
  const worthless = await runGrange(["grant", "add", "a", "administer", "--pool", "x"], {
    env: asOwner(),
  });

  expect(poolOfGranary.stderr).toContain("only workers have a pool");
  expect(lonely.stderr).toContain("need --enrol");
  expect(person.stderr).toContain("owner is a person here");
  expect(worthless.stderr).toContain("--pool limits only");
});

describe("a server that other machines can reach", () => {
  test("is private when its farm is new, and shows its grants to its owner", async () => {
    const data = join(scratch, "wide");
    const wide = ["server", "--data", data, "--host", "0.0.0.0", "--port", "0"];

    const server = startGrange(wide);
    started.push(server);
    const { port } = new URL(z.object({ url: z.url() }).parse(JSON.parse(await ready(server))).url);
    const at = ["--server", `http://127.0.0.1:${port}`];
    const owner = ["--token-file", join(data, "owner-token")];
    const nobody = await runGrange(["status", ...at]);
    const grants = await grangeJson(["grant", "list", ...at, ...owner]);
    const access = await grangeJson(["access", "show", ...at, ...owner]);

    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toContain("may not read");
    expect(access).toEqual({ access: "private" });
    expect(grants).toEqual([
      expect.objectContaining({ principal: "owner", verb: "*" }),
      expect.objectContaining({ principal: "workers-here", verb: "work" }),
    ]);
  });

  test("does not start on an open farm; the command in its message closes it", async () => {
    const data = join(scratch, "opened");
    const here = startGrange(["server", "--data", data, "--port", "0"]);
    started.push(here);
    await ready(here);
    here.signal("SIGTERM");
    await here.finished;
    const wide = ["server", "--data", data, "--host", "0.0.0.0", "--port", "0"];

    const open = await runGrange(wide);
    const message = z.object({ error: z.object({ message: z.string() }) }).parse(lastLine(open))
      .error.message;
    const [, command = ""] = /`grange (server [^`]*--close)`/.exec(message) ?? [];
    const closing = startGrange([...command.split(" "), "--port", "0"]);
    started.push(closing);
    const { port } = new URL(
      z.object({ url: z.url() }).parse(JSON.parse(await ready(closing))).url,
    );
    const ask = (...token: string[]) =>
      grangeJson(["grant", "list", "--server", `http://127.0.0.1:${port}`, ...token]);
    const nobody = await ask();
    const owner = await ask("--token-file", join(data, "owner-token"));
    closing.signal("SIGTERM");
    await closing.finished;
    const later = startGrange(wide);
    started.push(later);

    expect(open.code).toBe(1);
    expect(nobody).toEqual(
      ["read", "read-logs", "read-sources"].map((verb) =>
        expect.objectContaining({ principal: "anyone", verb }),
      ),
    );
    expect(owner).toEqual(
      expect.arrayContaining([expect.objectContaining({ principal: "owner", verb: "*" })]),
    );
    // Once closed, it starts without the option.
    expect(await ready(later)).toContain('"ready":true');
  });
});

test("grange up stores its owner's token, and commands in its directory use it", async () => {
  const data = join(scratch, "up");
  await copyCluster(data);
  const up = startGrange([
    "up",
    "--json",
    "--port",
    "0",
    "--data",
    data,
    "--repo",
    repository.path,
  ]);
  started.push(up);
  const line = await up.note((each) => each.startsWith("The farm: "));
  const [, url = ""] = /(http:\S+)/.exec(line) ?? [];
  await up.line((each) => each.startsWith('{"state"'));
  const here = { env: { GRANGE_DATA: data, GRANGE_SERVER: url, GRANGE_TOKEN: "" } };
  const there = { env: { GRANGE_SERVER: url, GRANGE_TOKEN: "" }, cwd: scratch };

  const caller = Caller.parse(await (await fetch(new URL("api/v1/caller", url))).json());
  const closed = await runGrange(["grant", "remove", "anyone", "*"], here);
  const asOwnerStill = await runGrange(["token", "create", "ada"], here);
  const asNobody = await runGrange(["token", "create", "eve"], there);
  const again = await grangeJson(
    ["submit", "--repo", repository.path, "--no-cache", "--wait"],
    here,
  );

  // It stays open until its owner closes it.
  expect(caller.name).toBe("anyone");
  expect((await stat(join(data, "owner-token"))).mode & 0o777).toBe(0o600);
  expect(closed.code).toBe(0);
  expect(asOwnerStill.code).toBe(0);
  expect(asNobody.stderr).toContain("a caller without a token may not administer");
  // Its workers have a separate token, too.
  expect(again).toMatchObject({ state: "succeeded" });
  up.signal("SIGINT");
  await up.finished;

  // After a restart the farm is still closed: a link that works once signs in to its page.
  const options = ["--data", data, "--repo", repository.path, "--port", "0", "--once"];
  const { stderr, code } = await runGrange(["up", ...options]);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /signs one browser in as the owner, once: http:\/\/127\.0\.0\.1:\d+\/sign-in#code=\S+/,
  );
});
