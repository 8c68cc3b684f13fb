import { expect, test } from "vitest";
import type { LogPiece } from "../log-piece.ts";
import { logEvents, mostLogBytesPerEvent } from "./log-events.ts";

/** A log that the test writes and the follower reads. */
function growingLog() {
  const log = { attempt: 1, bytes: Buffer.alloc(0), complete: false };
  const read = async (offset: number): Promise<LogPiece> => {
    const bytes = log.bytes.subarray(offset, offset + mostLogBytesPerEvent);
    return {
      bytes,
      nextOffset: offset + bytes.length,
      complete: log.complete,
      attempt: log.attempt,
    };
  };
  return { log, read };
}

test("a follower hears each byte once, and a character that is cut only when it is whole", async () => {
  const { log, read } = growingLog();
  const look = logEvents(read, { attempt: undefined, offset: 0 });

  log.bytes = Buffer.from("gr\u00fc\u00df").subarray(0, 3);
  const first = await look();
  log.bytes = Buffer.from("gr\u00fc\u00df Gott");
  log.complete = true;
  const last = await look();

  expect(first).toEqual({
    events: [{ event: "log", id: "1:2", data: { offset: 0, text: "gr" } }],
    over: false,
  });
  expect(last).toEqual({
    events: [{ event: "log", id: "1:11", data: { offset: 2, text: "\u00fc\u00df Gott" } }],
    over: true,
  });
});

test("a follower of an attempt that is over is told to begin anew, also when it comes back later", async () => {
  const { log, read } = growingLog();
  log.attempt = 2;
  log.bytes = Buffer.from("again");

  const { events } = await logEvents(read, { attempt: 1, offset: 400 })();

  expect(events).toEqual([
    { event: "restart", id: "2:0", data: { attempt: 2 } },
    { event: "log", id: "2:5", data: { offset: 0, text: "again" } },
  ]);
});

test("a long log comes in pieces", async () => {
  const { log, read } = growingLog();
  log.bytes = Buffer.alloc(mostLogBytesPerEvent + 1, "x");
  log.complete = true;

  const { events, over } = await logEvents(read, { attempt: undefined, offset: 0 })();

  expect(events.map((event) => event.id)).toEqual([
    `1:${mostLogBytesPerEvent}`,
    `1:${mostLogBytesPerEvent + 1}`,
  ]);
  expect(over).toBe(true);
});
