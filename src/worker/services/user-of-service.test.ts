import { expect, test } from "vitest";
import type { FurtherUsers } from "../further-users.ts";
import { userOfService } from "./user-of-service.ts";

const several: FurtherUsers = {
  kind: "several",
  ids: [
    { inside: 0, outside: 59_980, count: 1 },
    { inside: 1, outside: 1_900_000_000, count: 1_000 },
  ],
};
const one: FurtherUsers = { kind: "one", why: "there are no further users" };

const wanted = (ofImage: string, ofService?: string) => ({
  service: "db",
  ofImage,
  ofService,
  passwd: "root:x:0:0::/root:/bin/sh\npostgres:x:70:71::/:/bin/sh\nbroken\n\n",
  group: "root:x:0:\npostgres:x:71:\nssl:x:101:other,postgres\nlogs:x:102:postgres\n",
});

test.each([
  ["", undefined, { uid: 0, gid: 0, groups: [] }],
  ["postgres", undefined, { uid: 70, gid: 71, groups: [101, 102] }],
  ["70", undefined, { uid: 70, gid: 71, groups: [101, 102] }],
  ["999", undefined, { uid: 999, gid: 0, groups: [] }],
  ["postgres:ssl", undefined, { uid: 70, gid: 101, groups: [] }],
  ["5:6", undefined, { uid: 5, gid: 6, groups: [] }],
  ["postgres", "root", { uid: 0, gid: 0, groups: [] }],
  ["postgres", "0", { uid: 0, gid: 0, groups: [] }],
])("an image with the user %j and a service with %j", (ofImage, ofService, ids) => {
  const { user, note } = userOfService(wanted(ofImage, ofService), several);

  expect(user).toEqual({ ids: several.ids, ...ids });
  expect(note).toBe("");
});

test("the user of jobs is in no container of several users", () => {
  expect(userOfService(wanted("postgres", "grange"), several).user).toBeUndefined();
});

test("without further users a service runs as the user of jobs, unless it names another one", () => {
  const { user, note } = userOfService(wanted(""), one);

  expect(user).toBeUndefined();
  expect(note).toContain("as the user grange instead of root");
  expect(note).toContain("there are no further users");
  expect(() => userOfService(wanted("", "root"), one)).toThrow(
    'service db needs the user "root", and on this worker services have only one user: there are no further users',
  );
});

test.each([
  ["nobody", 'runs as the user "nobody", and its image has none of this name'],
  ["postgres:video", 'runs with the group "video", and its image has none of this name'],
  ["1001", "needs the user or group 1001"],
])("the user %j is refused", (name, message) => {
  expect(() => userOfService(wanted(name), several)).toThrow(message);
});
