import { expect, test } from "vitest";
import { FrameCutter, framed } from "./frame.ts";
import { MessageSegments } from "./message-segments.ts";

const wire = (length: number, fill = 1) => Buffer.concat(framed(Buffer.alloc(length, fill)));

test("an unfinished message holds no more memory than its bytes and one segment", () => {
  const cutter = new FrameCutter(4_000_000, new MessageSegments(100));

  cutter.push(wire(4_000_000).subarray(0, 5));
  expect(cutter.heldBytes).toBeLessThanOrEqual(105);
  cutter.push(Buffer.alloc(1_001));
  expect(cutter.heldBytes).toBe(1_105);
});

test("memory of dropped and of finished messages is used again", () => {
  const segments = new MessageSegments(100);
  const [dropped, finished, next] = [1, 2, 3].map(() => new FrameCutter(1_000, segments));
  dropped?.push(wire(1_000).subarray(0, 900));
  dropped?.drop();
  expect(segments.freeBytes).toBe(900);

  const bytes = wire(1_000, 2);
  finished?.push(bytes.subarray(0, 950));
  expect(segments.freeBytes).toBe(0);
  const frames = finished?.push(bytes.subarray(950));
  expect(segments.freeBytes).toBe(1_000);
  next?.push(wire(1_000, 3).subarray(0, 900));

  // The returned message is a copy: the next one does not overwrite it.
  expect(Buffer.alloc(1_000, 2).equals(frames?.[0]?.bytes ?? Buffer.of())).toBe(true);
});

test("memory that was not needed since the last trim is released", () => {
  const segments = new MessageSegments(100);
  const three = [segments.take(), segments.take(), segments.take()];
  segments.giveBack(three);
  segments.trim();
  segments.giveBack([segments.take()]);

  segments.trim();
  expect(segments.freeBytes).toBe(100);
  segments.trim();
  expect(segments.freeBytes).toBe(0);
});
