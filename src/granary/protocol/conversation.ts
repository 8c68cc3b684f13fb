import { timingSafeEqual } from "node:crypto";
import type { Answer } from "./answers.ts";
import type { Heard, Message, MessageId } from "./messages.ts";
import { protocolVersions } from "./versions.ts";

/** Where a conversation with a build system stands. */
export type Conversation =
  // Nobody has said hello; what else is said is not answered.
  | { readonly kind: "new"; readonly secret: string | undefined }
  | { readonly kind: "idle"; readonly wrong: number }
  | { readonly kind: "building"; readonly wrong: number }
  | { readonly kind: "over" };

/** What a granary does about what it heard, in this order. */
export type Deed =
  | { readonly kind: "say"; readonly answer: Answer }
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
  | { readonly kind: "hang-up" };

export interface Step {
  readonly next: Conversation;
  readonly deeds: readonly Deed[];
}

/** Who says so much that cannot be understood speaks something else. */
const mostWrong = 100;

/** `secret`: what a peer must know; undefined where only this machine's user can connect. */
export function begin(secret: string | undefined): Conversation {
  return { kind: "new", secret };
}

/** Pure. `undefined`: the peer is gone. */
export function hear(now: Conversation, heard: Heard | undefined): Step {
  if (now.kind === "over") return { next: now, deeds: [] };
  if (heard === undefined) {
    const deeds: Deed[] = now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
    return { next: { kind: "over" }, deeds: [...deeds, { kind: "hang-up" }] };
  }
  if (now.kind === "new") return greet(now, heard);
  if (heard.kind !== "message") {
    const wrong = now.wrong + (heard.kind === "wrong" ? 1 : 0);
    const deeds: Deed[] = [note(heard.id, heard.note)];
    if (wrong < mostWrong) return { next: { ...now, wrong }, deeds };
    const end: Deed[] = now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
    return { next: { kind: "over" }, deeds: [...deeds, ...end, { kind: "hang-up" }] };
  }
  const { message } = heard;
  switch (message.type) {
    case "hello":
      return { next: now, deeds: [welcome(message)] };
    case "build-started": {
      // Who starts another has ended the one before, and does not say how.
      const deeds: Deed[] = now.kind === "building" ? [{ kind: "end", message: undefined }] : [];
      return {
        next: { kind: "building", wrong: now.wrong },
        deeds: [...deeds, { kind: "start", message }],
      };
    }
    case "build-ended":
      if (now.kind === "idle")
        return { next: now, deeds: [note(message.id, "no build was started")] };
      return { next: { kind: "idle", wrong: now.wrong }, deeds: [{ kind: "end", message }] };
    case "hint":
    case "approximation":
    case "look-up":
    case "result":
      if (now.kind === "idle")
        return { next: now, deeds: [note(message.id, "start a build first")] };
      return { next: now, deeds: [{ kind: "carry-out", message }] };
    case "status":
    case "report":
    case "trim":
    case "stop":
    case "fetch-ahead":
      return { next: now, deeds: [{ kind: "carry-out", message }] };
  }
}

function greet(now: Conversation & { kind: "new" }, heard: Heard): Step {
  const isHello = heard.kind === "message" && heard.message.type === "hello";
  if (!isHello) return { next: { kind: "over" }, deeds: [{ kind: "hang-up" }] };
  const hello = heard.message as Message<"hello">;
  if (now.secret !== undefined && !isSecret(hello.secret, now.secret)) {
    return { next: { kind: "over" }, deeds: [{ kind: "hang-up" }] };
  }
  if (commonVersion(hello.versions) === undefined) {
    // The build goes on without us; that is for the client to say, not to fail over.
    return { next: { kind: "over" }, deeds: [welcome(hello), { kind: "hang-up" }] };
  }
  return { next: { kind: "idle", wrong: 0 }, deeds: [welcome(hello)] };
}

function commonVersion(versions: readonly number[]): number | undefined {
  const common = versions.filter((version) => protocolVersions.includes(version));
  return common.length === 0 ? undefined : Math.max(...common);
}

function welcome({ id, versions }: Message<"hello">): Deed {
  const version = commonVersion(versions);
  if (version === undefined) {
    const ours = [...protocolVersions];
    return say({ type: "no-common-version", to: id, versions: ours });
  }
  return say({ type: "welcome", to: id, version });
}

function isSecret(said: string | undefined, secret: string): boolean {
  const [one, other] = [Buffer.from(said ?? ""), Buffer.from(secret)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

function note(to: MessageId, text: string): Deed {
  return say({ type: "note", to, note: text });
}

function say(answer: Answer): Deed {
  return { kind: "say", answer };
}
