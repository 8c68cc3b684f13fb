import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { isPrivateAddress } from "#outgoing/special-address.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import { afterTry, deliverNotifications } from "./deliver-notifications.ts";
import { farmOfKinds } from "./farm-of-kinds.fixture.ts";
import { nextNotification, notificationsOf } from "./notification.store.ts";
import { Webhooks } from "./webhooks.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
let server: Server;
let url: string;
/** The statuses with which the server answers, one after the other; then 204. */
let answers: number[] = [];
let heard: { readonly id: string | undefined; readonly body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const id = request.headers["grange-notification"];
      heard.push({ id: String(id), body: JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(answers.shift() ?? 204, { location: `${url}/elsewhere` }).end("ignored");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  farm = await farmOfKinds(db, new Webhooks([new URL(url)]));
});
afterAll(async () => {
  await farm.stop();
  await new Promise((resolve) => server.close(resolve));
  await db.close();
});

/** Advances the time to each attempt until nothing is left; returns the waits in ms. */
async function deliverAll(): Promise<number[]> {
  const waits: number[] = [];
  let now = farm.now();
  for (;;) {
    const next = await nextNotification(db);
    if (next === undefined) break;
    waits.push(Math.max(0, next.getTime() - now.getTime()));
    if (next > now) now = next;
    await deliverNotifications(farm.services, now);
  }
  await farm.untilNextDue();
  await farm.settle();
  return waits;
}

const notify = (to: string) =>
  `  bad: {kind: dummy, dummy: {outcome: failed}}\n  n: {kind: notify, to: ["${to}"], message: look, needs: {bad: {on: end}}}`;

describe("a notification", () => {
  test("is delivered once with all data, although its receiver fails twice", async () => {
    answers = [500, 503];
    heard = [];
    const id = await farm.submitJobs(notify(`${url}/build`));

    const waits = await deliverAll();

    expect(waits).toEqual([0, 1_000, 2_000]);
    expect((await farm.states(id))["n"]).toBe("succeeded");
    expect(new Set(heard.map((one) => one.id)).size).toBe(1);
    expect(heard[2]?.body).toMatchObject({
      graph: id,
      job: "n",
      message: "look",
      needs: { bad: { state: "failed", outcome: "failed" } },
    });
    expect(heard[2]?.body["commit"]).toMatch(/^[0-9a-f]{40}$/);
    expect(await notificationsOf(db, id, "n")).toMatchObject([{ state: "delivered", attempts: 3 }]);
  });

  test("that is not accepted within a day fails its job", async () => {
    answers = Array.from({ length: 200 }, () => 500);
    const id = await farm.submitJobs(notify(`${url}/build`));

    const waits = await deliverAll();

    answers = [];
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(24 * 3_600_000);
    expect((await farm.states(id))["n"]).toBe("failed");
    expect((await farm.runs(id, "n"))[0]?.message).toContain("it answered 500");
  });

  test("does not follow a redirect", async () => {
    answers = [307];
    heard = [];
    await farm.submitJobs(notify(`${url}/build`));

    await deliverAll();

    expect(heard).toHaveLength(2);
  });

  test("for an address that the server does not allow is only stored, and its job succeeds", async () => {
    heard = [];
    const id = await farm.submitJobs(notify(url.replace("/hooks", "/elsewhere")));

    await deliverAll();

    expect(heard).toEqual([]);
    expect((await farm.states(id))["n"]).toBe("succeeded");
    expect(await notificationsOf(db, id, "n")).toMatchObject([{ state: "kept" }]);
  });

  test("of a cancelled run is dropped", async () => {
    answers = [500];
    const id = await farm.submitJobs(notify(`${url}/build`));
    await deliverNotifications(farm.services, farm.now());

    await cancelGraph(db, farm.queue, everybody, id);
    await deliverAll();

    expect((await farm.states(id))["n"]).toBe("cancelled");
    expect(await notificationsOf(db, id, "n")).toMatchObject([{ state: "failed" }]);
  });
});

test.each([
  { allowed: "https://a.example/hooks", url: "https://a.example/hooks", ok: true },
  { allowed: "https://a.example/hooks", url: "https://a.example/hooks/x?y=1", ok: true },
  { allowed: "https://a.example/hooks", url: "https://a.example/hooksome", ok: false },
  { allowed: "https://a.example/hooks", url: "https://a.example/hooks/../admin", ok: false },
  { allowed: "https://a.example", url: "https://a.example.evil.example/", ok: false },
  { allowed: "https://a.example", url: "https://a.example@evil.example/", ok: false },
  { allowed: "https://a.example", url: "http://a.example/", ok: false },
  { allowed: "https://a.example", url: "https://a.example:8443/", ok: false },
])("with $allowed, $url is allowed: $ok", ({ allowed, url: asked, ok }) => {
  expect(new Webhooks([new URL(allowed)]).allows(asked)).toBe(ok);
});

test.each([
  ["127.0.0.1", true],
  ["10.1.2.3", true],
  ["169.254.169.254", true],
  ["::1", true],
  ["::ffff:10.0.0.1", true],
  ["fd00::1", true],
  ["0.0.0.0", true],
  ["93.184.216.34", false],
  ["2606:2800:220:1::1", false],
])("%s is private: %s", (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected);
});

test("a private address is used only when it is itself listed", () => {
  const webhooks = new Webhooks([new URL("http://10.0.0.5/"), new URL("https://a.example/")]);

  expect(webhooks.allowsAddress("10.0.0.5")).toBe(true);
  expect(webhooks.allowsAddress("10.0.0.6")).toBe(false);
});

test("waits longer after each attempt, up to an hour", () => {
  const now = new Date(0);
  const again = afterTry({ attempts: 20, giveUpAt: new Date(86_400_000) }, "no", now);

  expect(again).toMatchObject({ kind: "again", at: new Date(3_600_000) });
});
