import type { ServerResponse } from "node:http";
import type { FakeFarm } from "./fake-farm.ts";

type Send = (event: { id?: string; event?: string; data: unknown }) => void;

/** Calls `tell` now and whenever the farm changes, until it ends the stream or the client disconnects. */
export function sendEvents(
  farm: FakeFarm,
  response: ServerResponse,
  streams: Set<ServerResponse>,
  tell: (send: Send, end: () => void) => void,
): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(":\n\n");
  const send: Send = ({ id, event, data }) => {
    const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
    response.write(`${head}data: ${JSON.stringify(data)}\n\n`);
  };
  const stopListening = farm.onChange(() => tell(send, end));
  const forget = () => {
    stopListening();
    streams.delete(response);
  };
  const end = () => {
    forget();
    response.end();
  };
  streams.add(response);
  response.on("close", forget);
  tell(send, end);
}
