import { afterEach, beforeEach, expect, test, vi } from "vitest";

/** The storage that the tabs of a browser share. */
const stored = new Map<string, string>();

beforeEach(() => {
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  });
});

afterEach(() => {
  stored.clear();
  vi.unstubAllGlobals();
});

/** Returns the module as a newly opened tab has it. */
async function openTab() {
  vi.resetModules();
  return import("./accepted-age.ts");
}

const start = Date.UTC(2026, 10, 27);

test("a page that only reads accepts an answer of some seconds ago", async () => {
  const tab = await openTab();

  expect(tab.acceptedAge(start)).toBe("max-stale=5");
});

test("after a change, all tabs of the browser want the newest answer for a while", async () => {
  const [one, other] = [await openTab(), await openTab()];

  one.noteChange(start);

  for (const tab of [one, other, await openTab()]) {
    expect(tab.acceptedAge(start + 9_999)).toBeUndefined();
    expect(tab.acceptedAge(start + 10_000)).toBe("max-stale=5");
  }
});

test("an event concerns the page that received it", async () => {
  const [one, other] = [await openTab(), await openTab()];

  one.noteNews(start);

  expect(one.acceptedAge(start + 100)).toBeUndefined();
  expect(other.acceptedAge(start + 100)).toBe("max-stale=5");
});

test("without storage, the tab that made the change still knows of it", async () => {
  vi.stubGlobal("localStorage", undefined);
  const tab = await openTab();

  tab.noteChange(start);

  expect(tab.acceptedAge(start)).toBeUndefined();
});
