import { randomUUID } from "node:crypto";
import fc from "fast-check";
import pino from "pino";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Clock } from "#core/clock.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { commandsOfPull } from "./commands-of-pull.fixture.ts";
import { insertDelivery, latestDeliveries } from "./delivery.store.ts";
import type { Forge } from "./forge.ts";
import { type AdminServices, addRepository, setPolicy } from "./forge-admin.ts";
import type { ForgeServices } from "./forge-services.ts";
import { defaultForgeTimes } from "./forge-times.ts";
import { keepHolding, takeRepository } from "./holding.store.ts";
import { type MemoryFarmPort, memoryFarmPort } from "./memory-farm-port.fixture.ts";
import { type MemoryForge, memoryForge, shaOf } from "./memory-forge.fixture.ts";
import { approvePull, findPull } from "./pull.store.ts";
import { findWatched, lookSoon } from "./repository.store.ts";
import type { Hint } from "./webhooks/hint.ts";
import { workOnNext } from "./work-on-repository.ts";

const db = await freshDb();
afterAll(() => db.close());

const name = "owner/name";
let forge: MemoryForge;
let service: MemoryFarmPort;
let services: ForgeServices;
let admin: AdminServices;
let now: Date;
const clock: Clock = { now: () => now };
const ever = new AbortController().signal;

beforeEach(async () => {
  await db.run(sql`delete from forge_repository`);
  await db.run(sql`delete from forge_delivery`);
  forge = memoryForge();
  service = memoryFarmPort();
  now = new Date("2026-01-01T00:00:00Z");
  const forges = [{ ...memoryForge(), kind: "git" }, forge];
  const logger = pino({ level: "silent" });
  services = { db, clock, logger, service, forges, times: defaultForgeTimes, chance: () => 0.5 };
  admin = {
    db,
    clock,
    forges,
    nameRepository: (url) => service.nameRepository(url),
    sealWay: (_, address) => ({ keyId: "k", sealed: Buffer.from(address) }),
    record: async () => {},
  };
});

function pass(ms: number) {
  now = new Date(now.getTime() + ms);
}

const watch = (policy = {}) =>
  addRepository(admin, { kind: "github", slug: "Owner/Name", policy, by: "ada" });

/** Works until nothing is left to do, as all servers together would. */
async function settle() {
  for (let round = 0; round < 100; round++) {
    if (!(await workOnNext(services, randomUUID(), ever))) return;
  }
  throw new Error("it never comes to rest");
}

async function told(hint: Hint, id = randomUUID() as string) {
  return db.transaction((tx) =>
    insertDelivery(tx, { kind: "github", id, event: "test", slug: name, hint, receivedAt: now }),
  );
}

const running = () =>
  service
    .running()
    .map(({ ref, sha }) => `${ref} ${sha}`)
    .toSorted();
const onMain = (word: string) => `refs/heads/main ${shaOf(word)}`;
const onPull = (number: number, word: string) => `refs/pull/${number}/head ${shaOf(word)}`;

