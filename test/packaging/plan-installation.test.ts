import { expect, test } from "vitest";

interface LockedPackage {
  readonly version: string;
  readonly dev?: true;
  readonly optional?: true;
}
type Packages = Readonly<Record<string, LockedPackage>>;
interface State {
  readonly purpose: "start" | "development";
  readonly locked: Packages | undefined;
  readonly installed: Packages | undefined;
}

const script = new URL("../../scripts/plan-installation.mjs", import.meta.url).href;
const { planInstallation } = (await import(script)) as {
  readonly planInstallation: (state: State) => "start" | "development" | undefined;
};

const zod = { "node_modules/zod": { version: "1.0.0" } };
const vitest = { "node_modules/vitest": { version: "1.0.0", dev: true } } as const;
const otherMachine = { "node_modules/pg-darwin": { version: "1.0.0", optional: true } } as const;
const locked = { ...zod, ...vitest, ...otherMachine };

test.each<{ title: string; state: State; expected: "start" | "development" | undefined }>([
  {
    title: "a fresh clone gets what it needs to start",
    state: { purpose: "start", locked, installed: undefined },
    expected: "start",
  },
  {
    title: "a fresh clone gets all for its tests",
    state: { purpose: "development", locked, installed: undefined },
    expected: "development",
  },
  {
    title: "what was installed to start is enough to start",
    state: { purpose: "start", locked, installed: zod },
    expected: undefined,
  },
  {
    title: "what was installed to start is not enough for tests",
    state: { purpose: "development", locked, installed: zod },
    expected: "development",
  },
  {
    title: "a developer's packages stay when nothing changed",
    state: { purpose: "start", locked, installed: { ...zod, ...vitest } },
    expected: undefined,
  },
  {
    title: "a developer's packages are updated, not removed, by a start",
    state: {
      purpose: "start",
      locked: { ...locked, "node_modules/zod": { version: "2.0.0" } },
      installed: { ...zod, ...vitest },
    },
    expected: "development",
  },
  {
    title: "another version of a package is installed again",
    state: { purpose: "start", locked, installed: { "node_modules/zod": { version: "0.9.0" } } },
    expected: "start",
  },
])("$title", ({ state, expected }) => {
  expect(planInstallation(state)).toBe(expected);
});
