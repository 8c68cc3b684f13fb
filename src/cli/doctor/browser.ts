import { runProgram } from "../run-program.ts";
import { type Check, ok, warn } from "./check.ts";

/** Only Grange's own tests open pages in a browser. */
export function browserChecks(): Check[] {
  return [
    {
      name: "browser for the tests",
      needs: "Chromium is installed, for the tests of Grange itself",
      fix: "Only `npm test` of Grange itself uses it, and then downloads one from npm",
      async run() {
        for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
          const found = await runProgram(name, ["--version"], { timeoutMs: 10_000 }).catch(
            () => undefined,
          );
          if (found?.exitCode === 0) return ok(found.stdout.trim());
        }
        return warn("none");
      },
    },
  ];
}
