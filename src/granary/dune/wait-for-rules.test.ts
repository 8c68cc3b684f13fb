import { expect, test } from "vitest";
import { rest } from "#core/resting.ts";
import { delayUntilRulesArrive, untilReady } from "./wait-for-rules.ts";
import type { DuneOutlook } from "./write-rules.ts";

const never = new Promise<void>(() => {});
const look = (waitMs: number, more: Partial<DuneOutlook> = {}): DuneOutlook => ({
  waitMs,
  missing: 7,
  worthMs: 10_000,
  isOnlyDune: true,
  ...more,
});

function recordingClient() {
  const sent: string[] = [];
  return { sent, hold: () => void sent.push("hold"), greet: () => void sent.push("greet") };
}

/** Returns a session with the given results of each check; the last one repeats. */
function session(...looks: (DuneOutlook | undefined)[]) {
  let at = 0;
  const outlook = () => looks[Math.min(at++, looks.length - 1)];
  return { prepared: () => never, outlook, looks: () => at };
}

test("dune is delayed until it may start", async () => {
  const client = recordingClient();
  const held = session(undefined, look(900), look(400), look(100), look(0));

  await delayUntilRulesArrive(held, client);

  // On a busy machine a check takes longer than the pause after which the request is repeated.
  expect([...new Set(client.sent)]).toEqual(["hold", "greet"]);
  expect(client.sent.filter((each) => each === "greet")).toHaveLength(1);
  expect(held.looks()).toBe(5);
});

test("dune starts at once when no rules are expected", async () => {
  const client = recordingClient();

  await delayUntilRulesArrive(session(look(0)), client);

  expect(client.sent).toEqual(["greet"]);
});

test("dune starts at once when it would make the rules sooner", async () => {
  const client = recordingClient();

  await delayUntilRulesArrive(session(look(4_000, { worthMs: 100 })), client);

  expect(client.sent).toEqual(["greet"]);
});

test("a line gets time to prove faster than its first estimate", async () => {
  const [quick, slow] = [recordingClient(), recordingClient()];
  const first = look(250, { worthMs: 100 });
  const measured = session(undefined, first, first, look(80, { worthMs: 100 }), look(0));
  const same = Array.from({ length: 10_000 }, (_, at) =>
    look(250, { worthMs: 100, missing: 20_000 - at }),
  );

  await delayUntilRulesArrive(measured, quick);
  await delayUntilRulesArrive(session(...same), slow);

  expect(quick.sent.at(-1)).toBe("greet");
  expect(measured.looks()).toBe(5);
  expect(slow.sent.at(-1)).toBe("greet");
});

test("a wait that was worthwhile once continues to its end", async () => {
  const held = session(look(900), look(300, { worthMs: 100 }), look(0));

  await delayUntilRulesArrive(held, recordingClient());

  expect(held.looks()).toBe(3);
});

test("the wait for a slower line continues while rules arrive", async () => {
  // Each check is about 60 ms after the previous one: with a time limit, 750 ms would have passed.
  const slower = Array.from({ length: 40 }, (_, at) => look(500 + at, { missing: 100 - at }));
  const held = session(...slower, look(0));

  await delayUntilRulesArrive(held, recordingClient());

  expect(held.looks()).toBe(41);
});

test("the wait ends when it takes longer than it was worth", async () => {
  const client = recordingClient();
  // The estimate shrinks but never reaches 0.
  const looks = Array.from({ length: 10_000 }, (_, at) => look(60 - at / 1_000, { worthMs: 80 }));

  await delayUntilRulesArrive(session(...looks), client);

  expect(client.sent.at(-1)).toBe("greet");
});

test("dune starts when the expected rules are unknown, or when nothing arrives", async () => {
  const [unknown, silent] = [recordingClient(), recordingClient()];

  await Promise.all([
    delayUntilRulesArrive(session(undefined), unknown),
    delayUntilRulesArrive(session(look(2_000)), silent),
  ]);

  expect(unknown.sent.at(-1)).toBe("greet");
  expect(silent.sent.at(-1)).toBe("greet");
});

test("an explicit wait ends when all rules are present, while other tools wait for nothing", async () => {
  const others = session(look(0, { isOnlyDune: false }), look(0, { isOnlyDune: false }), look(0));

  await untilReady(others, 60_000);

  expect(others.looks()).toBe(3);
});

test("an explicit wait ends at its time limit", async () => {
  let isOver = false;
  const waiting = untilReady(session(undefined), 60).then(() => (isOver = true));

  await rest(0);
  expect(isOver).toBe(false);
  await waiting;
  expect(isOver).toBe(true);
});
