import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { decompressorFor } from "./compression.ts";
import { framed } from "./frame.ts";
import { HeldBytes } from "./held-bytes.ts";
import { IncomingMessages } from "./incoming-messages.ts";
import { MessageSegments } from "./message-segments.ts";

const heldBytes = (most: number) => new HeldBytes({ most, what: "messages" });

function incoming(held = heldBytes(1_000_000)) {
  const stream = new PassThrough();
  const decompress = decompressorFor("gzip");
  return {
    stream,
    messages: new IncomingMessages(stream, { maxMessageBytes: 1_000, decompress, held }),
  };
}

function compressed(bytes: Buffer): Buffer {
  const frame = Buffer.concat(framed(gzipSync(bytes)));
  frame[0] = 1;
  return frame;
}

test("unfinished messages of one connection may not hold more than they should together", async () => {
  const held = heldBytes(1_500);
  const [first, second] = [incoming(held), incoming(held)];
  const allButTheEnd = Buffer.concat(framed(Buffer.alloc(900))).subarray(0, 850);

  first.stream.write(allButTheEnd);
  second.stream.write(allButTheEnd);

  await expect(second.messages.next()).rejects.toMatchObject({ code: "resource_exhausted" });
  first.stream.write(Buffer.alloc(55));
  expect(await first.messages.next()).toHaveLength(900);
});

test.each([
  {
    end: "fails",
    by: (messages: IncomingMessages) => messages.fail(new Fault("cancelled", "over")),
  },
  { end: "ends within a message", by: (messages: IncomingMessages) => messages.finish() },
])("the memory of an unfinished message is used again when its call $end", async ({ by }) => {
  const stream = new PassThrough();
  const segments = new MessageSegments(100);
  const messages = new IncomingMessages(stream, {
    maxMessageBytes: 1_000,
    decompress: decompressorFor("gzip"),
    held: heldBytes(2_000),
    segments,
  });
  stream.write(Buffer.concat(framed(Buffer.alloc(900))).subarray(0, 850));

  await expect.poll(() => messages.receivedBytes).toBe(850);
  expect(segments.freeBytes).toBe(0);
  by(messages);
  expect(segments.freeBytes).toBe(900);
});

test("a small message may not unpack to a huge one", async () => {
  const { stream, messages } = incoming();

  stream.write(compressed(Buffer.alloc(1_000)));
  stream.write(compressed(Buffer.alloc(1_001)));

  expect(await messages.next()).toHaveLength(1_000);
  await expect(messages.next()).rejects.toMatchObject({ code: "resource_exhausted" });
});

test("an end in the middle of a message is no good end", async () => {
  const { stream, messages } = incoming();

  stream.write(Buffer.concat(framed(Buffer.alloc(9))).subarray(0, 8));
  stream.on("end", () => messages.finish());
  stream.end();

  await expect(messages.next()).rejects.toMatchObject({ code: "internal" });
});

test("a peer that is to send something and falls silent is given up; one that sends on is not", async () => {
  const stream = new PassThrough();
  const held = heldBytes(1_000_000);
  const decompress = decompressorFor("gzip");
  const messages = new IncomingMessages(stream, {
    maxMessageBytes: 100_000,
    decompress,
    held,
    waitLimitMs: 40,
  });
  const message = Buffer.concat(framed(Buffer.alloc(50_000)));
  const first = messages.soon();
  for (let at = 0; at < message.byteLength; at += 5_000) {
    stream.write(message.subarray(at, at + 5_000));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  expect(await first).toHaveLength(50_000);
  await expect(messages.soon()).rejects.toMatchObject({ code: "deadline_exceeded" });
});

test.each<[string, (stream: PassThrough, messages: IncomingMessages) => void]>([
  ["a second message", (stream) => void stream.write(Buffer.concat(framed(Buffer.alloc(5))))],
  ["enough bytes", (stream) => void stream.write(Buffer.concat(framed(Buffer.alloc(95))))],
  ["their end", (_, messages) => messages.finish()],
])("messages are gathered until %s", async (_, goOn) => {
  const { stream, messages } = incoming();
  stream.write(Buffer.concat(framed(Buffer.alloc(5))));
  let isGathered = false;
  const gathered = messages.gathered(100).then(() => {
    isGathered = true;
  });
  await new Promise(setImmediate);
  expect(isGathered).toBe(false);

  goOn(stream, messages);

  await gathered;
  expect(await messages.next()).toHaveLength(5);
});

test("messages of a peer that falls silent are gathered no longer, and held no longer", async () => {
  const held = heldBytes(1_000);
  const stream = new PassThrough();
  const decompress = decompressorFor("gzip");
  const options = { maxMessageBytes: 1_000, decompress, held, waitLimitMs: 20 };
  const messages = new IncomingMessages(stream, options);
  stream.write(Buffer.concat(framed(Buffer.alloc(900))));

  await messages.gathered(1_000);

  await expect(messages.next()).rejects.toMatchObject({ code: "deadline_exceeded" });
  const other = incoming(held);
  other.stream.write(Buffer.concat(framed(Buffer.alloc(900))));
  expect(await other.messages.next()).toHaveLength(900);
});
