import { timingSafeEqual } from "node:crypto";
import type { Answer } from "./answers.ts";
import type { Message, MessageId, ParsedLine } from "./messages.ts";
import { protocolVersions } from "./versions.ts";

/** The state of a connection with a build system. `wrong` counts lines that could not be parsed. */
export type ProtocolState =
  // Before `hello`. Any other message closes the connection.
  | { readonly kind: "new"; readonly secret: string | undefined }
  | { readonly kind: "idle"; readonly wrong: number }
  | { readonly kind: "building"; readonly wrong: number }
  | { readonly kind: "over" };

/** The effects of a line, in this order. */
export type Effect =
  | { readonly kind: "send"; readonly answer: Answer }
  | { readonly kind: "start"; readonly message: Message<"build-started"> }
  | { readonly kind: "end"; readonly message: Message<"build-ended"> | undefined }
  | {
      readonly kind: "carry-out";
      readonly message: Message<
        | "hint"
        | "approximation"
        | "look-up"
        | "result"
        | "status"
        | "report"
        | "trim"
        | "stop"
        | "fetch-ahead"
      >;
    }
  | { readonly kind: "close" };

interface Step {
  readonly next: ProtocolState;
  readonly effects: readonly Effect[];
}

/** After this many unparsable lines, the peer is assumed to use another protocol. */
const mostWrong = 100;

/**
 * Returns the state of a new connection. `secret`: must be sent by the peer; undefined where only this machine's user
 * can connect.
 */
export function initialState(secret: string | undefined): ProtocolState {
  return { kind: "new", secret };
}

/**
 * Returns the next state and the effects of one parsed line. Pure. `parsedLine` is undefined when the peer has closed
 * the connection.
 */
export function receive(now: ProtocolState, parsedLine: ParsedLine | undefined): Step {
  if (now.kind === "over") return { next: now, effects: [] };
  if (parsedLine === undefined) {
    const effects: Effect[] = now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
    return { next: { kind: "over" }, effects: [...effects, { kind: "close" }] };
  }
  if (now.kind === "new") return greet(now, parsedLine);
  if (parsedLine.kind !== "message") {
    const wrong = now.wrong + (parsedLine.kind === "wrong" ? 1 : 0);
    const effects: Effect[] = [note(parsedLine.id, parsedLine.note)];
    if (wrong < mostWrong) return { next: { ...now, wrong }, effects };
    const end: Effect[] = now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
    return { next: { kind: "over" }, effects: [...effects, ...end, { kind: "close" }] };
  }
  const { message } = parsedLine;
  switch (message.type) {
    case "hello":
      return { next: now, effects: [welcome(message)] };
    case "build-started": {
      // A second build on one connection ends the first, without an exit code.
      const effects: Effect[] =
        now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
      return {
        next: { kind: "building", wrong: now.wrong },
        effects: [...effects, { kind: "start", message }],
      };
    }
    case "build-ended":
      if (now.kind === "idle")
        return { next: now, effects: [note(message.id, "no build was started")] };
      return { next: { kind: "idle", wrong: now.wrong }, effects: [{ kind: "end", message }] };
    case "hint":
    case "approximation":
    case "look-up":
    case "result":
      if (now.kind === "idle")
        return { next: now, effects: [note(message.id, "start a build first")] };
      return { next: now, effects: [{ kind: "carry-out", message }] };
    case "status":
    case "report":
    case "trim":
    case "stop":
    case "fetch-ahead":
      return { next: now, effects: [{ kind: "carry-out", message }] };
  }
}

function greet(now: ProtocolState & { kind: "new" }, parsedLine: ParsedLine): Step {
  const isHello = parsedLine.kind === "message" && parsedLine.message.type === "hello";
  if (!isHello) return { next: { kind: "over" }, effects: [{ kind: "close" }] };
  const hello = parsedLine.message as Message<"hello">;
  if (now.secret !== undefined && !isSecret(hello.secret, now.secret)) {
    return { next: { kind: "over" }, effects: [{ kind: "close" }] };
  }
  if (commonVersion(hello.versions) === undefined) {
    // The client then builds without a granary.
    return { next: { kind: "over" }, effects: [welcome(hello), { kind: "close" }] };
  }
  return { next: { kind: "idle", wrong: 0 }, effects: [welcome(hello)] };
}

function commonVersion(versions: readonly number[]): number | undefined {
  const common = versions.filter((version) => protocolVersions.includes(version));
  return common.length === 0 ? undefined : Math.max(...common);
}

function welcome({ id, versions }: Message<"hello">): Effect {
  const version = commonVersion(versions);
  if (version === undefined) {
    const ours = [...protocolVersions];
    return send({ type: "no-common-version", to: id, versions: ours });
  }
  return send({ type: "welcome", to: id, version });
}

function isSecret(givenSecret: string | undefined, secret: string): boolean {
  const [one, other] = [Buffer.from(givenSecret ?? ""), Buffer.from(secret)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

function note(to: MessageId, text: string): Effect {
  return send({ type: "note", to, note: text });
}

function send(answer: Answer): Effect {
  return { kind: "send", answer };
}
