import fc from "fast-check";
import { expect, test } from "vitest";
import { begin, type Conversation, type Deed, hear } from "./conversation.ts";
import { type Heard, mostKeys, readMessage } from "./messages.ts";

const hello = heard({ type: "hello", versions: [1] });

const anyHeard: fc.Arbitrary<Heard | undefined> = fc.oneof(
  fc.constantFrom(
    ...[
      { type: "hello", versions: [1, 7] },
      { type: "hello", versions: [9] },
      { type: "build-started", directory: "/w" },
      { type: "hint", keys: ["a", { namespace: "reapi", key: "b/1" }] },
      { type: "approximation", approx: "a", key: "k" },
      { type: "look-up", key: "k" },
      { type: "result", key: "k", outputs: [] },
      { type: "build-ended", exitCode: 0, complete: true },
      { type: "status" },
      { type: "from-the-future", what: 1 },
    ].map(heard),
  ),
  fc.json().map(readMessage),
  fc.string({ unit: "binary" }).map(readMessage),
  fc.constant(undefined),
);

function heard(message: object): Heard {
  return readMessage(JSON.stringify(message));
}

function talk(heards: readonly (Heard | undefined)[], secret?: string) {
  let state: Conversation = begin(secret);
  const deeds: Deed[] = [];
  for (const one of heards) {
    const step = hear(state, one);
    state = step.next;
    deeds.push(...step.deeds);
  }
  return { state, deeds };
}

test("whatever is said, every build that starts ends once, and nothing happens after the end", () => {
  fc.assert(
    fc.property(fc.array(anyHeard, { maxLength: 60 }), (said) => {
      const { state, deeds } = talk([...said, undefined]);
      expect(state.kind).toBe("over");
      const kinds = deeds.map(({ kind }) => kind);
      expect(kinds.indexOf("hang-up")).toBe(kinds.length - 1);
      const turns = kinds.filter((kind) => kind === "start" || kind === "end");
      expect(turns).toEqual(turns.map((_, i) => (i % 2 === 0 ? "start" : "end")));
      expect(turns.length % 2).toBe(0);
    }),
  );
});

test("who does not begin with hello is not answered", () => {
  fc.assert(
    fc.property(anyHeard, (first) => {
      fc.pre(first?.kind !== "message" || first.message.type !== "hello");
      expect(talk([first, hello]).deeds).toEqual([{ kind: "hang-up" }]);
    }),
  );
});

test("the highest common version is spoken; without one the peer is told, and goes on alone", () => {
  const welcome = { kind: "say", answer: { type: "welcome", version: 1 } };
  expect(talk([heard({ type: "hello", versions: [0, 1, 2] })]).deeds).toMatchObject([welcome]);
  expect(talk([heard({ type: "hello", versions: [2] })])).toMatchObject({
    state: { kind: "over" },
    deeds: [
      { kind: "say", answer: { type: "no-common-version", versions: [1] } },
      { kind: "hang-up" },
    ],
  });
});

test("where any user of the machine can connect, the secret is asked for", () => {
  for (const secret of [undefined, "", "wrong!", "secret and more"]) {
    const said = heard({ type: "hello", versions: [1], secret });
    expect(talk([said], "secret").deeds).toEqual([{ kind: "hang-up" }]);
  }
  const right = heard({ type: "hello", versions: [1], secret: "secret" });
  expect(talk([right], "secret").state.kind).toBe("idle");
});

test("what is not known is noted, what makes no sense a hundred times ends it", () => {
  const unknown = heard({ type: "from-the-future", id: 5 });
  expect(talk([hello, unknown]).deeds[1]).toMatchObject({
    kind: "say",
    answer: { type: "note", to: 5, note: '"from-the-future" is not known here' },
  });
  expect(talk([hello, ...Array(500).fill(unknown)]).state.kind).toBe("idle");
  expect(talk([hello, ...Array(100).fill(readMessage("{"))]).state.kind).toBe("over");
});

test.each([
  { what: "too many keys", message: { type: "hint", keys: Array(mostKeys + 1).fill("k") } },
  { what: "a key that is a path upwards", message: { type: "look-up", key: "../../etc" } },
  { what: "a key where approximations lie", message: { type: "look-up", key: "approx/a" } },
  { what: "a key and an approximation", message: { type: "look-up", key: "k", approx: "a" } },
  {
    what: "a relative file",
    message: { type: "result", key: "k", outputs: [{ path: "a", file: "b" }] },
  },
  {
    what: "an output upwards",
    message: { type: "result", key: "k", outputs: [{ path: "a/../../b", file: "/b" }] },
  },
  {
    what: "an absolute output",
    message: { type: "result", key: "k", outputs: [{ path: "/a", file: "/b" }] },
  },
  {
    what: "half a commit",
    message: { type: "build-started", repositories: [{ root: "/w", commit: "abc" }] },
  },
])("$what is refused in words", ({ message }) => {
  expect(heard(message)).toMatchObject({ kind: "wrong" });
});
