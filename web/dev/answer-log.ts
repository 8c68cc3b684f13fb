import type { ServerResponse } from "node:http";
import { incompleteTail } from "../pages/log/incomplete-tail.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { sendEvents } from "./send-events.ts";

/** The part of a log in one answer: small, so that long logs take several. */
const largestShare = 1024 * 1024;

type Log = ReturnType<FakeFarm["log"]>;

/** Answers with a part of the log's existing bytes. */
export function answerLog(log: Log, offset: number, response: ServerResponse): void {
  const share = log.bytes.subarray(offset, offset + largestShare);
  const next = offset + share.length;
  response.setHeader("x-next-offset", String(next));
  response.setHeader("x-log-complete", String(log.complete && next === log.bytes.length));
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(share);
}

/** Streams the log as it grows. */
export function answerLogEvents(
  farm: FakeFarm,
  log: Log,
  from: number,
  response: ServerResponse,
  streams: Set<ServerResponse>,
): void {
  let offset = from;
  sendEvents(farm, response, streams, (send, end) => {
    // An incomplete character waits for its remaining bytes.
    const whole = log.bytes.length - (log.complete ? 0 : incompleteTail(log.bytes));
    if (whole > offset) {
      send({ event: "log", data: { offset, text: log.bytes.subarray(offset, whole).toString() } });
      offset = whole;
    }
    if (log.complete) {
      send({ event: "end", data: {} });
      end();
    }
  });
}
