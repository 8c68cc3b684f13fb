import { expect, test } from "vitest";
import { parseServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

async function parsed(...chunks: (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  async function* stream() {
    for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  }
  const events: ServerSentEvent[] = [];
  for await (const event of parseServerSentEvents(stream())) events.push(event);
  return events;
}

test("events are the same, wherever the stream is cut", async () => {
  const text = "id: 3\ndata: a\ndata: é\n\n: still here\n\nevent: end\r\ndata:{}\r\n\r\n";
  const bytes = Buffer.from(text);
  const whole = await parsed(bytes);

  expect(whole).toEqual([
    { type: "message", data: "a\né", id: "3" },
    { type: "end", data: "{}", id: "3" },
  ]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(await parsed(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole);
  }
});

test("an event that was not finished is not delivered", async () => {
  expect(await parsed("data: whole\n\ndata: ha")).toEqual([
    { type: "message", data: "whole", id: undefined },
  ]);
});
