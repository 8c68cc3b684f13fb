import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type IncomingBody, mostWebhookBytes, WebhookBodies } from "./webhook-bodies.ts";

const large = 24 * 1_048_576;
const forEver = { waitMs: 60_000, readMs: 60_000 };

/** Returns a body whose pieces the test sends, and counts attempts to read it. */
function sent(statedBytes: number | undefined) {
  let asked = 0;
  let out: ReadableStreamDefaultController<Uint8Array> | undefined;
  let hasEnded: unknown;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      out = controller;
    },
    cancel: (reason) => {
      hasEnded = reason ?? "cancelled";
    },
  });
  const body: IncomingBody = {
    statedBytes,
    get stream() {
      asked += 1;
      return stream;
    },
  };
  return {
    body,
    asked: () => asked,
    cancelled: () => hasEnded,
    send: (text: string) => out?.enqueue(Buffer.from(text)),
    end: () => out?.close(),
    breakOff: () => out?.error(new Error("aborted")),
  };
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const unchecked = { seen() {}, passed() {} };

const directory = await mkdtemp(join(tmpdir(), "grange-webhooks-"));
afterAll(() => rm(directory, { recursive: true }));

describe("bodies of webhooks", () => {
  test("are used when they are complete, and checked piece by piece before", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    const one = sent(10);
    const pieces: string[] = [];
    const used = bodies.read(
      one.body,
      { ...unchecked, seen: (piece) => pieces.push(text(piece)) },
      text,
    );
    one.send("hello");
    one.send("there");
    one.end();

    expect(await used).toBe("hellothere");
    expect(pieces).toEqual(["hello", "there"]);
  });

  test("that may be large are read one after the other; the second is not read before", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    const [first, second] = [sent(large), sent(undefined)];
    const reads = [first, second].map(({ body }) => bodies.read(body, unchecked, text));
    first.send("of the first, long");
    await Promise.resolve();

    expect([first.asked(), second.asked()]).toEqual([1, 0]);

    first.end();
    expect(await reads[0]).toBe("of the first, long");
    second.send("short");
    second.end();
    // And contains nothing of the previous one.
    expect(await reads[1]).toBe("short");
  });

  test("that are small do not wait for a large one", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    const [slow, small] = [sent(large), sent(5)];
    const held = bodies.read(slow.body, unchecked, text);
    const used = bodies.read(small.body, unchecked, text);
    small.send("small");
    small.end();

    expect(await used).toBe("small");
    slow.breakOff();
    await expect(held).rejects.toMatchObject({ code: "cancelled" });
  });

  test("that wait too long are rejected unread, and a silent one is dropped", async () => {
    const slow = sent(large);
    const waiting = sent(large);
    const bodies = new WebhookBodies(directory, { waitMs: 5, readMs: 100 });
    const held = bodies.read(slow.body, unchecked, text).catch((reason: unknown) => reason);
    const away = bodies.read(waiting.body, unchecked, text).catch((reason: unknown) => reason);

    expect(await away).toMatchObject({ code: "unavailable" });
    expect(waiting.asked()).toBe(0);
    expect(await held).toMatchObject({ code: "deadline_exceeded" });
    expect(slow.cancelled()).toBeDefined();
    // The room is free again.
    const next = sent(large);
    const used = bodies.read(next.body, unchecked, text);
    next.send("next");
    next.end();
    expect(await used).toBe("next");
  });

  test("are rejected by their stated size, and by bytes beyond it", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    const [huge, more] = [sent(mostWebhookBytes + 1), sent(2)];
    const tooLarge = expect.objectContaining({ code: "resource_exhausted" });

    await expect(bodies.read(huge.body, unchecked, text)).rejects.toEqual(tooLarge);
    expect(huge.asked()).toBe(0);
    const read = bodies.read(more.body, unchecked, text);
    more.send("abc");
    await expect(read).rejects.toEqual(tooLarge);
  });

  test.each([
    { what: "small", statedBytes: 5 },
    { what: "large", statedBytes: large },
  ])("that are $what and not what they claim are never used", async ({ statedBytes }) => {
    const bodies = new WebhookBodies(directory, forEver);
    const wrong = sent(statedBytes);
    const passed = () => {
      throw new Error("not signed");
    };
    let isUsed = false;
    const read = bodies.read(wrong.body, { ...unchecked, passed }, () => {
      isUsed = true;
    });
    wrong.send("wrong");
    wrong.end();
    await expect(read).rejects.toThrow("not signed");
    expect(isUsed).toBe(false);
  });

  test("that are large leave no file, not even while they arrive", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    const slow = sent(large);
    let seen: () => void = () => {};
    const isSeen = new Promise<void>((resolve) => {
      seen = resolve;
    });
    const used = bodies.read(slow.body, { ...unchecked, seen }, text);
    slow.send("part of it");
    await isSeen;
    expect(await readdir(directory)).toEqual([]);
    slow.send(" and the rest");
    slow.end();
    expect(await used).toBe("part of it and the rest");
  });

  test("release their slot when their use throws", async () => {
    const bodies = new WebhookBodies(directory, forEver);
    for (const n of [1, 2]) {
      const body = sent(large);
      const used = bodies.read(body.body, unchecked, () => {
        throw new Error(`no ${n}`);
      });
      body.end();
      await expect(used).rejects.toThrow(`no ${n}`);
    }
  });
});
