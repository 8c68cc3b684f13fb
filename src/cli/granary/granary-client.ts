import { connect, type Socket } from "node:net";
import { Fault } from "#core/fault.ts";
import type { Answer } from "#granary/protocol/answers.ts";
import { lineReader } from "#granary/protocol/line-reader.ts";
import type { ClientMessage } from "#granary/protocol/messages.ts";
import { protocolVersions } from "#granary/protocol/versions.ts";

type Said = (typeof ClientMessage)["_zod"]["input"];

/**
 * Undefined: an answer that this command does not know. `grange exec` reads its few answers without loading the full
 * schemas.
 */
export type ReadAnswer = (received: unknown) => Answer | undefined;

/** A granary that accepts messages from this command. */
export interface GranaryClient {
  /** Returns the answer to a message; throws `unavailable` when the granary has stopped or does not answer in time. */
  ask<Type extends Answer["type"]>(
    message: Said,
    expected: Type,
    timeoutMs: number,
  ): Promise<Extract<Answer, { type: Type }>>;
  close(): void;
}

/** Lines are at most as long as the granary's own limit for messages, times the files of one result. */
const mostAnswerBytes = 64 * 1024 * 1024;

/**
 * Why no granary was reached: no process listens; one listens and did not answer in time; or it supports none of this
 * command's versions.
 */
export type Unreached = "nobody" | "silent" | "other-version";

/** Connects to the granary; without a reachable one, the caller continues. */
export async function connectToGranary(
  socketPath: string,
  timeoutMs: number,
  read: ReadAnswer,
): Promise<GranaryClient | Unreached> {
  const until = performance.now() + timeoutMs;
  const socket = await connected(socketPath, timeoutMs);
  if (typeof socket === "string") return socket;
  const client = clientOn(socket, read);
  try {
    const left = Math.max(1, until - performance.now());
    const answered = await client.first({ type: "hello", versions: [...protocolVersions] }, left);
    if (answered.type === "welcome") return client;
  } catch {
    const isGone = socket.destroyed;
    client.close();
    return isGone ? "nobody" : "silent";
  }
  client.close();
  return "other-version";
}

function connected(path: string, timeoutMs: number): Promise<Socket | "nobody" | "silent"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const timer = setTimeout(() => end("silent"), timeoutMs);
    const end = (result: Socket | "nobody" | "silent") => {
      clearTimeout(timer);
      socket.off("error", failed);
      if (typeof result === "string") socket.on("error", () => {}).destroy();
      resolve(result);
    };
    // The kernel's queue of waiting connections is full.
    const failed = (reason: NodeJS.ErrnoException) =>
      end(reason.code === "EAGAIN" ? "silent" : "nobody");
    socket.once("error", failed);
    socket.once("connect", () => end(socket));
  });
}

function clientOn(
  socket: Socket,
  readAnswer: ReadAnswer,
): GranaryClient & {
  first(message: Said, timeoutMs: number): Promise<Answer>;
} {
  const read = lineReader(mostAnswerBytes);
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;

  const tellAll = () => {
    for (const tell of waiting.values()) tell(undefined);
    waiting.clear();
  };
  socket.on("error", tellAll).on("close", tellAll);
  socket.on("data", (chunk) => {
    for (const line of read(chunk)) {
      if (line.kind !== "line") continue;
      const received = jsonOf(line.text);
      const to = Object(received).to as unknown;
      if (typeof to !== "number") continue;
      const tell = waiting.get(to);
      waiting.delete(to);
      // A granary of another version answers differently: no other answer will come.
      tell?.(readAnswer(received));
    }
  });

  function first(message: Said, timeoutMs: number): Promise<Answer> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      const lost = (why: string) => reject(new Fault("unavailable", `the granary ${why}`));
      if (socket.destroyed) return lost("has stopped");
      const timer = setTimeout(() => {
        waiting.delete(id);
        lost(`did not answer in ${Math.round(timeoutMs)} ms`);
      }, timeoutMs);
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        if (answer === undefined) lost("has stopped, or has another version");
        else resolve(answer);
      });
      socket.write(`${JSON.stringify({ ...message, id })}\n`);
    });
  }

  return {
    first,
    async ask(message, expected, timeoutMs) {
      const answer = await first(message, timeoutMs);
      if (answer.type === expected) return answer as Extract<Answer, { type: typeof expected }>;
      const why = answer.type === "note" ? answer.note : `it answered ${answer.type}`;
      throw new Fault("failed_precondition", `the granary refused: ${why}`);
    },
    close: () => socket.destroy(),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
