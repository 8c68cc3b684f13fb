import { afterAll, describe, expect, test } from "vitest";
import { everybody, type Principal } from "#access/principal.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { diffCatalogs } from "./diff-catalogs.ts";
import { farmOfCatalogs, switched } from "./farm-of-catalogs.fixture.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { repository, services, push, nameOfRepository } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("the differences between two catalogs", () => {
  test("are listed by job, edge and switch", async () => {
    const a = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: }\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: [build], timeout: 5m}\n  old: {commands: x}\n",
    });
    const b = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: {default: true}}\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: {build: {on: end}}, timeout: 9m}\n  new: {commands: x, needs: [build]}\n",
    });

    const diff = await diffCatalogs(
      services,
      a.digest.slice(0, 12),
      b.digest,
      undefined,
      everybody,
    );

    expect(diff).toMatchObject({
      same: false,
      jobs: { added: ["new"], removed: ["old"] },
      switches: { changed: [{ name: "pgo", parts: [{ path: "default", after: true }] }] },
      edges: [
        { job: "new", on: "build", before: null, after: "success" },
        { job: "unit", on: "build", before: "success", after: "end" },
      ],
    });
    expect(diff.jobs.changed).toEqual([
      {
        name: "unit",
        parts: [
          { path: "needs", before: ["build"], after: { build: { on: "end" } } },
          { path: "timeout", before: "5m", after: "9m" },
        ],
      },
    ]);
  });

  test("between a branch and a revision are those of their definitions", async () => {
    repository.write({ ".grange/farm.yml": switched });
    repository.commit("as before");
    const name = await nameOfRepository();
    await farm.submit({ rev: "main" });
    repository.git("checkout", "--quiet", "-b", "work");
    repository.write({
      ".grange/farm.yml": switched.replace("commands: lint", "commands: lint -v"),
    });
    const sha = repository.commit("louder");
    repository.git("checkout", "--quiet", "main");

    const diff = await diffCatalogs(services, "main", sha, name, everybody);

    expect(diff).toMatchObject({
      a: { branch: "main" },
      b: { branch: null },
      jobs: {
        changed: [
          { name: "lint", parts: [{ path: "commands", before: "lint", after: "lint -v" }] },
        ],
      },
      edges: [],
    });
    expect((await diffCatalogs(services, "main", "main", name, everybody)).same).toBe(true);
  });

  test("by a revision require the right to submit, because the farm has to fetch it", async () => {
    const name = await nameOfRepository();
    const reader: Principal = {
      name: "eve",
      grants: [
        { verb: "read-sources", repository: "*", branch: "*", priorityCap: null, top: false },
      ],
    };

    await expect(diffCatalogs(services, "main", "HEAD", name, reader)).rejects.toThrow(
      "may not submit",
    );
    expect((await diffCatalogs(services, "main", "main", name, reader)).same).toBe(true);
  });

  test("name the jobs and edges of expressions, with the values of the branch", async () => {
    const of = (needs: string, last: number) => `version: 1
parameters: {level: {default: low}}
jobs:
  $merge:
    $map: [${Array.from({ length: last }, (_, i) => i + 1).join(", ")}]
    each(n): {"unit-\${n}": {commands: "test \${parameters.level}", needs: ${needs}}}
`;
    const plain = { "b.yml": "version: 1\njobs: {build: {commands: make}}\n" };
    const a = await push({ "a.yml": of("[build]", 2), ...plain });
    const b = await push({ "a.yml": of("{build: {on: end}}", 3), ...plain });

    const diff = await diffCatalogs(services, a.digest, b.digest, undefined, everybody);

    expect(diff.jobs).toMatchObject({ added: ["unit-3"], removed: [] });
    expect(diff.jobs.changed.map(({ name }) => name)).toEqual(["unit-1", "unit-2"]);
    expect(diff.edges).toEqual([
      { job: "unit-1", on: "build", before: "success", after: "end" },
      { job: "unit-2", on: "build", before: "success", after: "end" },
      { job: "unit-3", on: "build", before: null, after: "end" },
    ]);
  });

  test("show expressions unfilled when they cannot be filled", async () => {
    const of = (name: string, commands: string) =>
      `version: 1\njobs:\n  $merge:\n    $map: [1, 2]\n    each(n): {"${name}-\${n}": {commands: "${commands} \${parameters.level}"}}\n`;
    const others = {
      "b.yml": of("talos", "measure"),
      "p.yml": "version: 1\nparameters: {level: {type: string}}\n",
    };
    const a = await push({ "a.yml": of("unit", "test"), ...others });
    const b = await push({ "a.yml": of("unit", "test -v"), ...others });

    const diff = await diffCatalogs(services, a.digest, b.digest, undefined, everybody);

    expect(diff.jobs).toEqual({
      added: [],
      removed: [],
      changed: [
        {
          name: expect.stringMatching(/^expression [0-9a-f]{16}$/) as string,
          parts: [
            {
              path: expect.stringMatching(/^\$merge\.each\(n\)\.unit-.*\.commands$/) as string,
              before: expect.stringMatching(/^test \$/) as string,
              after: expect.stringMatching(/^test -v \$/) as string,
            },
          ],
        },
      ],
    });
  });
});
