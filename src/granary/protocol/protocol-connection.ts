import type { Socket } from "node:net";
import { messageOf } from "#core/fault.ts";
import type { Answer } from "./answers.ts";
import {
  type Conversation,
  carryOut,
  endBuild,
  type ProtocolConnectionParts,
  startBuild,
} from "./conversation.ts";
import { lineReader, mostLineBytes } from "./line-reader.ts";
import { readMessage } from "./messages.ts";
import { type Effect, initialState, type ProtocolState, receive } from "./protocol-state.ts";

/** The most effects of one connection in progress. Reading pauses at this number. */
const mostUnderWay = 128;
/** A peer that leaves this many bytes of answers unread is disconnected. */
const mostUnsentBytes = 16 * 1024 * 1024;
/** A peer that sends no `hello` within this time is disconnected. */
const silentMs = 10_000;

export interface ProtocolConnection {
  readonly over: Promise<void>;
  end(): void;
}

/** Starts to serve one connection: carries out the effects that `receive` returns for each message. */
export function startProtocolConnection(
  parts: ProtocolConnectionParts,
  socket: Socket,
  secret: string | undefined,
): ProtocolConnection {
  const { logger } = parts;
  const read = lineReader(mostLineBytes);
  const underWay = new Set<Promise<void>>();
  let state: ProtocolState = initialState(secret);
  // Starts and ends happen in the order of their messages; everything else runs concurrently.
  let inOrder: Promise<void> = Promise.resolve();
  let isOver = false;
  let resolveOver = () => {};
  const over = new Promise<void>((resolve) => {
    resolveOver = resolve;
  });
  const silence = setTimeout(() => state.kind === "new" && socket.destroy(), silentMs);
  silence.unref();

  const send = (answer: Answer) => {
    if (socket.destroyed || !socket.writable) return;
    socket.write(`${JSON.stringify(answer)}\n`);
    if (socket.writableLength > mostUnsentBytes) socket.destroy();
  };

  const conversation: Conversation = { parts, send, build: undefined, tool: undefined };

  const track = (work: Promise<void>) =>
    trackWork(underWay, socket, work, (reason) => {
      logger.warn({ err: reason }, "a message of a build system failed");
      send({ type: "note", note: messageOf(reason).slice(0, 500) });
    });

  function act(effect: Effect): void {
    switch (effect.kind) {
      case "send":
        inOrder = inOrder.then(() => send(effect.answer));
        return;
      case "start":
        inOrder = track(inOrder.then(() => startBuild(conversation, effect.message)));
        return;
      case "end": {
        // Messages before the end are carried out before it.
        const before = [...underWay];
        inOrder = track(
          inOrder
            .then(() => Promise.allSettled(before))
            .then(() => endBuild(conversation, effect.message)),
        );
        return;
      }
      case "carry-out": {
        const started = inOrder;
        void track(started.then(() => carryOut(conversation, effect)));
        return;
      }
      case "close": {
        const before = [...underWay];
        inOrder = inOrder.then(() => Promise.allSettled(before)).then(() => void socket.end());
        return;
      }
    }
  }

  const step = (parsedLine: Parameters<typeof receive>[1]) => {
    const { next, effects } = receive(state, parsedLine);
    state = next;
    for (const effect of effects) act(effect);
  };

  function gone(): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(silence);
    step(undefined);
    void inOrder
      .then(() => Promise.allSettled(underWay))
      .then(() => endBuild(conversation, undefined))
      .catch((reason: unknown) => logger.warn({ err: reason }, "a build did not end well"))
      .finally(resolveOver);
  }

  socket.on("data", (chunk) => {
    for (const line of read(chunk)) {
      if (isOver) return;
      if (line.kind === "line") step(readMessage(line.text));
      else
        step({ kind: "wrong", id: undefined, note: `a line has more than ${mostLineBytes} bytes` });
    }
  });
  socket.on("error", () => {});
  socket.on("end", gone);
  socket.on("close", gone);

  return { over, end: () => socket.destroy() };
}

/** Counts work until it ends. While too much of it is in progress, nothing is read from the socket. */
function trackWork(
  underWay: Set<Promise<void>>,
  socket: Socket,
  work: Promise<void>,
  onFailure: (reason: unknown) => void,
): Promise<void> {
  const done: Promise<void> = work.catch(onFailure).finally(() => {
    underWay.delete(done);
    if (underWay.size < mostUnderWay && socket.isPaused()) socket.resume();
  });
  underWay.add(done);
  if (underWay.size >= mostUnderWay) socket.pause();
  return done;
}
