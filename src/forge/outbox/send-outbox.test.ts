import { beforeEach, describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { CheckRun } from "../check-run.ts";
import { ForgeBusy } from "../forge-busy.ts";
import { unsentOf } from "../unsent.store.ts";
import { withMarker } from "./marker.ts";
import { tryGivenUp, want } from "./outbox.store.ts";
import type { OutboxContent } from "./outbox-content.ts";
import { type RememberedForge, rememberedForge, theSlug } from "./remembered-forge.fixture.ts";
import { type OutboxServices, sendOutbox } from "./send-outbox.ts";
import { forgeEpoch, watch } from "./watched.fixture.ts";

const db = await freshDb();
let forge: RememberedForge;
let now: Date;
let told: string[];

beforeEach(async () => {
  await db.script("truncate forge_repository cascade");
  await watch(db);
  forge = rememberedForge();
  now = forgeEpoch;
  told = [];
});

const services = (more: Partial<OutboxServices> = {}): OutboxServices => ({
  db,
  clock: { now: () => now },
  jitter: () => 0.5,
  forgeOf: async () => ({ forge, slug: theSlug }),
  log: (sentence) => told.push(sentence),
  ...more,
});
const send = () => sendOutbox(services());
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
const minute = 60_000;

const comment = (body: string, pull = 7): OutboxContent => ({ kind: "comment", pull, body });
const wantComment = (body: string) => want(db, "demo", "comment/7", comment(body), now);
const check = (title: string): CheckRun => ({
  sha: "a".repeat(40),
  name: "grange",
  externalId: "grange/a",
  detailsUrl: "https://farm.test/graphs/1",
  state: { kind: "in_progress", startedAt: forgeEpoch },
  title,
  summary: "",
  annotations: [],
});
const bodies = () => forge.shown.comments.map(({ body }) => body);

describe("wanted content", () => {
  test("is shown once, and then edited in place", async () => {
    await wantComment("one");
    await send();
    await wantComment("two");
    await send();
    await wantComment("two");
    const { sent } = await send();

    expect(bodies()).toEqual([withMarker("comment/7", "two")]);
    expect(sent).toBe(0);
    expect(forge.calls.filter((call) => call === "createComment")).toHaveLength(1);
  });

  test("of each kind is shown", async () => {
    const theirs = forge.write("mona", "@grange help");
    await want(db, "demo", "check/a/grange", { kind: "check", check: check("Running") }, now);
    await want(db, "demo", "label/7/x", { kind: "label", pull: 7, name: "x", isThere: true }, now);
    const reaction = { kind: "reaction", pull: 7, comment: theirs.id, reaction: "+1" } as const;
    await want(db, "demo", "reaction/1", reaction, now);
    await want(db, "demo", "minimise/n", { kind: "minimise", pull: 7, node: "n" }, now);
    await send();
    await want(db, "demo", "label/7/x", { kind: "label", pull: 7, name: "x", isThere: false }, now);
    await want(db, "demo", "check/a/grange", { kind: "check", check: check("Done") }, now);
    await send();

    expect([...forge.shown.checks.values()]).toEqual([check("Done")]);
    expect(forge.shown.labels).toEqual(new Set());
    expect(forge.shown.reactions).toEqual(new Map([[theirs.id, "+1"]]));
    expect(forge.shown.minimised).toEqual(new Set(["n"]));
  });

  test("is stored without characters that no database stores", async () => {
    await wantComment("a\u0000b\ud800c");
    await send();

    expect(bodies()).toEqual([withMarker("comment/7", "a\ufffdb\ufffdc")]);
  });

  test("of an unwatched repository is ignored", async () => {
    await want(db, "gone", "comment/7", comment("x"), now);

    expect(await send()).toEqual({ sent: 0, nextAt: undefined });
  });

  test("is sent in the order of its requests, also when the first has to wait", async () => {
    await want(db, "demo", "label/7/a", { kind: "label", pull: 7, name: "a", isThere: true }, now);
    await wantComment("one");
    await want(db, "demo", "comment/8", comment("of another", 8), now);
    forge.before = (call) => {
      if (call === "labelsOf") throw new ForgeBusy("502");
    };
    await send();
    expect(bodies()).toEqual([withMarker("comment/8", "of another")]);

    forge.before = () => {};
    later(minute);
    await send();

    expect(forge.calls.filter((call) => /add|create/.test(call))).toEqual([
      "createComment",
      "addLabels",
      "createComment",
    ]);
  });

  test("that changes while it is sent is sent again", async () => {
    await wantComment("one");
    forge.after = async (call) => {
      if (call === "createComment") await wantComment("two");
    };

    await send();

    expect(bodies()).toEqual([withMarker("comment/7", "two")]);
  });
});

describe("after a failure", () => {
  test("that followed a success, the object is found, and not written again", async () => {
    await wantComment("one");
    await want(db, "demo", "check/a/grange", { kind: "check", check: check("Running") }, now);
    forge.after = (call) => {
      if (call.startsWith("create")) throw new ForgeBusy("timed out");
    };
    await send();
    forge.after = () => {};
    later(minute);
    await send();

    expect(forge.shown.comments).toHaveLength(1);
    expect(forge.shown.checks.size).toBe(1);
    expect(await unsentOf(db, "demo", 9)).toEqual([]);
  });

  test("a comment that appears late is removed as a duplicate: the first one stays", async () => {
    await wantComment("one");
    let late: (() => void) | undefined;
    forge.before = (call) => {
      if (call !== "createComment" || late !== undefined) return;
      // The request arrives after both servers consider it failed.
      late = () =>
        forge.shown.comments.push({
          id: "3",
          nodeId: "late",
          pull: 7,
          author: "grange[bot]",
          isOurs: true,
          body: withMarker("comment/7", "one"),
          createdAt: now,
          updatedAt: now,
        });
      throw new ForgeBusy("cut");
    };
    await send();
    later(minute);
    await wantComment("two");
    await send();
    late?.();
    expect(forge.shown.comments).toHaveLength(2);

    later(10 * minute);
    await send();

    expect(forge.shown.comments).toMatchObject([{ id: "3", body: withMarker("comment/7", "two") }]);
    later(10 * minute);
    expect(await send()).toEqual({ sent: 0, nextAt: undefined });
  });

  test("it waits as long as the forge requests, with the whole repository", async () => {
    await wantComment("one");
    await want(db, "demo", "comment/8", comment("other", 8), now);
    forge.before = (call) => {
      if (call === "createComment") throw new ForgeBusy("secondary limit", 90_000);
    };
    const { nextAt } = await send();
    const asked = forge.calls.length;
    later(89_000);
    await send();

    expect(nextAt?.getTime()).toBeGreaterThanOrEqual(forgeEpoch.getTime() + 90_000);
    expect(forge.calls).toHaveLength(asked);
    forge.before = () => {};
    later(minute);
    await send();
    expect(forge.shown.comments).toHaveLength(2);
  });

  test("a new text does not shorten the wait for a busy forge", async () => {
    await wantComment("one");
    forge.before = () => {
      throw new ForgeBusy("secondary limit", 90_000);
    };
    await send();
    const asked = forge.calls.length;
    await wantComment("two");
    await send();

    expect(forge.calls).toHaveLength(asked);
  });

  test("that is permanent, the row is given up until its content changes or a user requests a retry", async () => {
    await wantComment("one");
    forge.before = (call) => {
      if (call === "createComment") throw new Fault("permission_denied", "not by you");
    };
    await send();
    expect(await unsentOf(db, "demo", 9)).toMatchObject([{ failedAt: now, error: "not by you" }]);
    expect((await send()).nextAt).toBeUndefined();
    expect(told).toContain("a forge refused a report");

    forge.before = () => {};
    expect(await tryGivenUp(db, "demo", now)).toBe(1);
    await send();
    expect(bodies()).toEqual([withMarker("comment/7", "one")]);
  });

  test("on one pull request, the others are still sent", async () => {
    for (const pull of [7, 8, 9]) {
      await want(db, "demo", `comment/${pull}`, comment("x", pull), now);
    }
    let calls = 0;
    forge.before = (call) => {
      if (call === "createComment" && (calls += 1) === 2) throw new ForgeBusy("500");
    };
    await send();

    expect(forge.shown.comments).toHaveLength(2);
  });
});

describe("the time of the next pass", () => {
  test("is when the first row of a lane may be sent and no other server sends there", async () => {
    await want(db, "demo", "label/7/a", { kind: "label", pull: 7, name: "a", isThere: true }, now);
    await wantComment("one");
    forge.before = (call) => {
      if (call === "labelsOf") throw new ForgeBusy("502");
    };

    const behind = await send();

    expect(behind.nextAt?.getTime()).toBeGreaterThan(now.getTime());
    forge.before = () => {};
    later(minute);
    let meanwhile: Date | undefined;
    forge.before = async (call) => {
      if (call === "labelsOf") meanwhile = (await send()).nextAt;
    };
    await send();
    expect(meanwhile?.getTime()).toBeGreaterThan(now.getTime());
    expect(bodies()).toHaveLength(1);
  });
});

describe("two servers", () => {
  test("send each row once", async () => {
    for (let pull = 1; pull <= 20; pull += 1) {
      await want(db, "demo", `comment/${pull}`, comment("x", pull), now);
    }
    forge.before = () => new Promise((resolve) => setImmediate(resolve));
    for (let round = 0; round < 20; round += 1) await Promise.all([send(), send(), send()]);

    expect(forge.shown.comments).toHaveLength(20);
    expect(forge.calls.filter((call) => call === "createComment")).toHaveLength(20);
  });

  test("make one comment of two, when the first was suspended for longer than its lease", async () => {
    await wantComment("one");
    let goOn = () => {};
    const asleep = new Promise<void>((resolve) => (goOn = resolve));
    let isFirst = true;
    let hasLooked = () => {};
    const looked = new Promise<void>((resolve) => (hasLooked = resolve));
    forge.after = async (call) => {
      if (call !== "commentsOf" || !isFirst) return;
      isFirst = false;
      hasLooked();
      await asleep;
    };
    // A suspended process renews no lease and does not notice.
    const first = sendOutbox(services({ times: { leaseMs: 1_000_000 } }));
    await looked;
    await db.script("update forge_outbox set leased_until = '2029-01-01'");
    await send();
    goOn();
    await first;
    expect(forge.shown.comments).toHaveLength(2);

    later(10 * minute);
    await send();

    expect(bodies()).toEqual([withMarker("comment/7", "one")]);
  });
});

describe("only the farm's own comments count as its comments", () => {
  test("whatever others write into theirs, or make the farm quote", async () => {
    forge.write("mallory", withMarker("comment/7", "mine now"));
    const quoted = `You wrote \`${withMarker("comment/7", "x")}\``;
    const reply = { kind: "reply", pull: 7, body: quoted, isUntilReport: false } as const;
    await want(db, "demo", "reply/1", reply, now);
    await wantComment("verdict");
    await send();

    expect(bodies()).toEqual([
      withMarker("comment/7", "mine now"),
      withMarker("reply/1", quoted),
      withMarker("comment/7", "verdict"),
    ]);
  });

  test("and of these, answers that waited for the report are minimised when it exists", async () => {
    const reply = (body: string, isUntilReport: boolean): OutboxContent => ({
      kind: "reply",
      pull: 7,
      body,
      isUntilReport,
    });
    await want(db, "demo", "reply/1", reply("asked for", true), now);
    await want(db, "demo", "reply/2", reply("help", false), now);
    await send();
    await wantComment("verdict");
    await send();
    await send();

    const [waiting] = forge.shown.comments;
    expect(forge.shown.minimised).toEqual(new Set([waiting?.nodeId]));
    await wantComment("another");
    await send();
    expect(forge.calls.filter((call) => call === "minimiseComment")).toHaveLength(1);
  });
});

test("for any crash of a server and any behaviour of the forge, there are one comment and one check", async () => {
  let seed = 1;
  const chance = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  let deaths = 0;
  for (let trial = 0; trial < 12; trial += 1) {
    await db.script("truncate forge_outbox");
    forge = rememberedForge();
    const server = { isDead: false };
    const stumble = (call: string) => {
      const fate = chance();
      if (fate < 0.1) throw new ForgeBusy(`${call} failed`, fate < 0.03 ? 1_000 : undefined);
      if (fate > 0.2) return;
      deaths += 1;
      server.isDead = true;
      throw new Error("the process is gone");
    };
    forge.before = stumble;
    forge.after = stumble;
    for (let round = 0; round < 12; round += 1) {
      const revision = `revision ${Math.floor(round / 3)}`;
      await wantComment(revision);
      await want(db, "demo", "check/a/grange", { kind: "check", check: check(revision) }, now);
      server.isDead = false;
      await sendOutbox(services({ db: mortal(server) })).catch((reason: unknown) => {
        if (!server.isDead) throw reason;
      });
      later(minute);
    }
    forge.before = () => {};
    forge.after = () => {};
    for (let round = 0; round < 4; round += 1) {
      await send();
      later(11 * minute);
    }

    expect(bodies()).toEqual([withMarker("comment/7", "revision 3")]);
    expect([...forge.shown.checks.values()].map(({ title }) => title)).toEqual(["revision 3"]);
    expect((await send()).nextAt).toBeUndefined();
  }
  expect(deaths).toBeGreaterThan(20);
});

/** Returns a database that a server can reach until it is dead. */
function mortal(server: { readonly isDead: boolean }): Db {
  const alive = async <T>(work: () => Promise<T>): Promise<T> => {
    if (server.isDead) throw new Error("the process is gone");
    return work();
  };
  return {
    ...db,
    many: (row, statement) => alive(() => db.many(row, statement)),
    run: (statement) => alive(() => db.run(statement)),
    transaction: (work) => alive(() => db.transaction(work)),
  };
}