describe("branches and tags", () => {
  test("the head of the default branch gets a graph at once; tags only when they are new", async () => {
    forge.branches.set("refs/tags/old", shaOf("main 1"));
    forge.branches.set("refs/heads/other", shaOf("other"));
    await watch();
    await settle();
    forge.branches.set("refs/tags/new", shaOf("main 1"));
    await told({ about: "refs" });
    await settle();

    expect(running()).toEqual([onMain("main 1"), `refs/tags/new ${shaOf("main 1")}`]);
    expect(service.running()[0]).toMatchObject({ url: "https://forge.test/owner/name.git" });
  });

  test("with a suite, heads are measured as master and tags as releases", async () => {
    await watch({ suite: "toy" });
    await settle();
    forge.branches.set("refs/tags/v1", shaOf("main 1"));
    await told({ about: "refs" });
    await settle();

    expect(service.requests).toEqual([
      { artifact: shaOf("main 1"), kind: "master", by: "forge" },
      { artifact: "v1", kind: "release", by: "forge" },
    ]);
  });

  test("what failed is made later, and nothing is made twice", async () => {
    await watch({ suite: "toy" });
    service.fails = () => "after";
    await settle();
    const failed = await findWatched(db, name);
    service.fails = () => undefined;
    pass(60_000);
    await settle();
    pass(24 * 60 * 60_000);
    await settle();

    expect(failed?.error).toContain("did not work out");
    expect((await findWatched(db, name))?.error).toBeNull();
    expect(running()).toEqual([onMain("main 1")]);
  });

  test("a permanent failure is reported, and retried when the rules change", async () => {
    await watch();
    service.fails = () => "for good";
    await settle();
    const refs = await db.many(
      z.object({ problem: z.string().nullable() }),
      sql`select problem from forge_ref`,
    );
    service.fails = () => undefined;
    await settle();
    const before = running();
    await setPolicy(admin, name, { graph: "nightly" });
    await settle();

    expect(refs).toEqual([{ problem: "the definitions are wrong" }]);
    expect(before).toEqual([]);
    expect(running()).toEqual([onMain("main 1")]);
  });

  test("a commit that cannot be measured still gets its graph, and a check without a problem", async () => {
    await watch({ suite: "toy" });
    service.fails = (call) => (call === "requestBenchmark" ? "for good" : undefined);
    await settle();
    const [ref] = await db.many(
      z.object({ problem: z.string().nullable() }),
      sql`select problem from forge_ref`,
    );
    const shown = await db.many(z.object({ key: z.string() }), sql`select key from forge_outbox`);

    expect(ref?.problem).toMatch(/^not measured: /);
    expect(running()).toEqual([onMain("main 1")]);
    expect(shown).toEqual([]);
  });
});

describe("a forge without a capability", () => {
  test("that has only branches gets graphs for them, and no reports", async () => {
    const forges: Forge[] = [
      {
        kind: "tried",
        storedSlug: (written) => forge.storedSlug(written),
        fetchAddress: (slug) => forge.fetchAddress(slug),
        refs: (slug) => forge.refs(slug),
        defaultBranch: (slug) => forge.defaultBranch(slug),
        examine: async () => [],
      },
    ];
    services = { ...services, forges };
    admin = { ...admin, forges };
    await addRepository(admin, { kind: "tried", slug: "Owner/Name", policy: {}, by: "ada" });
    await settle();
    const shown = await db.many(z.object({ key: z.string() }), sql`select key from forge_outbox`);

    expect(running()).toEqual([onMain("main 1")]);
    expect(shown).toEqual([]);
    // For any capabilities, it is read at the longest allowed interval: without webhooks, once a minute.
    const { nextAt } = (await findWatched(db, "owner/name")) ?? {};
    expect(nextAt?.getTime()).toBe(now.getTime() + defaultForgeTimes.pollMs);
  });

  test("of an unknown kind is rejected, with the known kinds", async () => {
    await expect(
      addRepository(admin, { kind: "none", slug: "a/b", policy: {}, by: "ada" }),
    ).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("git or github"),
    });
  });
});

