import { expect, test } from "vitest";
import { type CallTable, inspectedCalls, refusedCalls } from "./refused-calls.ts";
import { runFilter, type Verdict } from "./run-filter.fixture.ts";
import { auditArchitecture, type FilterSettings, seccompFilter } from "./seccomp-filter.ts";

const usual: FilterSettings = { allowedCalls: [], allowsNamespaces: true };
const machines = { x64: "x64", arm64: "arm64", i386: "x64" } as const;
const tables = ["x64", "arm64", "i386"] as const;

function verdict(
  table: CallTable,
  number: number,
  args: readonly number[] = [],
  settings = usual,
): Verdict {
  const filter = seccompFilter(machines[table], settings);
  if (filter === undefined) throw new Error("no filter");
  return runFilter(filter, { architecture: auditArchitecture[table], number, arguments: args });
}

const EPERM = { errno: 1 };
const ENOSYS = { errno: 38 };
const EAFNOSUPPORT = { errno: 97 };

test.each(tables)("%s programs may make no call of the list, and all others", (table) => {
  const refused = new Set(
    Object.values(refusedCalls).flatMap((numbers: Partial<Record<CallTable, number>>) =>
      numbers[table] === undefined ? [] : [numbers[table]],
    ),
  );
  const inspected = new Set<number | undefined>([
    inspectedCalls.socket[table],
    ...(table === "i386" ? [inspectedCalls.socketcall.i386] : []),
  ]);

  for (let number = 0; number <= 469; number++) {
    if (inspected.has(number)) continue;
    expect([number, verdict(table, number)]).toEqual([
      number,
      refused.has(number) ? EPERM : "allow",
    ]);
  }
  expect(refused.size).toBeGreaterThan(25);
});

test.each(tables)("%s programs get ENOSYS for calls newer than the list", (table) => {
  expect(verdict(table, 470)).toEqual(ENOSYS);
  expect(verdict(table, 0xffff_ffff)).toEqual(ENOSYS);
});

test.each(tables)("%s programs may create only sockets of usual families", (table) => {
  const families = [1, 2, 10, 16].map((family) =>
    verdict(table, inspectedCalls.socket[table], [family]),
  );
  expect(new Set(families)).toEqual(new Set(["allow"]));
  for (const family of [0, 17, 29, 38, 40, 44])
    expect(verdict(table, inspectedCalls.socket[table], [family])).toEqual(EAFNOSUPPORT);
});

test("32-bit programs create sockets by the call that a filter can check", () => {
  expect(verdict("i386", inspectedCalls.socketcall.i386, [1])).toEqual(EAFNOSUPPORT);
  // Connecting an existing socket.
  expect(verdict("i386", inspectedCalls.socketcall.i386, [3])).toBe("allow");
});

test("x32 programs and other architectures have no calls at all", () => {
  const getpid = 39;
  expect(verdict("x64", 0x4000_0000 + getpid)).toEqual(ENOSYS);
  for (const [machine, architecture] of [
    ["x64", auditArchitecture.arm64],
    ["arm64", 0x4000_0028],
  ] as const) {
    const filter = seccompFilter(machine, usual) ?? Buffer.alloc(0);
    expect(runFilter(filter, { architecture, number: getpid })).toEqual(ENOSYS);
  }
});

test.each(tables)("%s programs may create user namespaces, unless a worker forbids it", (table) => {
  const newUser = 0x1000_0000;
  const usualThread = 0x3d_0f00;
  const none = { ...usual, allowsNamespaces: false };
  const { clone, clone3, unshare, setns } = inspectedCalls;

  expect(verdict(table, clone[table], [newUser + 17])).toBe("allow");
  expect(verdict(table, unshare[table], [newUser])).toBe("allow");
  expect(verdict(table, clone[table], [newUser + 17], none)).toEqual(EPERM);
  expect(verdict(table, unshare[table], [newUser], none)).toEqual(EPERM);
  expect(verdict(table, setns[table], [3, 0], none)).toEqual(EPERM);
  expect(verdict(table, clone3[table], [], none)).toEqual(ENOSYS);
  expect(verdict(table, clone[table], [usualThread], none)).toBe("allow");
});

test("a worker allows single calls", () => {
  const settings: FilterSettings = { ...usual, allowedCalls: ["perf_event_open"] };

  expect(verdict("x64", refusedCalls.perf_event_open.x64, [], settings)).toBe("allow");
  expect(verdict("x64", refusedCalls.userfaultfd.x64, [], settings)).toEqual(EPERM);
});

test("an architecture with unknown calls has no filter", () => {
  expect(seccompFilter("s390x", usual)).toBeUndefined();
});
