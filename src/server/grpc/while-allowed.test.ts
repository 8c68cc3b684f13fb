import { once } from "node:events";
import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { whileAllowed } from "./while-allowed.ts";

const hourMs = 3_600_000;
const refused = async () => {
  throw new Fault("permission_denied", "the right was taken away");
};

async function* numbers(most: number): AsyncGenerator<number, void> {
  for (let n = 1; n <= most; n++) yield n;
}

test("values are yielded without a check while the last one is recent", async () => {
  const values: number[] = [];

  for await (const value of whileAllowed(numbers(3), hourMs, refused, () => {})) values.push(value);

  expect(values).toEqual([1, 2, 3]);
});

test("a value is checked when the last check is old, and the next one is not", async () => {
  let now = 0;
  let checks = 0;
  const check = async () => void checks++;
  const values = whileAllowed(
    numbers(3),
    hourMs,
    check,
    () => {},
    () => now,
  );
  await values.next();

  now = hourMs;
  await values.next();
  await values.next();

  expect(checks).toBe(1);
});

test("a value that comes after the right was taken away is not yielded, and the source ends", async () => {
  let now = 0;
  let isStopped = false;
  const values = whileAllowed(
    numbers(3),
    hourMs,
    refused,
    () => {
      isStopped = true;
    },
    () => now,
  );
  await values.next();

  now = hourMs;

  await expect(values.next()).rejects.toMatchObject({ code: "permission_denied" });
  expect(isStopped).toBe(true);
});

test("a call without news ends when its right is taken away", async () => {
  const ended = new AbortController();
  const silent = async function* (): AsyncGenerator<number, void> {
    await once(ended.signal, "abort");
    yield 1;
  };

  const values = whileAllowed(silent(), 1, refused, () => ended.abort());

  await expect(values.next()).rejects.toMatchObject({ code: "permission_denied" });
});

test("while checks get no answer, a call waits, and no value is yielded unchecked", async () => {
  let now = 0;
  const checked = new AbortController();
  const source = async function* (): AsyncGenerator<number, void> {
    await once(checked.signal, "abort");
    yield 1;
  };
  const check = async () => {
    now = 1;
    checked.abort();
    throw new Fault("unavailable", "the database cannot be reached");
  };

  const values = whileAllowed(
    source(),
    1,
    check,
    () => {},
    () => now,
  );

  await expect(values.next()).rejects.toMatchObject({ code: "unavailable" });
});
