import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { licencesDocument, packagesIn } from "../scripts/licences-document.ts";

const lock = await readFile("package-lock.json", "utf8");

/**
 * Licences under which the packages that are part of Grange may be passed on together with it. A package with another one
 * needs a decision first (`docs/decisions/0008-dependencies.md`).
 */
const accepted = [
  "0BSD",
  "(Apache-2.0 AND BSD-3-Clause)",
  "Apache-2.0",
  // Permissive, approved by the OSI in 2024; it asks only to pass its text or a link to it on.
  "BlueOak-1.0.0",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "Unlicense",
];
/** MPL-2.0 asks that its files stay as they are and keep their licence: json-e is a file of its own in the package. */
const asFilesOfTheirOwn = ["json-e"];

test("docs/licences.md lists the licences of all packages in package-lock.json", async () => {
  const document = await readFile("docs/licences.md", "utf8");

  expect(document, "run `npm run docs`").toBe(licencesDocument(lock));
});

test("packages that are part of Grange have a licence that permits to pass them on", () => {
  const others = packagesIn(lock).filter(
    ({ name, isDevelopment, licence }) =>
      !isDevelopment && !accepted.includes(licence) && !asFilesOfTheirOwn.includes(name),
  );

  expect(others).toEqual([]);
});

test("a package without a licence is named", () => {
  const bad = JSON.stringify({ packages: { "node_modules/odd": { version: "1.0.0" } } });

  expect(() => licencesDocument(bad)).toThrow(/odd 1\.0\.0 states no licence/);
});