describe("pull requests", () => {
  test("the head gets a graph; the graph of an old head is cancelled; a closed one has none", async () => {
    forge.open(7, "a");
    await watch();
    await settle();
    const first = running();
    forge.change(7, { head: shaOf("b") });
    await told({ about: "pull", number: 7 });
    await settle();
    const second = running();
    forge.change(7, { state: "closed" });
    await told({ about: "pull", number: 7 });
    await settle();

    expect(first).toEqual([onMain("main 1"), onPull(7, "a")]);
    expect(second).toEqual([onMain("main 1"), onPull(7, "b")]);
    expect(running()).toEqual([onMain("main 1")]);
  });

  test("a head that returns, or a reopened pull request, gets a graph again", async () => {
    forge.open(7, "a");
    await watch();
    await settle();
    for (const to of [
      { head: shaOf("b") },
      { head: shaOf("a") },
      { state: "closed" },
      { state: "open" },
    ]) {
      forge.change(7, to as object);
      await told({ about: "pull", number: 7 });
      await settle();
    }

    expect(running()).toEqual([onMain("main 1"), onPull(7, "a")]);
  });

  test("from a fork, a commit waits for an approval of exactly that commit", async () => {
    forge.open(7, "a", { isFork: true, headRepository: "stranger/name" });
    await watch();
    await settle();
    const held = running();
    const approve = (head: string) =>
      db.transaction((tx) =>
        approvePull(tx, { repository: name, number: 7, head, by: "ada", at: now }),
      );
    const wrong = await approve(shaOf("b"));
    const right = await approve(shaOf("a"));
    await settle();
    const approved = running();
    forge.change(7, { head: shaOf("b") });
    await told({ about: "pull", number: 7 });
    await settle();

    expect(held).toEqual([onMain("main 1")]);
    expect([wrong, right]).toEqual([false, true]);
    expect(approved).toEqual([onMain("main 1"), onPull(7, "a")]);
    expect(running()).toEqual([onMain("main 1")]);
    expect(await findPull(db, name, 7)).toMatchObject({ approvedHead: null, approvedBy: null });
  });

  test.each([
    { forkGraphs: "always", graphs: 2 },
    { forkGraphs: "never", graphs: 1 },
  ])("a policy may say of forks: $forkGraphs", async ({ forkGraphs, graphs }) => {
    forge.open(7, "a", { isFork: true });
    await watch({ forkGraphs });
    await settle();

    expect(running()).toHaveLength(graphs);
  });

  test("older data never replaces newer data", async () => {
    forge.open(7, "a");
    await watch();
    await settle();
    const before = forge.pulls.get(7);
    forge.change(7, { head: shaOf("b") });
    await told({ about: "pull", number: 7 });
    await settle();
    if (before !== undefined) forge.pulls.set(7, before);
    await told({ about: "pull", number: 7 });
    await settle();

    expect(running()).toContain(onPull(7, "b"));
  });
});

describe("webhooks", () => {
  test("are processed together, with one read of each thing that they name", async () => {
    await watch();
    await settle();
    forge.calls.clear();
    forge.open(7, "a");
    for (let i = 0; i < 30; i++) {
      await told({ about: "pull", number: 7 });
      await told({ about: "refs" });
    }
    await settle();

    expect(Object.fromEntries(forge.calls)).toEqual({ refs: 1, pull: 1 });
    expect(
      (await latestDeliveries(db, { kind: "github", slug: name }, 100)).map(({ state }) => state),
    ).toEqual(Array.from({ length: 60 }, () => "done"));
  });

  test("one that arrived before counts once", async () => {
    const came = [await told({ about: "refs" }, "same"), await told({ about: "refs" }, "same")];

    expect(came).toEqual([true, false]);
  });

  test("of another kind of forge is not accepted for this one, even with the same id and slug", async () => {
    await watch();
    await settle();
    forge.calls.clear();
    const hint = { about: "refs" } as const;
    const from = (kind: string) =>
      db.transaction((tx) =>
        insertDelivery(tx, { kind, id: "1", event: "test", slug: name, hint, receivedAt: now }),
      );
    const stored = [await from("tried"), await from("tried"), await from("github")];
    await settle();
    const statesOf = async (kind: string) =>
      (await latestDeliveries(db, { kind, slug: name }, 10)).map(({ state }) => state);

    expect(stored).toEqual([true, false, true]);
    expect(Object.fromEntries(forge.calls)).toEqual({ refs: 1 });
    expect([await statesOf("tried"), await statesOf("github")]).toEqual([["waiting"], ["done"]]);
  });

  test("a failing forge is read again later, and no hint is lost", async () => {
    await watch();
    await settle();
    forge.fails = () => true;
    forge.open(7, "a");
    await told({ about: "pull", number: 7 });
    await settle();
    const [waiting] = await latestDeliveries(db, { kind: "github", slug: name }, 1);
    forge.fails = () => false;
    pass(60_000);
    await settle();

    expect(waiting).toMatchObject({ state: "waiting", error: "pull: the forge is out of order" });
    expect(running()).toContain(onPull(7, "a"));
  });
});

