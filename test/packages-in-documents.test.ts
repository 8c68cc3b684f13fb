import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Returns the Debian packages that `.ci/run` installs, because without them tests are skipped. */
function packagesOfCi(): string[] {
  const [, list = ""] = /for package in ([^;]*); do/.exec(readFileSync(".ci/run", "utf8")) ?? [];
  return list.split(/[\s\\]+/).filter((name) => name !== "");
}

test("CONTRIBUTING.md names the packages that .ci/run installs", () => {
  const packages = packagesOfCi();

  expect(packages.length).toBeGreaterThan(10);
  expect(readFileSync("CONTRIBUTING.md", "utf8")).toContain(
    `apt-get install ${packages.join(" ")}`,
  );
});

test.each(["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])(
  "%s has no marks of an unfinished merge",
  (path) => {
    expect(readFileSync(path, "utf8")).not.toMatch(/^(<<<<<<<|>>>>>>>) /m);
  },
);
