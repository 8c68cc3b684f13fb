import { afterAll, expect, test } from "vitest";
import { systemClock } from "#core/clock.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { Principal } from "../principal.ts";
import { listBegun } from "./begun-project.store.ts";
import { openProjectShare } from "./project-share.ts";

const db = await freshDb();
afterAll(() => db.close());

const there = new Set<string>();
const open = () =>
  openProjectShare({
    db,
    clock: systemClock,
    isThere: async (project) => there.has(project),
    mostEach: 3,
  });

function principal(name: string, verb: "cache" | "administer" = "cache"): Principal {
  const grant = { verb, repository: "*", branch: "*", priorityCap: null, top: false };
  return { name, kind: "person", grants: [grant] };
}

test("a principal begins so many projects and no more, also on several servers at once", async () => {
  const [one, other] = [open(), open()];
  const mallory = principal("mallory");

  const begun = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other).begin(mallory, `mallory${n}`)),
  );

  const refused = begun.filter((each) => each.status === "rejected");
  expect(refused).toHaveLength(7);
  expect(refused[0]?.reason).toMatchObject({
    code: "resource_exhausted",
    message: expect.stringMatching(
      /mallory has created 3 projects, .*grange project.*GRANGE_PROJECTS_EACH/,
    ),
  });
  await open().begin(principal("alice"), "alice1");
  expect((await listBegun(db)).filter(({ begunBy }) => begunBy === "mallory")).toHaveLength(3);
});

test("what somebody else began, what was there before, and the default project count for nobody", async () => {
  const share = open();
  there.add("old");
  for (const n of [1, 2, 3]) await share.begin(principal("bob"), `bob${n}`);

  for (const project of ["old", "alice1", "bob1", "default"])
    await share.begin(principal("bob"), project);

  await expect(share.begin(principal("bob"), "bob4")).rejects.toThrow("bob has created 3 projects");
});

test("who administers the farm begins any number", async () => {
  const share = open();
  for (const n of [1, 2, 3, 4]) await share.begin(principal("root", "administer"), `root${n}`);

  expect((await listBegun(db)).filter(({ begunBy }) => begunBy === "root")).toHaveLength(4);
});
