import { expect, test } from "vitest";
import { jobOwnerFor } from "./job-owner.ts";

const wholeMap = "         0          0 4294967295\n";

test.each([
  { who: "an ordinary user", uid: 1_000, uidMap: wholeMap, owner: undefined },
  { who: "root", uid: 0, uidMap: wholeMap, owner: 59_980 },
  { who: "root where there is no map", uid: 0, uidMap: "", owner: 59_980 },
  {
    who: "root of a namespace with one user, who is an ordinary user",
    uid: 0,
    uidMap: "         0       1000          1\n",
    owner: undefined,
  },
  {
    who: "root of a container with 65,536 users",
    uid: 0,
    uidMap: "         0     100000      65536\n",
    owner: 59_980,
  },
  {
    who: "root of a container whose users come in parts",
    uid: 0,
    uidMap: "         0       1000          1\n         1     100000      65536\n",
    owner: 59_980,
  },
  { who: "nobody in particular, as on Windows", uid: undefined, uidMap: "", owner: undefined },
])("jobs of $who belong to $owner", ({ uid, uidMap, owner }) => {
  expect(jobOwnerFor({ uid, uidMap, wanted: undefined })?.uid).toBe(owner);
});

test("the user can be chosen, except root", () => {
  expect(jobOwnerFor({ uid: 0, uidMap: wholeMap, wanted: "7000" })).toEqual({
    uid: 7_000,
    gid: 7_000,
  });
  for (const wanted of ["0", "-1", "x", "1.5"])
    expect(() => jobOwnerFor({ uid: 0, uidMap: wholeMap, wanted })).toThrow(
      `GRANGE_JOB_UID is "${wanted}"`,
    );
});
