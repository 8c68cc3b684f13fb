import { expect, test } from "vitest";
import { idsOfContainers } from "./further-users.ts";

const facts = {
  owner: { uid: 59_980, gid: 59_980 },
  shell: "own-mounts",
  own: "         0          0 4294967295\n",
  shellUsers: "",
  shellGroups: "",
  refused: "newuidmap is missing",
} as const;
const ordinary = { ...facts, owner: undefined, shell: "own-mounts-and-users" } as const;

test("of a worker that runs as root, root of a container is the user of jobs", () => {
  expect(idsOfContainers(facts)).toEqual({
    kind: "several",
    ids: [
      { inside: 0, outside: 59_980, count: 1 },
      { inside: 1, outside: 1_900_000_000, count: 65_535 },
    ],
  });
});

test("of an ordinary worker, the ids are those that its shell has for users and groups", () => {
  const maps = {
    shellUsers: "  0 1000 1\n  1 100000 65536\n",
    shellGroups: "  0 1000 1\n  1 200000 1000\n",
  };

  expect(idsOfContainers({ ...ordinary, ...maps })).toEqual({
    kind: "several",
    ids: [
      { inside: 0, outside: 0, count: 1 },
      { inside: 1, outside: 1, count: 1_000 },
    ],
  });
});

test.each([
  [{ ...facts, own: "0 0 65536\n" }, "user namespace without the ids"],
  [{ ...facts, owner: undefined }, "user namespace without the ids"],
  [{ ...ordinary, shellUsers: "0 1000 1\n", shellGroups: "0 1000 1\n" }, "newuidmap is missing"],
  [{ ...ordinary, shell: "plain" as const }, "no namespaces"],
])("a machine without further ids has one user, and says why (%#)", (machine, why) => {
  const users = idsOfContainers(machine);

  expect(users).toMatchObject({ kind: "one", why: expect.stringContaining(why) });
});
