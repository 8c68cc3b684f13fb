export interface ServerSentEvent {
  /** `message` when the server sent no name. */
  readonly type: string;
  readonly data: string;
  /** The last id that was sent, possibly by an earlier event. */
  readonly id: string | undefined;
}

/**
 * Parses a stream of server-sent events, for any division into pieces.
 *
 * After https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream An event without its
 * final blank line is not delivered, because the connection was lost in the middle of it.
 */
export async function* parseServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let type = "";
  let data: string[] = [];
  let id: string | undefined;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A trailing \r may be the first half of \r\n.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { type: type || "message", data: data.join("\n"), id };
        type = "";
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") type = value;
      else if (field === "data") data.push(value);
      else if (field === "id" && !value.includes("\0")) id = value;
    }
  }
}
