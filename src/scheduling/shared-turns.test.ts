import { expect, test } from "vitest";
import { sharedTurns } from "./shared-turns.ts";

/** Work that ends when the test requests it. */
function controlled() {
  const begun: string[] = [];
  const ends = new Map<string, (value: string) => void>();
  const signals = new Map<string, AbortSignal>();
  return {
    begun,
    signals,
    work: (name: string) => (signal: AbortSignal) => {
      begun.push(name);
      signals.set(name, signal);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, resolve);
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    },
    end: (name: string) => ends.get(name)?.(`result of ${name}`),
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("work of one queue is done one after the other, that of others meanwhile", async () => {
  const turns = sharedTurns();
  const { work, begun, end } = controlled();

  const first = turns.run({ queue: "a", name: "1" }, work("a1"));
  const second = turns.run({ queue: "a", name: "2" }, work("a2"));
  const other = turns.run({ queue: "b", name: "1" }, work("b1"));
  await settled();
  expect(begun).toEqual(["a1", "b1"]);

  end("a1");
  expect(await first).toBe("result of a1");
  await settled();
  expect(begun).toEqual(["a1", "b1", "a2"]);
  end("a2");
  end("b1");
  expect(await Promise.all([second, other])).toEqual(["result of a2", "result of b1"]);
});

test("who wants what has not begun shares it; who comes after it began has their own", async () => {
  const turns = sharedTurns();
  const { work, begun, end } = controlled();

  const running = turns.run({ queue: "q", name: "main" }, work("begun"));
  await settled();
  const waiting = ["x", "y", "z"].map((each) =>
    turns.run({ queue: "q", name: "main" }, work(`waiting ${each}`)),
  );
  end("begun");
  await running;
  await settled();
  end("waiting x");

  expect(await Promise.all(waiting)).toEqual(Array(3).fill("result of waiting x"));
  expect(begun).toEqual(["begun", "waiting x"]);
});

test("a failure is everybody's who waits for it, and the next work goes on", async () => {
  const turns = sharedTurns();
  const fail = () => Promise.reject(new Error("refused"));

  const both = [1, 2].map(() => turns.run({ queue: "q", name: "a" }, fail));
  const next = turns.run({ queue: "q", name: "b" }, () => Promise.resolve("done"));

  for (const each of both) await expect(each).rejects.toThrow("refused");
  expect(await next).toBe("done");
});

test("one who gives up does not end it for the others; when all have, it is aborted", async () => {
  const turns = sharedTurns();
  const { work, signals } = controlled();
  const [one, other] = [new AbortController(), new AbortController()];

  const first = turns.run({ queue: "q", name: "a" }, work("a"), one.signal);
  const second = turns.run({ queue: "q", name: "a" }, work("never"), other.signal);
  await settled();
  one.abort(new Error("first left"));
  await expect(first).rejects.toThrow("first left");
  expect(signals.get("a")?.aborted).toBe(false);

  other.abort(new Error("second left"));
  await expect(second).rejects.toThrow("second left");
  expect(signals.get("a")?.aborted).toBe(true);
});

test("what all gave up before its turn is never begun, and is begun anew for the next", async () => {
  const turns = sharedTurns();
  const { work, begun, end } = controlled();
  const leaving = new AbortController();

  const before = turns.run({ queue: "q", name: "before" }, work("before"));
  const left = turns.run({ queue: "q", name: "a" }, work("left"), leaving.signal);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  const next = turns.run({ queue: "q", name: "a" }, work("next"));
  await settled();
  end("before");
  await before;
  await settled();
  end("next");

  expect(await next).toBe("result of next");
  expect(begun).toEqual(["before", "next"]);
});