describe("comments", () => {
  test("a command is stored once, with the head at the time when it was written", async () => {
    forge.open(7, "a");
    await watch();
    now = forge.now;
    await settle();
    forge.say(7, "ada", "@grange bench");
    forge.say(7, "ada", "Nice weather");
    forge.say(7, "grange[bot]", "@grange bench", { isOurs: true });
    for (let i = 0; i < 3; i++) {
      await told({ about: "comments", pull: 7 });
      await settle();
    }

    const commands = await commandsOfPull(db, name, 7);
    expect(commands.map(({ author, head }) => [author, head])).toEqual([["ada", shaOf("a")]]);
    expect(commands[0]?.headSeenAt).not.toBeNull();
  });

  test("a head that may be newer than the comment was not certainly seen by its author", async () => {
    forge.open(7, "a");
    await watch();
    now = forge.now;
    await settle();
    forge.say(7, "ada", "@grange approve");
    forge.change(7, { head: shaOf("hostile") });
    await told({ about: "pull", number: 7 });
    await told({ about: "comments", pull: 7 });
    await settle();

    const [command] = await commandsOfPull(db, name, 7);
    expect(command).toMatchObject({ head: shaOf("hostile"), headSeenAt: null });
  });

  test("comments from before the watching, or edited ones, are no commands", async () => {
    forge.open(7, "a");
    forge.say(7, "ada", "@grange bench");
    pass(60_000);
    await watch();
    forge.tick(120);
    const edited = forge.say(7, "ada", "@grange cancel");
    forge.said[1] = { ...edited, updatedAt: forge.tick() };
    await settle();

    const commands = await commandsOfPull(db, name, 7);
    expect(commands.map(({ command, edited }) => [command.includes("cancel"), edited])).toEqual([
      [true, true],
    ]);
  });
});

describe("two servers", () => {
  test("never work on one repository at once, and the work of a dead one is taken over", async () => {
    await watch();
    const take = (holder: string) =>
      takeRepository(db, { holder, now, until: new Date(now.getTime() + 15_000) });
    const first = await take(randomUUID());
    const meanwhile = await take(randomUUID());
    pass(15_001);
    const second = await take(randomUUID());

    expect(first?.epoch).toBe(1);
    expect(meanwhile).toBeUndefined();
    expect(second?.epoch).toBe(2);
    if (first === undefined) throw new Error("nothing was taken");
    expect(await keepHolding(db, first, now)).toBe(false);
  });

  test("a repository that crashes servers does not block other repositories", async () => {
    await watch();
    pass(1_000);
    await addRepository(admin, { kind: "github", slug: "owner/later", policy: {}, by: "ada" });
    const turns: string[] = [];
    for (let death = 0; death < 4; death++) {
      const taken = await takeRepository(db, {
        holder: randomUUID(),
        now,
        until: new Date(now.getTime() + 15_000),
      });
      turns.push(taken?.repository ?? "none");
      pass(20_000);
    }

    expect(turns).toEqual([name, "owner/later", name, "owner/later"]);
  });

  test("a repository is processed by one of many simultaneous servers", async () => {
    await watch();
    const taken = await Promise.all(
      Array.from({ length: 20 }, () => workOnNext(services, randomUUID(), ever)),
    );

    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(running()).toEqual([onMain("main 1")]);
  });
});

type GraphEvent =
  | { readonly does: "push"; readonly word: string }
  | {
      readonly does: "open";
      readonly number: number;
      readonly word: string;
      readonly isFork: boolean;
    }
  | { readonly does: "move"; readonly number: number; readonly word: string }
  | { readonly does: "close" | "reopen" | "approve"; readonly number: number }
  | { readonly does: "work" };

