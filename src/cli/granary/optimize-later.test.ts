import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { optimizeLaterFlag } from "./optimize-later.ts";

// An engine that does not know the flag would print an error on each daemon's standard error.
test("this Node's engine knows the flag", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });

  expect(known).toContain(`${optimizeLaterFlag.split("=")[0]} (`);
});
