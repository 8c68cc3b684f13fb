import { expect, test } from "vitest";
import { compareCommands } from "./compare-commands.ts";

const command = {
  arguments: ["cc", "-O1", "a.c"],
  environment: { PATH: "/usr/bin" },
  platform: { os: "linux" },
  workingDirectory: "",
};

test.each([
  { what: "nothing", changed: {}, differences: [] },
  {
    what: "an argument, and one more",
    changed: { arguments: ["cc", "-O2", "a.c", "b.c"] },
    differences: ["argument 1: -O1 → -O2", "argument 3: null → b.c"],
  },
  {
    what: "an inserted argument only",
    changed: { arguments: ["cc", "-g", "-O1", "a.c"] },
    differences: ["argument 1: null → -g"],
  },
  {
    what: "a removed argument only",
    changed: { arguments: ["cc", "a.c"] },
    differences: ["argument 1: -O1 → null"],
  },
  {
    what: "variables by name",
    changed: { environment: { LANG: "C" } },
    differences: ["environment LANG: null → C", "environment PATH: /usr/bin → null"],
  },
  {
    what: "a property and the directory",
    changed: { platform: { os: "darwin" }, workingDirectory: "out" },
    differences: ["platform os: linux → darwin", "working directory :  → out"],
  },
])("finds $what", ({ changed, differences }) => {
  const found = compareCommands(command, { ...command, ...changed });

  expect(found.map((one) => `${one.part} ${one.name}: ${one.before} → ${one.after}`)).toEqual(
    differences,
  );
});