describe("for any events at the forge and in the farm", () => {
  const numbers = fc.integer({ min: 1, max: 4 });
  const words = fc.constantFrom("a", "b", "c");
  const event: fc.Arbitrary<GraphEvent> = fc.oneof(
    fc.record({ does: fc.constant("push" as const), word: words }),
    fc.record({
      does: fc.constant("open" as const),
      number: numbers,
      word: words,
      isFork: fc.boolean(),
    }),
    fc.record({ does: fc.constant("move" as const), number: numbers, word: words }),
    fc.record({ does: fc.constant("close" as const), number: numbers }),
    fc.record({ does: fc.constant("reopen" as const), number: numbers }),
    fc.record({ does: fc.constant("approve" as const), number: numbers }),
    fc.record({ does: fc.constant("work" as const) }),
  );
  const story = fc.array(
    fc.record({
      event,
      /** What happens to its webhook. */
      hook: fc.constantFrom("comes", "comes twice", "is lost", "comes late"),
      /** What goes wrong while it is worked on. */
      trouble: fc.constantFrom("none", "none", "forge", "before", "after", "killed"),
    }),
    { maxLength: 25 },
  );

  test("in the end the farm runs what a full poll requires, each once, and no more", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        await db.run(sql`delete from forge_repository`);
        await db.run(sql`delete from forge_delivery`);
        forge = memoryForge();
        service = memoryFarmPort();
        const forges = [forge];
        services = { ...services, service, forges };
        admin = { ...admin, forges };
        await watch({ forkGraphs: "approved" });
        const late: Hint[] = [];

        for (const { event: each, hook, trouble } of steps) {
          const hint = await happen(each);
          if (hint !== undefined && hook === "comes late") late.push(hint);
          else if (hint !== undefined && hook !== "is lost") {
            const id = randomUUID();
            await told(hint, id);
            if (hook === "comes twice") await told(hint, id);
          }
          await workWith(trouble);
        }
        for (const hint of late.toReversed()) await told(hint);
        pass(60 * 60_000);
        await db.transaction((tx) => lookSoon(tx, name, now));
        await settle();
        pass(60 * 60_000);
        await settle();

        expect(running().filter((each) => each.startsWith("refs/pull"))).toEqual(await wanted());
        expect(running()).toContain(`refs/heads/main ${forge.branches.get("refs/heads/main")}`);
      }),
      { numRuns: 40 },
    );
  });

  async function happen(each: GraphEvent): Promise<Hint | undefined> {
    if (each.does === "push") {
      forge.branches.set("refs/heads/main", shaOf(`main ${each.word}`));
      return { about: "refs" };
    }
    if (each.does === "work") return undefined;
    const { number } = each;
    const known = forge.pulls.get(number);
    if (each.does === "open") {
      if (known === undefined) forge.open(number, each.word, { isFork: each.isFork });
      return { about: "pull", number };
    }
    if (known === undefined) return undefined;
    if (each.does === "approve") {
      const seen = await findPull(db, name, number);
      if (seen !== undefined) {
        await db.transaction((tx) =>
          approvePull(tx, { repository: name, number, head: seen.head, by: "ada", at: now }),
        );
      }
      return undefined;
    }
    if (each.does === "move") forge.change(number, { head: shaOf(each.word) });
    if (each.does === "close") forge.change(number, { state: "closed" });
    if (each.does === "reopen") forge.change(number, { state: "open" });
    return { about: "pull", number };
  }

  async function workWith(trouble: string) {
    let left = 2;
    const sometimes = () => left-- > 0;
    if (trouble === "forge") forge.fails = sometimes;
    if (trouble === "before" || trouble === "after") {
      service.fails = () => (sometimes() ? trouble : undefined);
    }
    if (trouble === "killed") {
      // Its lease expires; what it wrote stays, and the next holder does the rest.
      const dying = new AbortController();
      service.fails = () => {
        dying.abort(new Error("killed"));
        return "after";
      };
      await workOnNext(services, randomUUID(), dying.signal).catch(() => {});
      pass(15_001);
    } else {
      await workOnNext(services, randomUUID(), ever);
    }
    forge.fails = () => false;
    service.fails = () => undefined;
    pass(1_000);
  }

  async function wanted(): Promise<string[]> {
    const open = [...forge.pulls.values()].filter(({ state }) => state === "open");
    const graphs = await Promise.all(
      open.map(async ({ number, head, isFork }) => {
        const known = await findPull(db, name, number);
        return isFork && known?.approvedHead !== head ? [] : [`refs/pull/${number}/head ${head}`];
      }),
    );
    return graphs.flat().toSorted();
  }
});
